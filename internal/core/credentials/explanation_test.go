package credentials_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/declared"
)

func TestEveryReasonIsExplainedOnce(t *testing.T) {
	reasons := declared.Reasons(t)
	if len(reasons) < 40 {
		t.Errorf("read %d reasons, expected all of them", len(reasons))
	}
	// A CredentialsBoundary has its own, and shares some of a grant's.
	var ofBoundary []condition.Reason
	for _, e := range credentials.BoundaryReference.Reasons {
		ofBoundary = append(ofBoundary, e.Reason)
	}
	ofGrant := slices.DeleteFunc(slices.Clone(reasons), func(r condition.Reason) bool { return r == credentials.ReasonIssuerNotKept })
	if err := errors.Join(credentials.Reference.Check(ofGrant), credentials.BoundaryReference.Check(ofBoundary)); err != nil {
		t.Error(err)
	}
}
