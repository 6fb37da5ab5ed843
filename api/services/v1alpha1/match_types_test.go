package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestACopyOfALabelSelectorSharesNothing: that copy is written by hand.
func TestACopyOfALabelSelectorSharesNothing(t *testing.T) {
	made := func() *LabelSelector {
		return &LabelSelector{
			MatchLabels:      map[string]string{"a": "b"},
			MatchExpressions: []LabelRequirement{{Key: "c", Operator: "In", Values: []string{"d"}}},
		}
	}
	original := made()
	duplicate := original.DeepCopy()
	if diff := cmp.Diff(made(), duplicate); diff != "" {
		t.Errorf("the copy is another (-want +got):\n%s", diff)
	}
	duplicate.MatchLabels["a"] = "x"
	duplicate.MatchExpressions[0].Key = "x"
	duplicate.MatchExpressions[0].Values[0] = "x"
	if diff := cmp.Diff(made(), original); diff != "" {
		t.Errorf("a change of the copy changed the original (-want +got):\n%s", diff)
	}
	if got := (*LabelSelector)(nil).DeepCopy(); got != nil {
		t.Errorf("the copy of nil is %v", got)
	}
	if got := (&LabelSelector{}).DeepCopy(); got.MatchLabels != nil || got.MatchExpressions != nil {
		t.Errorf("the copy of an empty one has parts: %v", got)
	}
}
