package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// pkg is what `go list -json` says of one package.
type pkg struct {
	ImportPath string
	// Imports are those of non-test files.
	Imports []string
	// TestImports and XTestImports are those of test files, in the package and
	// beside it.
	TestImports, XTestImports []string
	// Deps is everything that Imports reach.
	Deps []string
}

// list asks the go command for the packages of each module folder.
func list(ctx context.Context, folders []string) ([]pkg, error) {
	var all []pkg
	for _, folder := range folders {
		const fields = "-json=ImportPath,Imports,TestImports,XTestImports,Deps"
		command := exec.CommandContext(ctx, "go", "list", fields, "./...")
		command.Dir = folder
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		if err := command.Run(); err != nil {
			return nil, fmt.Errorf("go list in %s: %w: %s", folder, err, bytes.TrimSpace(stderr.Bytes()))
		}
		packages, err := decode(&stdout)
		if err != nil {
			return nil, fmt.Errorf("go list in %s: unexpected output: %w", folder, err)
		}
		if len(packages) == 0 {
			return nil, fmt.Errorf("go list in %s: found no package; run this in the root of the repository", folder)
		}
		all = append(all, packages...)
	}
	return all, nil
}

// decode reads the concatenated JSON objects that go list prints.
func decode(r io.Reader) ([]pkg, error) {
	var packages []pkg
	for decoder := json.NewDecoder(r); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}
