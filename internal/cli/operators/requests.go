package operators

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

const (
	// mostFiles and largestFile bound what --requests reads. The core refuses a file of this size.
	mostFiles   = 100
	largestFile = 1<<20 + 1
)

// given is what the files of --requests ask for.
func given(streams command.Streams, subject permission.Subject, path string) (permission.Set, error) {
	file := command.File{By: "--requests", Path: path, Expected: "CredentialsRequests in YAML or JSON, or a directory of such files"}
	files, err := requestFiles(streams.In, path)
	if err != nil {
		return permission.Set{}, file.Refuse(err)
	}
	out := permission.ReadFiles(subject, permission.SourceRequests, path, files)
	if _, known := out.Requests(); !known {
		tellSet(streams, out.Findings)
		return out, file.Refuse(errors.New("there is no CredentialsRequest in it that can be used"))
	}
	return out, nil
}

// requestFiles reads a file, the standard input, or the files of a directory by name. Links that
// lead out of the directory are not followed.
func requestFiles(in io.Reader, path string) ([]permission.File, error) {
	if path == "-" {
		text, err := bounded(in)
		return []permission.File{{Name: "standard input", Text: text}}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		opened, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = opened.Close() }() // it was only read
		text, err := bounded(opened)
		return []permission.File{{Name: filepath.Base(path), Text: text}}, err
	}
	return requestFolder(path)
}

func requestFolder(path string) ([]permission.File, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var out []permission.File
	for _, entry := range entries {
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(entry.Name()))) {
			continue
		}
		if len(out) == mostFiles {
			return nil, fmt.Errorf("it has more than %d files in YAML or JSON", mostFiles)
		}
		text, err := fileIn(root, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("%q in it: %s", entry.Name(), command.Cause(err))
		}
		out = append(out, permission.File{Name: entry.Name(), Text: text})
	}
	if len(out) == 0 {
		return nil, errors.New("there is no file in it that ends in .yaml, .yml or .json")
	}
	return out, nil
}

func fileIn(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	opened, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // it was only read
	return bounded(opened)
}

func bounded(in io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(in, largestFile))
}
