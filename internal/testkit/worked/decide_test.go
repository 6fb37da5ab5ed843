package worked_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/declared"
	"github.com/tabard-dev/tabard/internal/testkit/worked"
)

// TestTheReferenceIsComplete is what a kind's package in internal/core has.
func TestTheReferenceIsComplete(t *testing.T) {
	if err := worked.Reference.Check(declared.Reasons(t)); err != nil {
		t.Error(err)
	}
}
