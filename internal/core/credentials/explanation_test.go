package credentials_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/declared"
)

func TestEveryReasonIsExplainedOnce(t *testing.T) {
	reasons := declared.Reasons(t)
	if len(reasons) < 40 {
		t.Errorf("read %d reasons, expected all of them", len(reasons))
	}
	if err := credentials.Reference.Check(reasons); err != nil {
		t.Error(err)
	}
}
