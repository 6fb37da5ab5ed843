package catalogue

import (
	"bytes"
	"slices"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// bundle is an olm.bundle. What its properties do not tell stays unknown.
func (r *reading) bundle(head head, fields map[string][]byte) model.Bundle {
	b := model.Bundle{Name: head.name, Image: r.text(fields, "image")}
	var metadata [][]byte
	var packages int
	var csvs [][]byte
	eachItem(fields["properties"], func(property []byte) {
		kind, value := "", []byte(nil)
		eachField(property, func(key, v []byte) {
			switch {
			case bytes.EqualFold(key, []byte("type")):
				kind, _ = text(v)
			case bytes.EqualFold(key, []byte("value")):
				value = v
			}
		})
		switch kind {
		case "olm.package":
			if packages++; packages == 1 {
				b.Version = r.version(head.pkg, value)
			}
		case "olm.csv.metadata":
			metadata = append(metadata, value)
		case "olm.bundle.object":
			if csv := r.object(value); csv != nil {
				csvs = append(csvs, csv)
			}
		}
	})
	if packages != 1 {
		r.find(model.DocumentIncomplete, "the bundle has %d properties olm.package, expected one; %s", packages,
			map[bool]string{true: "its version is unknown", false: "the first one counts"}[packages == 0])
	}
	if len(metadata) > 1 || len(csvs) > 1 {
		r.find(model.DefinedTwice, "the bundle has several ClusterServiceVersions; the first one counts")
	}
	if len(csvs) > 0 {
		r.fromCSV(&b, csvs[0])
	}
	if len(metadata) > 0 {
		b.Metadata = r.metadata(metadata[0], metadata[0])
		r.platforms(b.Metadata, metadata[0])
	}
	return b
}

func (r *reading) version(pkg string, value []byte) string {
	version, name := "", ""
	eachField(value, func(key, v []byte) {
		switch string(key) {
		case "packageName":
			name, _ = text(v)
		case "version":
			version = r.kept(v)
		}
	})
	if name != pkg {
		r.find(model.DocumentIncomplete, "the bundle is of package %s, and its property olm.package names %s; the document's counts",
			model.Quoted(pkg), model.Quoted(name))
	}
	return version
}

// metadata reads the fields that olm.csv.metadata and the spec of a ClusterServiceVersion share;
// in the latter the annotations are elsewhere. It is nil if it cannot be kept.
func (r *reading) metadata(value, annotated []byte) *model.Metadata {
	if len(value) == 0 || value[0] != '{' {
		r.find(model.MetadataBroken, "the metadata of the ClusterServiceVersion is no object; what it would say is unknown")
		return nil
	}
	m := &model.Metadata{}
	var description []byte
	eachField(value, func(key, v []byte) {
		switch string(key) {
		case "description":
			description = v
		case "displayName":
			m.DisplayName = r.kept(v)
		case "provider":
			eachField(v, func(key, v []byte) {
				if string(key) == "name" {
					m.Provider = r.kept(v)
				}
			})
		case "installModes":
			m.InstallModes = r.installModes(v)
		}
	})
	ok := true
	eachField(annotated, func(key, v []byte) {
		switch {
		case string(key) != "annotations" || string(v) == "null":
		case v[0] != '{':
			r.find(model.MetadataBroken, "the annotations are no object; what the metadata of the ClusterServiceVersion would say is unknown")
			ok = false
		default:
			m.Annotations, ok = r.annotations(v)
		}
	})
	if !ok {
		return nil
	}
	if _, declared := m.Annotations[model.CredentialsRequests]; !declared {
		m.Instructions = r.instructions(description)
	}
	return m
}

// instructions are the code blocks of a description, of which most have none.
func (r *reading) instructions(description []byte) model.Instructions {
	if !bytes.Contains(description, []byte("```")) && !bytes.Contains(description, []byte("~~~")) {
		return model.Instructions{}
	}
	decoded, _ := text(description)
	out := model.InstructionsOf(decoded)
	for _, line := range out.Lines {
		r.a.kept += len(line) + 16
	}
	return out
}

// platforms sets what the labels of a ClusterServiceVersion say; without a field labels it has
// none.
func (r *reading) platforms(m *model.Metadata, labelled []byte) {
	if m == nil {
		return
	}
	labels := []byte("{}")
	eachField(labelled, func(key, v []byte) {
		if string(key) == "labels" && string(v) != "null" {
			labels = v
		}
	})
	m.Platforms = r.platformsOf(labels)
}

// platformsOf are nil if the labels are no object.
func (r *reading) platformsOf(object []byte) *model.Platforms {
	if len(object) == 0 || object[0] != '{' {
		r.find(model.MetadataBroken, "the labels are no object; what the operator runs on is unknown")
		return nil
	}
	const longest = 253 + 1 + 63 // of a label's name, with its prefix
	labels := map[string]string{}
	eachField(object, func(key, v []byte) {
		if len(key) <= longest && model.PlatformLabel(string(key)) {
			labels[string(key)], _ = text(v)
		}
	})
	platforms := model.PlatformsOf(labels)
	for _, name := range slices.Concat(platforms.Architectures, platforms.Systems) {
		r.a.kept += len(name) + 16
	}
	return &platforms
}

func (r *reading) installModes(list []byte) []string {
	var modes []string
	eachItem(list, func(item []byte) {
		mode, supported := "", false
		eachField(item, func(key, v []byte) {
			switch string(key) {
			case "type":
				mode = r.kept(v)
			case "supported":
				supported = string(v) == "true"
			}
		})
		if supported && mode != "" {
			modes = append(modes, mode)
		}
	})
	slices.Sort(modes)
	return slices.Compact(modes)
}

// annotations are those that the model keeps. They are false if they are more than an API server
// would take of one object.
func (r *reading) annotations(object []byte) (map[string]string, bool) {
	var kept map[string]string
	size := 0
	eachField(object, func(key, value []byte) {
		name, ok := model.Kept(key)
		if !ok {
			return
		}
		content, ok := text(value)
		if !ok {
			r.find(model.ValueOdd, "the annotation %s is no text; it counts as absent", name)
			return
		}
		if _, ok := kept[name]; ok {
			r.find(model.FieldTwice, "the annotation %s is there twice; the last one counts", name)
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = content
		size += len(content)
	})
	if size > largestAnnotations {
		r.find(model.AnnotationsTooLarge, "the annotations have %d bytes, expected %d at most, which is what an API server takes; what they would say is unknown",
			size, largestAnnotations)
		return nil, false
	}
	r.a.kept += size + 64*len(kept)
	return kept, true
}
