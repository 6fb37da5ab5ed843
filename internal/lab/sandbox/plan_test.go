package sandbox

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// machine is a small machine. MapFS makes the folders of a path by itself.
func machine() fs.FS {
	link := func(to string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	return fstest.MapFS{
		"etc/hosts":         {Data: []byte("x")},
		"etc/existing/file": {Data: []byte("x")},
		"run":               {Mode: fs.ModeDir | 0o755},
		"run/user/1":        {Data: []byte("x")},
		"run/socket":        {Mode: fs.ModeSocket},
		"tmp":               {Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		"var/run":           link("/run"),
		"var/spool":         {Mode: fs.ModeDir | 0o755},
		"var/up":            link("../etc"),
		"loop":              link("loop"),
		"bin":               link("usr/bin"),
		"usr/bin/env":       {Data: []byte("x")},
	}
}

// words writes steps as text, one a line.
func words(steps []step) []string {
	var out []string
	for _, step := range steps {
		line := string(step.do) + " " + step.path
		switch {
		case step.do == place && step.readOnly:
			line += " < " + step.source + " ro"
		case step.do == place:
			line += " < " + step.source
		case step.do == link:
			line += " -> " + step.source
		case step.do == makeDir:
			line += " " + step.mode.String()
		}
		out = append(out, line)
	}
	return out
}

func TestPlan(t *testing.T) {
	rest := map[string]string{
		"bin": "link /bin -> usr/bin", "etc": "keep /etc", "loop": "link /loop -> loop", "run": "keep /run",
		"tmp": "keep /tmp", "usr": "keep /usr", "var": "keep /var",
	}
	// root is the steps of the root folder, some of them replaced.
	root := func(replaced map[string][]string) []string {
		var out []string
		for _, name := range []string{"bin", "etc", "loop", "run", "tmp", "usr", "var"} {
			if lines, isReplaced := replaced[name]; isReplaced {
				out = append(out, lines...)
			} else {
				out = append(out, rest[name])
			}
		}
		return out
	}
	tests := map[string]struct {
		mounts  []Mount
		want    []string
		refused string
	}{
		"without mounts the machine is shown as it is": {want: root(nil)},
		"a path that exists is mounted over": {
			mounts: []Mount{{Source: "/v/a", Target: "/etc/existing"}},
			want:   append(root(nil), "place /etc/existing < /v/a"),
		},
		"a missing path below a link makes the link's folder anew": {
			mounts: []Mount{{Source: "/v/token", Target: "/var/run/secrets/token", ReadOnly: true}},
			want: append(root(map[string][]string{"run": {"dir /run -rwxr-xr-x", "keep /run/socket", "keep /run/user"}}),
				"place /run/secrets/token < /v/token ro"),
		},
		"a missing path in the root needs no folder but the root": {
			mounts: []Mount{{Source: "/v/a", Target: "/config"}},
			want:   append(root(nil), "place /config < /v/a"),
		},
		"a folder that is sticky stays so": {
			mounts: []Mount{{Source: "/v/a", Target: "/tmp/cache"}},
			want:   append(root(map[string][]string{"tmp": {"dir /tmp trwxrwxrwx"}}), "place /tmp/cache < /v/a"),
		},
		"the outer of two mounts comes first": {
			mounts: []Mount{{Source: "/v/in", Target: "/data/in"}, {Source: "/v/out", Target: "/data"}},
			want:   append(root(nil), "place /data < /v/out", "place /data/in < /v/in"),
		},
		"a relative link that goes up is followed": {
			mounts: []Mount{{Source: "/v/a", Target: "/var/up/existing"}},
			want:   append(root(nil), "place /etc/existing < /v/a"),
		},
		"a file can be mounted": {
			mounts: []Mount{{Source: "/v/file", Target: "/etc/hosts"}},
			want:   append(root(nil), "place /etc/hosts < /v/file"),
		},
		"a path through a file is refused":   {mounts: []Mount{{Source: "/v/a", Target: "/etc/hosts/x"}}, refused: "is a file"},
		"a circle of links is refused":       {mounts: []Mount{{Source: "/v/a", Target: "/loop/x"}}, refused: "symbolic links"},
		"the root is refused":                {mounts: []Mount{{Source: "/v/a", Target: "/"}}, refused: "whole file system"},
		"a relative path is refused":         {mounts: []Mount{{Source: "/v/a", Target: "a"}}, refused: "not absolute"},
		"a source that is not there is told": {mounts: []Mount{{Source: "/gone", Target: "/a"}}, refused: "no source"},
	}
	kindOf := func(source string) (bool, error) {
		if source == "/gone" {
			return false, errors.New("no source")
		}
		return path.Base(source) != "file", nil
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			steps, err := plan(machine(), test.mounts, kindOf)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want an error with %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, words(steps)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"/", "/var/run/x", "/loop", "//", "/a/../b", "/var/up/../x", "relative"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		resolved, existing, err := resolve(machine(), target)
		if err != nil {
			return
		}
		if !path.IsAbs(resolved) || path.Clean(resolved) != resolved || !strings.HasPrefix(resolved, strings.TrimSuffix(existing, "/")) {
			t.Errorf("%q became %q with %q existing", target, resolved, existing)
		}
	})
}
