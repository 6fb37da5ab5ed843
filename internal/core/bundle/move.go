package bundle

import (
	"bytes"
	"fmt"
	"path"
)

// Write is a file with its new text. With Remove the file is removed.
type Write struct {
	Name   string
	Text   []byte
	Remove bool
}

// Move takes the CredentialsRequests out of the manifests, into files of the same names in the
// folder for requests. csv is the new text of the ClusterServiceVersion's document. What is written
// comes before what is removed, so that nothing is lost where one of the steps fails: doing all
// again is right. A file of another content with such a name is an error.
func (b Bundle) Move(at Place, csv []byte) ([]Write, error) {
	var added, changed, removed []Write
	for i, f := range b.Manifests {
		var moved, rest []byte
		kept, from := false, 0
		for j, d := range f.Documents {
			found, _ := d.requests()
			switch {
			case len(found) > 0:
				rest = append(rest, f.Text[from:d.Marker]...)
				from = d.End
				moved = append(moved, join(moved, f.Text[d.Start:d.End])...)
				continue
			case at == Place{i, j}:
				rest = append(append(rest, f.Text[from:d.Start]...), csv...)
				from = d.End
			}
			kept = true
		}
		rest = append(rest, f.Text[from:]...)
		if moved != nil {
			if !kept {
				moved = f.Text
			}
			to := path.Join(b.RequestsFolder, path.Base(f.Name))
			if there, ok := b.request(to); ok && !bytes.Equal(there, moved) {
				return nil, fmt.Errorf("%s is to move to %s, where another file is: rename one of them", f.Name, to)
			} else if !ok {
				added = append(added, Write{Name: to, Text: moved})
			}
		}
		switch {
		case moved != nil && !kept:
			removed = append(removed, Write{Name: f.Name, Remove: true})
		case !bytes.Equal(rest, f.Text):
			changed = append(changed, Write{Name: f.Name, Text: rest})
		}
	}
	return append(append(added, changed...), removed...), nil
}

// join is a document as it follows others.
func join(before, document []byte) []byte {
	document = bytes.TrimLeft(document, "\r\n")
	switch {
	case len(before) == 0:
		return document
	case before[len(before)-1] != '\n':
		return append([]byte("\n---\n"), document...)
	}
	return append([]byte("---\n"), document...)
}

func (b Bundle) request(name string) ([]byte, bool) {
	for _, f := range b.Requests {
		if f.Name == name {
			return f.Text, true
		}
	}
	return nil, false
}
