package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// file is one Go file of ours, parsed.
type file struct {
	path  string
	lines int
	set   *token.FileSet
	ast   *ast.File
}

// load parses every Go file that people write: no generated code, no testdata,
// no hidden folder.
func load(tree fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if isForeign(name, entry) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || strings.HasPrefix(entry.Name(), "zz_generated") {
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parse(name, source)
		files = append(files, f)
		return err
	})
	return files, err
}

// isForeign says that a folder holds nothing that people write for us to judge.
func isForeign(name string, folder fs.DirEntry) bool {
	base := folder.Name()
	return name != "." && (base == "testdata" || base == "bin" || base == "node_modules" || strings.HasPrefix(base, "."))
}

func parse(name string, source []byte) (file, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, source, parser.ParseComments)
	return file{path: name, lines: strings.Count(string(source), "\n"), set: set, ast: parsed}, err
}
