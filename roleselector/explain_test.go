package roleselector

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

func TestExplainSaysWhichCriterionFails(t *testing.T) {
	for name, c := range map[string]struct {
		change       func(*spec)
		query        func(*Query)
		failed       string
		wanted, seen string
	}{
		"the name": {func(s *spec) { s.NamespaceSelector = names("dev", "test") }, nil, "NamespaceName", "dev, test", "prod"},
		"the first failing term": {func(s *spec) {
			s.NamespaceSelector = namesAndLabels(nil, map[string]string{"env": "p", "team": "b"})
		}, nil, "NamespaceLabels", "team=b", "team=a"},
		"a label that is absent":      {namespaceTerm("owner", metav1.LabelSelectorOpIn, "a", "b"), nil, "NamespaceLabels", "owner in (a, b)", "no owner"},
		"a label that must be absent": {namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist), nil, "NamespaceLabels", "!team", "team=a"},
		"a value that must not be":    {namespaceTerm("team", metav1.LabelSelectorOpNotIn, "a"), nil, "NamespaceLabels", "team notin (a)", "team=a"},
		"a key that must be":          {namespaceTerm("owner", metav1.LabelSelectorOpExists), nil, "NamespaceLabels", "owner", "no owner"},
		"the type":                    {typed(v1alpha1.ResourceType{Group: rds}, v1alpha1.ResourceType{Kind: "Key"}), nil, "Type", rds + "/* *, */* Key", s3 + "/v1alpha1 Bucket"},
		"the group is not named":      {nil, inTabard, "Type", "any (kinds of this group are selected only by its name)", "identity.tabard.dev/v1alpha1 Bucket"},
		"the resource's label": {func(s *spec) {
			s.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "y"}}
		}, nil, "ResourceLabels", "app=y", "app=x"},
	} {
		t.Run(name, func(t *testing.T) {
			q := bucketInProd()
			if c.query != nil {
				c.query(&q)
			}
			got := fullIndex(Options{}, Compile(made("one", c.change))).Explain(q)
			row := got.Selectors[0]
			failed := row.Failed()
			if row.Selects != No || failed == nil || failed.Name != c.failed || failed.Wanted != c.wanted || failed.Seen != c.seen {
				t.Errorf("Selects = %s, failed is %+v, want %s: wanted %q, seen %q", row.Selects, failed, c.failed, c.wanted, c.seen)
			}
			if got.Decision.Outcome != NoSelector {
				t.Errorf("the decision is %s, want NoSelector", got.Decision.Outcome)
			}
		})
	}
}

func TestExplainSaysWhatIsNotKnownYet(t *testing.T) {
	q := bucketInProd()
	unseen(&q)
	got := fullIndex(Options{}, Compile(made("one", namespaceTerm("team", metav1.LabelSelectorOpIn, "a")))).Explain(q)
	row := got.Selectors[0]
	if want := (Criterion{"NamespaceLabels", Unknown, "team=a", "not known yet"}); row.Criteria[1] != want || row.Failed() != nil || row.Selects != Unknown {
		t.Errorf("%s, %+v, want %+v", row.Selects, row.Criteria[1], want)
	}
}

// TestExplainAgreesWithMatch holds the criteria against the matches: a selector
// selects as much as the least of its criteria says.
func TestExplainAgreesWithMatch(t *testing.T) {
	d := newDice(11)
	w, namespaces := newWorld(""), d.namespaces()
	for range 3_000 {
		w.change(d)
		q := d.query(namespaces)
		selecting := map[string]bool{}
		matches, _ := w.index.Match(q, nil)
		for _, s := range matches {
			selecting[s.Reference().Name] = true
		}
		explanation := w.index.Explain(q)
		if len(explanation.Selectors) != len(w.selectors) || !explanation.Decision.Equal(w.index.Decide(q)) {
			t.Fatalf("Explain() has %d selectors and %s, want %d and %s",
				len(explanation.Selectors), explanation.Decision.Outcome, len(w.selectors), w.index.Decide(q).Outcome)
		}
		last := ""
		for _, row := range explanation.Selectors {
			least := Yes
			for _, criterion := range row.Criteria {
				least = min(least, criterion.Holds)
			}
			name := row.Selector.Name
			selects := selecting[name] && !w.index.Get(name).namesNothing()
			if row.Selects != least || (least == Yes) != selects || (row.Failed() != nil) != (least == No) || name <= last {
				t.Fatalf("after %s the row is %+v, want it to select: %t", last, row, selects)
			}
			last = name
		}
	}
}
