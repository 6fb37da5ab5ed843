package must_test

import (
	"errors"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ended is a test that notes what it ends with.
type ended struct {
	testing.TB
	with []any
}

func (*ended) Helper() {}

func (e *ended) Fatal(args ...any) { e.with = append(e.with, args...) }

func TestAStepThatFailedEndsTheTest(t *testing.T) {
	refused := errors.New("refused")
	var by ended
	must.Do(&by, nil)
	if got := must.Get("made", nil)(&by); got != "made" || len(by.with) > 0 {
		t.Errorf("what went well gave %q, and ended with %v", got, by.with)
	}
	must.Do(&by, refused)
	must.Get("made", refused)(&by)
	if len(by.with) != 2 || by.with[0] != refused || by.with[1] != refused { //nolint:errorlint // the very error
		t.Errorf("two failures ended with %v", by.with)
	}
}
