package hubaccess_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/declared"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestEveryReasonIsExplainedOnce(t *testing.T) {
	must.Do(t, hubaccess.Reference().Check(declared.Reasons(t)))
}
