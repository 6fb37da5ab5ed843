package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/testkit/worked"
)

// TestReasonPageExplainsEachReasonOnce adds the worked example's kind, which the program
// does not know, by its list alone. The two kinds have a reason in common.
func TestReasonPageExplainsEachReasonOnce(t *testing.T) {
	second := worked.Reference
	second.Reasons = append(slices.Clip(second.Reasons), condition.Explain(explained[0].Reasons[0].Reason, "Ready", "It is.", "Leave it."))
	kinds := append(explained[:1:1], second)
	parts := strings.Split(reasonPage(kinds), "\n## ")
	if len(parts) != len(kinds)+1 {
		t.Fatalf("the page has %d sections, want one for each of %d kinds", len(parts)-1, len(kinds))
	}
	for i, kind := range kinds {
		part := parts[i+1]
		if !strings.HasPrefix(part, kind.Name+"\n") {
			t.Errorf("section %d is not that of %s", i, kind.Name)
		}
		for _, e := range kind.Reasons {
			if got := strings.Count(part, "\n### "+string(e.Reason)+"\n"); got != 1 {
				t.Errorf("%s: reason %s has %d sections, want 1", kind.Name, e.Reason, got)
			}
			if !strings.Contains(part, "- What to do: "+e.Remedy+"\n") {
				t.Errorf("%s: the remedy of %s is not on the page", kind.Name, e.Reason)
			}
		}
	}
}
