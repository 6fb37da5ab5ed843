package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	first  = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, generation: 7}\n"
	second = "apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"
)

func TestObjectsAreReadFromEveryForm(t *testing.T) {
	for name, text := range map[string]string{
		"YAML":                first + "---\n" + second,
		"empty documents":     "---\n# nothing\n---\n" + first + "---\n---\n" + second + "---\n",
		"a list":              "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n- {apiVersion: v1, kind: NamespaceList, items: [{apiVersion: v1, kind: Namespace, metadata: {name: b}}]}\n",
		"JSON after JSON":     `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}} {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"b"}}`,
		"a long first object": first + "#" + strings.Repeat("x", 10000) + "\n---\n" + second,
	} {
		t.Run(name, func(t *testing.T) {
			objects := must.Get(Read([]string{"-"}, strings.NewReader(text)))(t)
			var names []string
			for _, o := range objects {
				names = append(names, o.GetName())
			}
			if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	objects, err := Read([]string{"-"}, strings.NewReader(first))
	if err != nil || objects[0].GetGeneration() != 7 {
		t.Errorf("%v, %v; want whole numbers to stay so", objects, err)
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no YAML":                    {"a: [", `"-": document 1:`},
		"the second is no YAML":      {first + "---\na: [", `"-": document 2:`},
		"no object":                  {"a: b", "kind or apiVersion is missing"},
		"a list":                     {"[1]", `"-": document 1:`},
		"files joined without ---":   {first + second, `key "apiVersion" already set in map`},
		"an item that is no object":  {"apiVersion: v1\nkind: List\nitems: [7]", "item 0 of a List is no object"},
		"an item without a kind":     {"apiVersion: v1\nkind: List\nitems: [{a: b}]", "item 0 of a List: it is no object"},
		"JSON that ends in its half": {`{"apiVersion":"v1"`, `"-": document 1:`},
	} {
		t.Run(name, func(t *testing.T) {
			if objects, err := Read([]string{"-"}, strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v; want an error that says %q", objects, err, test.want)
			}
		})
	}
}

func TestFoldersAreReadWithThoseBelow(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a.yaml": first, "below/b.json": `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"b"}}`, "README.md": "# none"} {
		path := filepath.Join(folder, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	objects, err := Read([]string{folder}, nil)
	if err != nil || len(objects) != 2 {
		t.Errorf("%v, %v; want two", objects, err)
	}
	if _, err := Read([]string{t.TempDir()}, nil); err == nil || !strings.Contains(err.Error(), "has no .yaml, .yml or .json in it") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Read([]string{"/no/such/file"}, nil); err == nil {
		t.Error("a file that is not there was read")
	}
}
