// Package generate makes catalogues of operators that do not exist, for tests and measurements:
// the same plan makes the same bytes on every machine. Sizes and shares are those of large
// vendors' catalogues.
package generate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
)

// Plan is what to make.
type Plan struct {
	Seed uint64
	// Packages and Bundles are how many there are in all; each package has a bundle at least.
	Packages, Bundles int
	// Bytes is about how large the catalogue is as JSON lines.
	Bytes int
}

// Document is one document of a catalogue.
type Document struct {
	// Package is the one that it belongs to.
	Package string
	// JSON is in one line, without its end.
	JSON []byte
}

type object = map[string]any

// clouds are those of the annotations.
var clouds = []string{"aws", "azure", "gcp"}

// providers make the operators.
var providers = []string{"Example Data", "Example Networks", "Example Storage", "Example Security"}

// Documents are all documents: of each package its own, one channel with all bundles, and the
// bundles.
func (p Plan) Documents() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for n := range p.Packages {
			// Each package has its own source of chance, so that it does not depend on the others.
			m := maker{plan: p, random: rand.New(rand.NewPCG(p.Seed, uint64(n))), name: fmt.Sprintf("operator-%04d", n)}
			count := p.Bundles / p.Packages
			if n < p.Bundles%p.Packages {
				count++
			}
			for _, document := range m.all(max(count, 1)) {
				// Maps of texts, numbers and lists are always JSON.
				text, _ := json.Marshal(document)
				if !yield(Document{m.name, text}) {
					return
				}
			}
		}
	}
}

// maker makes one package.
type maker struct {
	plan   Plan
	random *rand.Rand
	name   string
}

func (m maker) all(count int) []object {
	documents := []object{{
		"schema": "olm.package", "name": m.name, "defaultChannel": "stable", "description": m.prose(400),
		"icon": object{"base64data": m.noise(3000), "mediatype": "image/svg+xml"},
	}}
	var entries []object
	for i := range count {
		entry := object{"name": m.bundle(i)}
		if i > 0 {
			entry["replaces"] = m.bundle(i - 1)
		}
		if i > 2 && i%5 == 0 {
			entry["skips"] = []string{m.bundle(i - 2)}
			entry["skipRange"] = fmt.Sprintf(">=1.0.0 <%s", version(i))
		}
		entries = append(entries, entry)
	}
	documents = append(documents, object{"schema": "olm.channel", "package": m.name, "name": "stable", "entries": entries})
	for i := range count {
		documents = append(documents, m.bundleDocument(i, i == count-1))
	}
	return documents
}

func version(i int) string { return fmt.Sprintf("1.%d.%d", i/4, i%4) }

func (m maker) bundle(i int) string { return m.name + ".v" + version(i) }

func (m maker) bundleDocument(i int, head bool) object {
	properties := []object{
		{"type": "olm.gvk", "value": object{"group": m.name + ".example.com", "kind": "Thing", "version": "v1"}},
		{"type": "olm.package", "value": object{"packageName": m.name, "version": version(i)}},
	}
	size := m.plan.Bytes/m.plan.Bundles - 2000
	switch share := m.random.IntN(20); {
	case share == 0 && !head:
		// Some bundles have no metadata at all. A head always has.
	case share == 1:
		csv, _ := json.Marshal(m.csv(i, size*3/4)) // Maps are always JSON.
		properties = append(properties, object{"type": "olm.bundle.object", "value": object{"data": base64.StdEncoding.EncodeToString(csv)}})
	default:
		properties = append(properties, object{"type": "olm.csv.metadata", "value": m.metadata(size)})
	}
	image := "registry.example.com/" + m.name + "@sha256:" + strings.Repeat(fmt.Sprintf("%08x", m.random.Uint32()), 8)
	return object{
		"schema": "olm.bundle", "package": m.name, "name": m.bundle(i), "image": image, "properties": properties,
		"relatedImages": []object{{"name": "operator", "image": image}},
	}
}

func (m maker) metadata(size int) object {
	return object{
		"annotations": m.annotations(size / 2), "displayName": "Operator " + m.name, "description": m.prose(size / 2),
		"keywords": []string{"example", m.name}, "maturity": "stable",
		"provider":     object{"name": providers[m.random.IntN(len(providers))], "url": "https://example.com"},
		"installModes": installModes(),
	}
}

func installModes() []object {
	return []object{
		{"type": "OwnNamespace", "supported": true}, {"type": "SingleNamespace", "supported": true},
		{"type": "MultiNamespace", "supported": false}, {"type": "AllNamespaces", "supported": true},
	}
}

func (m maker) annotations(size int) object {
	annotations := object{
		"alm-examples": m.examples(size), "capabilities": "Seamless Upgrades", "categories": "Cloud Provider, Storage",
		"containerImage": "registry.example.com/" + m.name, "createdAt": "2026-01-01T00:00:00Z",
		"description": m.prose(80), "repository": "https://example.com/" + m.name, "support": "Example",
		"operators.openshift.io/infrastructure-features": `["disconnected", "proxy-aware"]`,
	}
	for _, cloud := range clouds {
		annotations["features.operators.openshift.io/token-auth-"+cloud] = fmt.Sprint(m.random.IntN(4) == 0)
	}
	for _, name := range []string{"disconnected", "fips-compliant", "proxy-aware", "cnf", "cni", "csi", "tls-profiles"} {
		annotations["features.operators.openshift.io/"+name] = fmt.Sprint(m.random.IntN(2) == 0)
	}
	if m.random.IntN(10) == 0 {
		annotations["operators.tabard.dev/credentials-requests"] = "[]"
	}
	return annotations
}

func (m maker) csv(i, size int) object {
	annotations := m.annotations(size / 2)
	metadata := m.metadata(0)
	delete(metadata, "annotations")
	metadata["description"] = m.prose(size / 2)
	metadata["version"] = version(i)
	metadata["install"] = object{"strategy": "deployment", "spec": object{"deployments": []object{{
		"name": m.name, "spec": object{"template": object{"spec": object{
			"serviceAccountName": m.name,
			"volumes": []object{{"name": "token", "projected": object{"sources": []object{
				{"serviceAccountToken": object{"audience": "openshift", "path": "token"}},
			}}}},
		}}},
	}}}}
	return object{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
		"metadata": object{"name": m.bundle(i), "annotations": annotations}, "spec": metadata,
	}
}

// examples is JSON in a text, as alm-examples are: every quote in it is escaped.
func (m maker) examples(size int) string {
	var text strings.Builder
	text.WriteString("[")
	for text.Len() < size*4/5 {
		if text.Len() > 1 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, "\n  {\n    \"apiVersion\": \"%s.example.com/v1\",\n    \"kind\": \"Thing\",\n    \"metadata\": {\"name\": \"thing-%d\"},\n    \"spec\": {\"size\": %d}\n  }",
			m.name, m.random.IntN(1000), m.random.IntN(100))
	}
	text.WriteString("\n]")
	return text.String()
}

var words = strings.Fields("the operator makes a bucket and keeps it in step with what its owner wants of queues roles keys volumes")

func (m maker) prose(size int) string {
	var text strings.Builder
	for text.Len() < size {
		text.WriteString(words[m.random.IntN(len(words))])
		text.WriteByte(" \n  "[m.random.IntN(4)])
	}
	return text.String()
}

func (m maker) noise(size int) string {
	raw := make([]byte, max(size, 0))
	for i := range raw {
		raw[i] = byte(m.random.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}
