package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/hack/gobuild"
)

func TestTheFlagsOfABuild(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		want  gobuild.Build
		wrong string
	}{
		"all of it": {
			args: []string{"-ldflags", "-X a=b -X c=d", "-o", "bin/", "./cmd/a", "./cmd/b"},
			want: gobuild.Build{Name: "build", Output: "bin/", Flags: []string{"-ldflags", "-X a=b -X c=d"}, Packages: []string{"./cmd/a", "./cmd/b"}},
		},
		"no linker flags":             {args: []string{"-o", "bin/", "./a"}, want: gobuild.Build{Name: "build", Output: "bin/", Flags: []string{"-ldflags", ""}, Packages: []string{"./a"}}},
		"no package":                  {args: []string{"-o", "bin/"}, wrong: "no package; call it as"},
		"no output":                   {args: []string{"./cmd/a"}, wrong: "no -o"},
		"a flag that is not known":    {args: []string{"-race", "./a"}, wrong: "the flags are -o and -ldflags"},
		"a flag that has no argument": {args: []string{"-o"}, wrong: "-o"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(c.args)
			if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Fatalf("error %v, want %q", err, c.wrong)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
