package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAFileIsRefusedInWordsThatNameItsFlag(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, []byte("text"), 0o600))
	blank := filepath.Join(dir, "blank")
	must.Do(t, os.WriteFile(blank, []byte(" \n"), 0o600))
	for name, c := range map[string]struct {
		path, in, text, says string
	}{
		"a file":                    {path: file, text: "text"},
		"the standard input":        {path: "-", in: "typed", text: "typed"},
		"an empty standard input":   {path: "-", says: "it is empty"},
		"a file that is absent":     {path: filepath.Join(dir, "absent"), says: "there is no such file or folder"},
		"a folder":                  {path: dir, says: "it is a folder, not a file"},
		"below a file":              {path: filepath.Join(file, "x"), says: "a part of its path is a file, not a folder"},
		"a file without text in it": {path: blank, says: "it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := File{By: "--flag", Path: c.path, Expected: "a poem"}.Read(strings.NewReader(c.in))
			if c.says == "" {
				if err != nil || string(text) != c.text {
					t.Fatalf("%q, %v", text, err)
				}
				return
			}
			if want := fmt.Sprintf("--flag is %q: %s; expected a poem", c.path, c.says); err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
	absent := File{By: "--flag", Path: "absent"}.Refuse(fmt.Errorf("so: %w", fs.ErrNotExist))
	if !errors.Is(absent, fs.ErrNotExist) || (File{By: "--other"}).Refuse(absent).Error() != absent.Error() {
		t.Errorf("%v wraps nothing, or is refused twice", absent)
	}
}

func TestCausesAreWithoutTheWordsOfGo(t *testing.T) {
	var into struct {
		Name  string
		On    bool
		Many  []string
		Count int
		Deep  *struct{ A map[string]string }
	}
	decode := func(text string) error { return json.Unmarshal([]byte(text), &into) }
	for want, err := range map[string]error{
		"you have no permission to use it":                   &fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES},
		"no space left on device":                            &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC},
		"it is a string, not an object":                      decode(`"x"`),
		"Name is a number, not a string":                     decode(`{"name":7}`),
		"On is a string, not true or false":                  decode(`{"on":"yes"}`),
		"Many is an object, not a list":                      decode(`{"many":{}}`),
		"Count is a string, not a number":                    decode(`{"count":"x"}`),
		"Deep.A is true or false, not an object":             decode(`{"deep":{"a":true}}`),
		"line 1: did not find expected node content":         yaml.Unmarshal([]byte("a: ["), &into),
		`unknown field "other"`:                              yaml.UnmarshalStrict([]byte("other: 1"), &into),
		"it is a number, not an object":                      errors.New("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go value of type v1.X"),
		`it has apiVersion "v1" and kind "Foo"`:              errors.New(`no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`),
		"what no library says, so that it is said unchanged": errors.New("what no library says, so that it is said unchanged"),
	} {
		if got := Cause(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}
