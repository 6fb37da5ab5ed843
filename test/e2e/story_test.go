package e2e

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/e2e/picture"
)

// root is the repository's folder as seen from this package.
const root = "../.."

var update = flag.Bool("update", false, "draw the README's picture of the demo anew")

func TestStory(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	s := must.Get(Programs(root, t.TempDir(), io.MultiWriter(t.Output(), &said)))(t)
	t.Cleanup(func() {
		if err := s.Down(context.WithoutCancel(t.Context()), false); err != nil {
			t.Errorf("take the lab down: %v", err)
		}
	})
	start, steps := time.Now(), slices.Concat(Chapters()...)
	for i, step := range steps {
		ok := t.Run(step.Title, func(t *testing.T) {
			must.Do(t, s.take(t.Context(), i+1, step))
		})
		if !ok {
			t.FailNow() // the later steps build on this one
		}
	}
	s.end(len(steps), time.Since(start))
	wantDrawn(t, said.String())
}

// wantDrawn compares the README's picture with what the story said just now.
func wantDrawn(t *testing.T, said string) {
	t.Helper()
	const path = root + "/docs/images/demo.svg"
	drawn := picture.Of(said, len(Steps()))
	if *update {
		must.Do(t, os.WriteFile(path, []byte(drawn), 0o644))
	}
	if diff := cmp.Diff(string(must.Get(os.ReadFile(path))(t)), drawn); diff != "" {
		t.Errorf("docs/images/demo.svg shows another story than the demo tells (-picture +demo); "+
			"make build localkube && go test -count=1 -run '^TestStory$' ./test/e2e -update draws it anew:\n%s", diff)
	}
}
