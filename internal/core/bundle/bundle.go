// Package bundle judges what the author of an operator publishes: a bundle in the form registry+v1,
// or its ClusterServiceVersion alone. It says what OLM would not install, what administrators
// cannot find out, and how the requests of a bundle become the annotation of its
// ClusterServiceVersion.
package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// File is a file of a bundle, cut into its documents.
type File struct {
	// Name is the path below the bundle, with slashes.
	Name      string
	Text      []byte
	Documents []Document
}

// Document is one document of a file.
type Document struct {
	Piece
	// JSON is nil where the document cannot be read, and Broken says why.
	JSON   []byte
	Broken string
	// APIVersion and Kind are those of the document.
	APIVersion, Kind string
}

// Piece is where a document stands in its file, in bytes.
type Piece struct {
	// Marker is where the line --- before the document begins, or Start where there is none.
	Marker, Start, End int
}

// Unread is a file that is there and was not read.
type Unread struct{ Name, Why string }

// Bundle is what there is of a bundle.
type Bundle struct {
	// Manifests are the files that OLM installs. For a ClusterServiceVersion alone it is one.
	Manifests []File
	// Requests are the files with CredentialsRequests beside the manifests, in the folder
	// RequestsFolder.
	Requests       []File
	RequestsFolder string
	// Metadata is metadata/annotations.yaml; without text there is none.
	Metadata File
	Unread   []Unread
	// Fix is what moves a CredentialsRequest out of the manifests: what a person types.
	Fix string
}

// The kinds that are looked at.
const (
	kindCSV     = "ClusterServiceVersion"
	kindRequest = "CredentialsRequest"
)

// ReadFile cuts a file into documents. decode makes JSON of one document, which may be YAML, and
// has bounds of its own.
func ReadFile(name string, text []byte, decode func([]byte) ([]byte, error)) File {
	out := File{Name: name, Text: text}
	for _, piece := range split(text) {
		d := Document{Piece: piece}
		decoded, err := decode(text[piece.Start:piece.End])
		if err == nil {
			err = twice(decoded)
		}
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err == nil && !bytes.HasPrefix(decoded, []byte("[")) && json.Unmarshal(decoded, &head) != nil {
			err = errors.New("it is no object with texts as apiVersion and kind")
		}
		if d.APIVersion, d.Kind = head.APIVersion, head.Kind; err != nil {
			d.Broken = line.Of(err.Error())
		} else {
			d.JSON = decoded
		}
		out.Documents = append(out.Documents, d)
	}
	return out
}

// split cuts a text at the lines --- and ..., which end a document of YAML wherever they are. What
// has comments only is no document.
func split(text []byte) []Piece {
	var out []Piece
	add := func(p Piece) {
		if !blank(text[p.Start:p.End]) {
			out = append(out, p)
		}
	}
	if json.Valid(text) {
		return []Piece{{0, 0, len(text)}}
	}
	current, at := Piece{}, 0
	for row := range bytes.Lines(text) {
		marked := len(row) == 3 || len(row) > 3 && strings.ContainsRune(" \t\r\n", rune(row[3]))
		if marked && (bytes.HasPrefix(row, []byte("---")) || bytes.HasPrefix(row, []byte("..."))) {
			current.End = at
			add(current)
			current = Piece{Marker: at, Start: at + 3}
		}
		at += len(row)
	}
	current.End = len(text)
	add(current)
	return out
}

// blank says that a text has comments and directives only.
func blank(text []byte) bool {
	for row := range bytes.Lines(text) {
		row = bytes.TrimSpace(bytes.TrimPrefix(row, []byte("\ufeff")))
		if len(row) > 0 && row[0] != '#' && row[0] != '%' {
			return false
		}
	}
	return true
}

// twice refuses a document with a key twice in one object: readers differ in which one counts.
func twice(document []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	type level struct {
		keys  map[string]bool // nil for a list
		value bool            // a value comes next, and no key
	}
	var open []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil // The end, or what json.Unmarshal refuses with better words.
		}
		if n := len(open); n > 0 && open[n-1].keys != nil && token != json.Delim('}') {
			if key, ok := token.(string); ok && !open[n-1].value {
				if open[n-1].keys[key] {
					return fmt.Errorf("the key %.100q is there twice in one object", key)
				}
				open[n-1].keys[key], open[n-1].value = true, true
				continue
			}
			open[n-1].value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}

// requests are the CredentialsRequests in a document: itself, or the items of a list. partly says that a list has other items besides.
func (d Document) requests() (found []json.RawMessage, partly bool) {
	if d.Kind == kindRequest && strings.HasPrefix(d.APIVersion, group+"/") {
		return []json.RawMessage{d.JSON}, false
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	switch {
	case bytes.HasPrefix(d.JSON, []byte("[")):
		_ = json.Unmarshal(d.JSON, &list.Items) // It was decoded already.
	case strings.HasSuffix(d.Kind, "List"):
		if json.Unmarshal(d.JSON, &list) != nil {
			return nil, false
		}
	}
	for _, item := range list.Items {
		var head struct {
			Kind string `json:"kind"`
		}
		if json.Unmarshal(item, &head) == nil && head.Kind == kindRequest {
			found = append(found, item)
		}
	}
	return found, len(found) > 0 && len(found) < len(list.Items)
}

// isEmptyList says that a document declares that nothing is asked for.
func (d Document) isEmptyList() bool {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if bytes.HasPrefix(d.JSON, []byte("[")) {
		return json.Unmarshal(d.JSON, &list.Items) == nil && len(list.Items) == 0
	}
	return strings.HasSuffix(d.Kind, "List") && json.Unmarshal(d.JSON, &list) == nil && list.Items != nil && len(list.Items) == 0
}

// group is that of CredentialsRequests.
const group = "cloudcredential.openshift.io"

// Place is a document of a bundle.
type Place struct{ File, Document int }

// CSVs are the places of the ClusterServiceVersions.
func (b Bundle) CSVs() []Place {
	var out []Place
	for i, f := range b.Manifests {
		for j, d := range f.Documents {
			if d.Kind == kindCSV {
				out = append(out, Place{i, j})
			}
		}
	}
	return out
}

// Annotations are those that metadata/annotations.yaml has. Values that are no texts are left out.
func (f File) Annotations() map[string]string {
	out := map[string]string{}
	for _, d := range f.Documents {
		var metadata struct {
			Annotations map[string]any `json:"annotations"`
		}
		if json.Unmarshal(d.JSON, &metadata) != nil {
			continue
		}
		for key, value := range metadata.Annotations {
			if text, ok := value.(string); ok {
				out[key] = text
			}
		}
	}
	return out
}
