package e2e

import (
	"context"
	"testing"
)

// root is the repository's folder as seen from this package.
const root = "../.."

// lab tells the story up to and including a step and returns it; the lab is
// taken down at the end of the test.
func lab(t *testing.T, upTo int) *Story {
	t.Helper()
	s, err := Programs(root, t.TempDir(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context()), false); err != nil {
			t.Errorf("take the lab down: %v", err)
		}
	})
	for _, step := range Steps()[:upTo] {
		if err := step.Run(s, t.Context()); err != nil {
			t.Fatalf("%s: %v", step.Title, err)
		}
	}
	return s
}

func TestStory(t *testing.T) {
	s := lab(t, 0)
	for _, step := range Steps() {
		ok := t.Run(step.Title, func(t *testing.T) {
			if err := step.Run(s, t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		if !ok {
			t.FailNow() // the later steps build on this one
		}
	}
}
