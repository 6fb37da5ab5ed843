// Package manifest reads objects of Kubernetes: from files and folders of YAML or
// JSON, and page by page from an API server.
package manifest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// at is a path that the flag -f names.
func at(path string) command.File {
	return command.File{By: "-f", Path: path, Expected: "objects of Kubernetes in a file or folder of YAML or JSON, or - for the standard input"}
}

// Read reads the files and folders of YAML or JSON that the flag -f names, lists included.
// The path - is in. Files without any object are refused.
func Read(paths []string, in io.Reader) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for _, path := range paths {
		names, err := filesAt(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			found, err := readFile(name, in)
			if err != nil {
				return nil, at(name).Refuse(err)
			}
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return nil, at(strings.Join(paths, ", ")).Refuse(errors.New("it has no object in it"))
	}
	return all, nil
}

// filesAt are the files of a folder and those below it, or the file itself.
func filesAt(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	var names []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if name == path || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			names = append(names, name)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = errors.New("the folder has no .yaml, .yml or .json in it")
	}
	if err != nil {
		return nil, at(path).Refuse(err)
	}
	return names, nil
}

func readFile(name string, in io.Reader) ([]unstructured.Unstructured, error) {
	file, err := at(name).Open(in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	next := documents(file)
	var all []unstructured.Unstructured
	for number := 1; ; number++ {
		text, err := next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		var found []unstructured.Unstructured
		if err == nil {
			found, err = parse(text)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %s", number, command.Cause(err))
		}
		all = append(all, found...)
	}
}

// documents gives one document of JSON after the other.
func documents(in io.Reader) func() ([]byte, error) {
	in, _, isJSON := utilyaml.GuessJSONStream(in, 4096)
	if isJSON {
		decoder := json.NewDecoder(in)
		return func() ([]byte, error) {
			var text json.RawMessage
			err := decoder.Decode(&text)
			return text, err
		}
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(in))
	return func() ([]byte, error) {
		text, err := reader.Read()
		if err != nil {
			return nil, err
		}
		// A key that is there twice is an error. Else of two files that were joined
		// without a line of --- only the second would be seen.
		return yaml.YAMLToJSONStrict(text)
	}
}

// parse reads an object, or those of a list. An empty document is none.
func parse(text []byte) ([]unstructured.Unstructured, error) {
	var content map[string]any
	if err := utiljson.Unmarshal(text, &content); err != nil {
		return nil, err
	}
	if content == nil {
		return nil, nil
	}
	return flatten(unstructured.Unstructured{Object: content})
}

// flatten takes lists apart.
func flatten(o unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	if o.GetKind() == "" || o.GetAPIVersion() == "" {
		return nil, errors.New("it is no object of Kubernetes: kind or apiVersion is missing")
	}
	if !strings.HasSuffix(o.GetKind(), "List") || !o.IsList() {
		return []unstructured.Unstructured{o}, nil
	}
	var all []unstructured.Unstructured
	items, _, err := unstructured.NestedSlice(o.Object, "items")
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		content, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("item %d of a %s is no object", i, o.GetKind())
		}
		found, err := flatten(unstructured.Unstructured{Object: content})
		if err != nil {
			return nil, fmt.Errorf("item %d of a %s: %w", i, o.GetKind(), err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// List reads all objects of a resource from an API server, page by page.
func List(ctx context.Context, client dynamic.ResourceInterface) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, options)
	})
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		one, ok := o.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("the API server answers with a %T", o)
		}
		all = append(all, *one)
		return nil
	})
	return all, err
}
