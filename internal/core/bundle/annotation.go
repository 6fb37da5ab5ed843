package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tabard-dev/tabard/internal/core/permission"
)

// ofCluster are the fields of an object's metadata that one cluster has written.
var ofCluster = []string{"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds"}

// Requests are the CredentialsRequests in files, also those in lists. Other documents are an
// error.
func Requests(files []File) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, f := range files {
		for i, d := range f.Documents {
			found, partly := d.requests()
			switch {
			case d.JSON == nil:
				return nil, fmt.Errorf("%s, document %d cannot be read: %s", f.Name, i+1, d.Broken)
			case partly || len(found) == 0 && !d.isEmptyList():
				return nil, fmt.Errorf("%s, document %d is of kind %.100q, expected %s only", f.Name, i+1, d.Kind, kindRequest)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// ManifestRequests are the CredentialsRequests among the manifests.
func (b Bundle) ManifestRequests() ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, f := range b.Manifests {
		for i, d := range f.Documents {
			found, partly := d.requests()
			if partly {
				return nil, fmt.Errorf("%s, document %d is a %s with a %s and other objects: write each as a document of its own", f.Name, i+1, d.Kind, kindRequest)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// Annotation is the value of permission.Annotation for requests: a JSON list without spaces, keys
// in order, requests by name, each once, without what a cluster has written to them.
func Annotation(requests []json.RawMessage) (string, error) {
	type one struct{ name, text string }
	var all []one
	for _, text := range requests {
		var object map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			return "", errors.New("a request is no object")
		}
		delete(object, "status")
		name := ""
		if metadata, ok := object["metadata"].(map[string]any); ok {
			for _, field := range ofCluster {
				delete(metadata, field)
			}
			if annotations, ok := metadata["annotations"].(map[string]any); ok {
				delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
				if len(annotations) == 0 {
					delete(metadata, "annotations")
				}
			}
			name, _ = metadata["name"].(string)
		}
		canonical, err := printable(object)
		if err != nil {
			return "", err
		}
		all = append(all, one{name, canonical})
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.text, b.text)) })
	all = slices.Compact(all)
	texts := make([]string, 0, len(all))
	for _, o := range all {
		texts = append(texts, o.text)
	}
	return "[" + strings.Join(texts, ",") + "]", nil
}

// printable is a value in JSON, with keys in order, in which only characters that can be shown
// stand as they are.
func printable(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	var escaped strings.Builder
	for _, r := range strings.TrimSuffix(out.String(), "\n") {
		switch {
		case unicode.IsGraphic(r):
			escaped.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&escaped, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&escaped, `\u%04x`, r)
		}
	}
	return escaped.String(), nil
}

// Check is what is wrong with a value of the annotation for a ClusterServiceVersion, with paths in
// the list.
func Check(document []byte, value string) ([]permission.Finding, error) {
	var c csv
	if err := json.Unmarshal(document, &c); err != nil {
		return nil, fmt.Errorf("the %s cannot be read: %s", kindCSV, plainJSON(err))
	}
	annotations := map[string]string{permission.Annotation: value}
	out := permission.ReadAnnotations(c.subject(), c.Metadata.Name, annotations).Findings
	for key, other := range c.Metadata.Annotations {
		if key != permission.Annotation {
			annotations[key] = other
		}
	}
	if total := size(annotations); total > mostAnnotations {
		out = append(out, permission.Finding{Code: permission.Code(CodeTooLarge), Message: fmt.Sprintf("with it the annotations would have %d bytes together, and an API server refuses more than %d", total, mostAnnotations)})
	}
	return out, nil
}

// Declared is the annotation of a ClusterServiceVersion, if it has one. count is as
// Count has it.
func Declared(document []byte) (value string, there bool, count int) {
	var c csv
	if json.Unmarshal(document, &c) != nil {
		return "", false, 0
	}
	value, there = c.Metadata.Annotations[permission.Annotation]
	return value, there, Count(value)
}

// Count is the number of requests in a value of the annotation, and -1 where it is no list.
func Count(value string) int {
	var list []json.RawMessage
	if json.Unmarshal([]byte(value), &list) != nil || list == nil {
		return -1
	}
	return len(list)
}
