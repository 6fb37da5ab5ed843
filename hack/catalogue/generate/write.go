package generate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// JSON writes the catalogue as JSON lines.
func (p Plan) JSON(out io.Writer) error {
	for document := range p.Documents() {
		if _, err := out.Write(append(document.JSON, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// YAML writes the catalogue as YAML with one document for each.
func (p Plan) YAML(out io.Writer) error {
	for document := range p.Documents() {
		text, err := yaml.JSONToYAML(document.JSON)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

// Tree writes the catalogue into a directory, as configs/PACKAGE/catalog.json.
func (p Plan) Tree(dir string) error {
	var file *os.File
	current := ""
	for document := range p.Documents() {
		if document.Package != current {
			if err := closed(file); err != nil {
				return err
			}
			current = document.Package
			at := filepath.Join(dir, "configs", current)
			if err := os.MkdirAll(at, 0o755); err != nil {
				return err
			}
			var err error
			if file, err = os.Create(filepath.Join(at, "catalog.json")); err != nil {
				return err
			}
		}
		if _, err := file.Write(append(document.JSON, '\n')); err != nil {
			_ = file.Close() // The first error counts.
			return err
		}
	}
	return closed(file)
}

func closed(file *os.File) error {
	if file == nil {
		return nil
	}
	return file.Close()
}
