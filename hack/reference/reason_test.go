package main

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestReasonPageExplainsEachReasonOnce(t *testing.T) {
	page := reasonPage(issuer.Reasons)
	for _, e := range issuer.Reasons {
		if got := strings.Count(page, "\n## "+string(e.Reason)+"\n"); got != 1 {
			t.Errorf("reason %s has %d sections, want 1", e.Reason, got)
		}
		if !strings.Contains(page, "- What to do: "+e.Remedy+"\n") {
			t.Errorf("the remedy of %s is not on the page", e.Reason)
		}
	}
}
