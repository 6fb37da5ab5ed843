package localkube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func program(t *testing.T, path string, mode os.FileMode, age time.Duration) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte("x"), mode))
	then := time.Now().Add(-age)
	must.Do(t, os.Chtimes(path, then, then))
	return path
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	flag := program(t, filepath.Join(dir, "flag"), 0o755, 0)
	env := program(t, filepath.Join(dir, "env"), 0o755, 0)
	beside := program(t, filepath.Join(dir, "bin", "localkube"), 0o755, 0)
	onPath := program(t, filepath.Join(dir, "path", "localkube"), 0o755, 0)
	cache := filepath.Join(dir, "cache")
	program(t, filepath.Join(cache, "tabard", "localkube", "v1-old", "localkube"), 0o755, time.Hour)
	newer := program(t, filepath.Join(cache, "tabard", "localkube", "v1-new", "localkube"), 0o755, time.Minute)
	program(t, filepath.Join(cache, "tabard", "localkube", "v1-half", "localkube"), 0o644, 0)
	text := program(t, filepath.Join(dir, "text"), 0o644, 0)
	self := filepath.Join(dir, "bin", "tabard")

	tests := map[string]struct {
		flag, self, path string
		env              map[string]string
		want, refused    string
	}{
		"the flag comes first":                         {flag: flag, self: self, env: map[string]string{EnvVar: env}, want: flag},
		"the environment comes second":                 {self: self, env: map[string]string{EnvVar: env}, want: env},
		"the neighbour comes third":                    {self: self, path: filepath.Dir(onPath), want: beside},
		"the PATH comes fourth":                        {self: filepath.Join(dir, "tabard"), path: filepath.Dir(onPath), want: onPath},
		"the newest of the cache comes last":           {self: filepath.Join(dir, "tabard"), env: map[string]string{"XDG_CACHE_HOME": cache}, want: newer},
		"a flag that names no program is refused":      {flag: text, self: self, refused: "--localkube names"},
		"a variable that names no program is refused":  {self: self, env: map[string]string{EnvVar: text}, refused: EnvVar + " names"},
		"nothing anywhere says how to build a program": {self: filepath.Join(dir, "tabard"), env: map[string]string{"HOME": dir}, refused: "make localkube"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			got, err := Find(test.flag, test.self, func(name string) string { return test.env[name] })
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %q, %v; want an error with %q", got, err, test.refused)
				}
				return
			}
			if err != nil || got != test.want {
				t.Fatalf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}
