package lab

import (
	"context"
	"testing"

	"github.com/tabard-dev/tabard/internal/lab"
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
