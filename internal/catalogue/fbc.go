package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

const (
	// largestKept bounds the texts of all packages together. The largest vendor's catalogue
	// keeps about 20 MB.
	largestKept = 256 << 20
	// largestAnnotations is what an API server takes of one object.
	largestAnnotations = 256 << 10
)

var errKept = errors.New("the catalogue has more than 256 MiB of names and annotations, expected 20 MiB at most of a large vendor's; " +
	"read a part of it, such as the directory of one package")

// assembler makes the model of documents.
type assembler struct {
	builder model.Builder
	// kept counts the bytes that the model holds, roughly.
	kept int
}

// head are the fields by which a document belongs somewhere. The package's name is in name for
// olm.package, and in pkg for all others.
type head struct {
	schema, pkg, name string
}

// add takes one document, which is valid JSON.
func (a *assembler) add(document []byte, where model.Where) error {
	read := reading{a: a, where: where}
	fields, ok := read.fields(document)
	if !ok {
		return nil
	}
	head, ok := read.head(fields)
	if !ok {
		return nil
	}
	switch head.schema {
	case "olm.package":
		a.builder.Package(model.Package{Name: head.name, DefaultChannel: read.text(fields, "defaultchannel")}, where)
	case "olm.channel":
		a.builder.Channel(head.pkg, model.Channel{Name: head.name, EdgesKnown: true, Entries: read.entries(fields["entries"])}, where)
	case "olm.bundle":
		read.where.Object = model.Object("bundle", head.name)
		a.builder.Bundle(head.pkg, read.bundle(head, fields), where)
	case "olm.deprecations":
		read.deprecations(head.pkg, fields["entries"])
	}
	if a.kept += len(head.pkg) + len(head.name) + 512; a.kept > largestKept {
		return errKept
	}
	return nil
}

// reading is the work on one document.
type reading struct {
	a     *assembler
	where model.Where
}

func (r *reading) find(code model.Code, format string, args ...any) {
	r.a.builder.Find(model.Finding{Code: code, Where: r.where, Message: fmt.Sprintf(format, args...)})
}

// known are the fields of documents that the model looks at, in lower case.
var known = []string{"schema", "package", "name", "defaultchannel", "entries", "image", "properties"}

// fields are the known fields of a document. Their names count without regard to case, and each
// may be there once: programs differ in which of two they take.
func (r *reading) fields(document []byte) (map[string][]byte, bool) {
	if document[space(document, 0)] != '{' {
		r.find(model.DocumentBroken, "the document is no object, expected one with the field schema")
		return nil, false
	}
	fields := make(map[string][]byte, len(known))
	twice := ""
	eachField(document, func(key, value []byte) {
		for _, name := range known {
			if len(key) != len(name) || !bytes.EqualFold(key, []byte(name)) {
				continue
			}
			if _, ok := fields[name]; ok {
				twice = name
			}
			fields[name] = value
		}
	})
	if twice != "" {
		r.find(model.FieldTwice, "the document has the field %s twice, in the same or in different case; it was passed over", twice)
		return nil, false
	}
	return fields, true
}

func (r *reading) text(fields map[string][]byte, name string) string {
	value, ok := fields[name]
	if !ok {
		return ""
	}
	decoded, ok := text(value)
	if !ok {
		r.find(model.DocumentIncomplete, "the field %s is no text; it counts as absent", name)
	}
	r.a.kept += len(decoded)
	return decoded
}

// head says whether the document is one for the model. Others than OLM's may have documents of
// their own in a catalogue: those are no findings.
func (r *reading) head(fields map[string][]byte) (head, bool) {
	h := head{schema: r.text(fields, "schema")}
	need := map[string]string{}
	switch h.schema {
	case "":
		r.find(model.DocumentIncomplete, "the document has no schema, expected olm.package, olm.channel, olm.bundle or olm.deprecations")
		return h, false
	case "olm.package":
		h.name = r.text(fields, "name")
		need["name"] = h.name
	case "olm.channel", "olm.bundle":
		h.pkg, h.name = r.text(fields, "package"), r.text(fields, "name")
		need["package"], need["name"] = h.pkg, h.name
	case "olm.deprecations":
		h.pkg = r.text(fields, "package")
		need["package"] = h.pkg
	default:
		return h, false
	}
	for _, field := range []string{"package", "name"} {
		if value, ok := need[field]; ok && value == "" {
			r.find(model.DocumentIncomplete, "the document has no %s, which %s must have; it was passed over", field, h.schema)
			return h, false
		}
	}
	return h, true
}

func (r *reading) entries(list []byte) []model.Entry {
	var entries []model.Entry
	eachItem(list, func(item []byte) {
		var e model.Entry
		eachField(item, func(key, value []byte) {
			switch strings.ToLower(string(key)) {
			case "name":
				e.Name = r.kept(value)
			case "replaces":
				e.Replaces = r.kept(value)
			case "skiprange":
				e.SkipRange = r.kept(value)
			case "skips":
				eachItem(value, func(skip []byte) {
					if name := r.kept(skip); name != "" {
						e.Skips = append(e.Skips, name)
					}
				})
			}
		})
		if e.Name == "" {
			r.find(model.DocumentIncomplete, "an entry of the channel has no name; it was passed over")
			return
		}
		r.a.kept += 96
		entries = append(entries, e)
	})
	return entries
}

// kept is a text that the model holds; anything else is the empty text.
func (r *reading) kept(value []byte) string {
	decoded, _ := text(value)
	r.a.kept += len(decoded) + 16
	return decoded
}

func (r *reading) deprecations(pkg string, list []byte) {
	eachItem(list, func(item []byte) {
		var what model.Reference
		message := ""
		eachField(item, func(key, value []byte) {
			switch strings.ToLower(string(key)) {
			case "message":
				message = r.kept(value)
			case "reference":
				eachField(value, func(key, value []byte) {
					switch strings.ToLower(string(key)) {
					case "schema":
						what.Schema = r.kept(value)
					case "name":
						what.Name = r.kept(value)
					}
				})
			}
		})
		switch {
		case what.Schema == "olm.package":
			what.Name = ""
		case what.Schema != "olm.channel" && what.Schema != "olm.bundle" || what.Name == "":
			r.find(model.DocumentIncomplete, "a deprecation is about schema %s with name %s, expected olm.package, or olm.channel or olm.bundle with a name",
				model.Quoted(what.Schema), model.Quoted(what.Name))
			return
		}
		r.a.kept += 96
		r.a.builder.Deprecate(pkg, what, message, r.where)
	})
}
