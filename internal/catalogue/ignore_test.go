package catalogue

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIgnored(t *testing.T) {
	for name, test := range map[string]struct {
		file, path string
		directory  bool
		want       bool
	}{
		"a name anywhere":                  {file: "a.md", path: "x/y/a.md", want: true},
		"a name that is a part":            {file: "a.md", path: "x/aa.md"},
		"bound by its beginning":           {file: "/a.md", path: "x/a.md"},
		"bound, at its place":              {file: "/a.md", path: "a.md", want: true},
		"bound by a slash inside":          {file: "x/a.md", path: "y/x/a.md"},
		"a star stays in its folder":       {file: "x/*", path: "x/y/a.md"},
		"two stars do not":                 {file: "x/**", path: "x/y/a.md", want: true},
		"two stars at the end, the folder": {file: "x/**", path: "x", directory: true},
		"two stars between":                {file: "x/**/a.md", path: "x/a.md", want: true},
		"two stars before":                 {file: "**/y/a.md", path: "x/y/a.md", want: true},
		"directories only, a file":         {file: "x/", path: "x"},
		"directories only, a directory":    {file: "x/", path: "y/x", directory: true, want: true},
		"the last one wins":                {file: "*.md\n!a.md\n", path: "a.md"},
		"the last one wins, again":         {file: "!a.md\n*.md", path: "a.md", want: true},
		"a comment":                        {file: "#a", path: "#a"},
		"no comment":                       {file: `\#a`, path: "#a", want: true},
		"no negation":                      {file: `\!a`, path: "!a", want: true},
		"spaces at the end":                {file: "a  \r\n", path: "a", want: true},
		"a space that stays":               {file: `a\ `, path: "a ", want: true},
		"a class":                          {file: "[!a-c]", path: "b"},
		"the other class":                  {file: "[!a-c]", path: "d", want: true},
		"an empty file":                    {path: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			rules, wrong := parseIgnore(test.file)
			if wrong != nil {
				t.Errorf("wrong are %q", wrong)
			}
			if got := (ignores{".": rules}).ignored(test.path, test.directory); got != test.want {
				t.Errorf("ignored: %v, want %v", got, test.want)
			}
		})
	}
}

func TestDeeperIgnoreFilesWin(t *testing.T) {
	above, _ := parseIgnore("*.md")
	below, _ := parseIgnore("!a.md\n/b.json")
	all := ignores{".": above, "x": below}
	for path, want := range map[string]bool{"a.md": true, "x/a.md": false, "x/c.md": true, "x/b.json": true, "b.json": false, "x/y/b.json": false, "x/y/a.md": false} {
		if got := all.ignored(path, false); got != want {
			t.Errorf("%s is ignored: %v, want %v", path, got, want)
		}
	}
}

func TestPatternsThatCannotBeRead(t *testing.T) {
	long := strings.Repeat("**/", 100) + "a"
	rules, wrong := parseIgnore("[\na//b\n/\n" + long + "\nok")
	if diff := cmp.Diff([]string{"[", "a//b", "/", long}, wrong); diff != "" || len(rules) != 1 {
		t.Errorf("%d rules (-want +got):\n%s", len(rules), diff)
	}
}
