package e2e

import (
	"context"
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// root is the repository's folder as seen from this package.
const root = "../.."

func TestStory(t *testing.T) {
	t.Parallel()
	s := must.Get(Programs(root, t.TempDir(), t.Output()))(t)
	t.Cleanup(func() {
		if err := s.Down(context.WithoutCancel(t.Context()), false); err != nil {
			t.Errorf("take the lab down: %v", err)
		}
	})
	for _, step := range slices.Concat(Chapters()...) {
		ok := t.Run(step.Title, func(t *testing.T) {
			must.Do(t, step.Run(s, t.Context()))
		})
		if !ok {
			t.FailNow() // the later steps build on this one
		}
	}
}
