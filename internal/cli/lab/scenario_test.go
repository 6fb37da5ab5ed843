package lab

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// scenes are two scenarios that nobody plays.
type scenes struct{ Scenes }

func (scenes) List() []Scene {
	return []Scene{{Name: "p01", Title: "one"}, {Name: "p02", Title: "two", Explain: "--action s3:GetObject"}}
}

func (scenes) Play(_ context.Context, _ lab.Lab, name string, say func(string, ...any)) (Scene, Seen, error) {
	say("planted %s", name)
	return Scene{Name: name, Title: "two", Explain: "--action s3:GetObject"}, Seen{Namespace: "n", Pod: "p", Text: "AccessDenied\n\x1b[31m"}, nil
}

func TestScenariosAreListed(t *testing.T) {
	out, _, err := execute(t, "scenario")
	if want := "p01           one\np02           two\n"; err != nil || out != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// TestWhatAScenarioShows: no text of others reaches the terminal, and the command has the flags that it needs.
func TestWhatAScenarioShows(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "lab.json"), []byte(`{"apiVersion":"lab.tabard.dev/v1","kind":"Lab","dir":"`+dir+`"}`), 0o600))
	var out, err bytes.Buffer
	failed := play(t.Context(), command.Streams{Out: &out, Err: &err}, &folder{dir: dir}, scenes{}, "p02")
	want := "p02  two\n\npod n/p sees:\n  AccessDenied\n  \uFFFD[31m\n\nFind out why:  tabard explain pod p -n n --action s3:GetObject\n"
	if failed != nil || !strings.HasPrefix(out.String(), want) || err.String() != "planted p02\n" {
		t.Errorf("%q, %q, %v; want %q", out.String(), err.String(), failed, want)
	}
}
