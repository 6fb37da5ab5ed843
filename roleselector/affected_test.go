package roleselector

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// TestAffectedAreAllWhoseScanDecisionChanges changes selectors, choices, labels
// of namespaces and resources at random, and demands that each resource that the
// scan decides otherwise after a change is among the affected, and that
// Reconsider returns exactly those whose decision differs.
func TestAffectedAreAllWhoseScanDecisionChanges(t *testing.T) {
	d := newDice(*seed)
	changed, affected := 0, 0
	for range max(*cases/4_000, 5) {
		c, a := changeAWorld(t, d, 60)
		changed, affected = changed+c, affected+a
	}
	t.Logf("%d resources changed among %d affected", changed, affected)
	if changed == 0 || affected > 20*changed {
		t.Errorf("%d resources changed among %d affected: the test says little, or Affected scans", changed, affected)
	}
}

func changeAWorld(t *testing.T, d dice, changes int) (changed, affected int) {
	t.Helper()
	w := newWorld(pick(d, "", PolicyDeny))
	resources := NewObjects(w.index)
	for i := range 40 {
		q := d.query(nil)
		resources.Put(Object{q.Group, q.Version, q.Kind, q.Namespace, fmt.Sprint(i)}, q.Labels, q.Choice)
	}
	for range changes {
		before := scanAll(w.naiveWorld, resources)
		change := changeAny(d, w, resources)
		refs := resources.Affected(change)
		after := scanAll(w.naiveWorld, resources)
		for ref := range after {
			if before[ref] != after[ref] && !slices.Contains(refs, ref) {
				t.Fatalf("%+v is not affected by %+v, and changes from %+v to %+v", ref, change, before[ref], after[ref])
			}
		}
		for _, r := range resources.Reconsider(refs) {
			if r.New.Equal(r.Old) {
				t.Fatalf("Reconsider() returns %+v, whose decision stays %+v", r.Object, r.New)
			}
			changed++
		}
		affected += len(refs)
		for ref, want := range after {
			if d, _ := resources.Decision(ref); naivelyOf(d) != want {
				t.Fatalf("the last decision on %+v is %+v, the scan's %+v", ref, naivelyOf(d), want)
			}
		}
	}
	return changed, affected
}

// changeAny changes a selector, a choice, or a namespace.
func changeAny(d dice, w *world, resources *Objects) Change {
	switch name := pick(d, someNames...); d.IntN(6) {
	case 0:
		return resources.PutNamespace(name, d.labels())
	case 1:
		return resources.DeleteNamespace(name)
	}
	return w.change(d)
}

func scanAll(w naiveWorld, resources *Objects) map[Object]naiveDecision {
	decisions := map[Object]naiveDecision{}
	for _, ref := range resources.All() {
		q, _ := resources.Query(ref)
		decisions[ref] = naiveDecide(w, q)
	}
	return decisions
}

func bucket(namespace, name string) Object {
	return Object{Group: s3, Version: "v1alpha1", Kind: "Bucket", Namespace: namespace, Name: name}
}

func TestAChangedSelectorConcernsWhatItSelectedAndWhatItSelects(t *testing.T) {
	index := fullIndex(Options{})
	resources := NewObjects(index)
	for _, namespace := range []string{"old", "new", "other"} {
		resources.PutNamespace(namespace, nil)
		resources.Put(bucket(namespace, "b"), nil, "")
	}
	selecting := func(namespace string) *Selector {
		return Compile(made("a", func(s *spec) { s.NamespaceSelector = names(namespace) }))
	}
	resources.Reconsider(resources.Affected(index.Set(selecting("old"))))
	changed := resources.Reconsider(resources.Affected(index.Set(selecting("new"))))
	got := map[string]Outcome{}
	for _, r := range changed {
		got[r.Object.Namespace] = r.New.Outcome
	}
	if want := (map[string]Outcome{"old": NoSelector, "new": Use}); !maps.Equal(got, want) {
		t.Errorf("reconsidered are %v, want %v", got, want)
	}
	if changed := resources.Reconsider(resources.Affected(index.Delete("a"))); len(changed) != 1 || changed[0].Object != bucket("new", "b") {
		t.Errorf("after the deletion %v are reconsidered, want the bucket of new", changed)
	}
	if refs := resources.Affected(index.Delete("a")); len(refs) != 0 {
		t.Errorf("what is not there concerns %v", refs)
	}
}

func TestNamespaceLabelsConcernOnlyWhereASelectorAsksAboutThem(t *testing.T) {
	index := fullIndex(Options{}, Compile(made("a", namespaceTerm("team", metav1.LabelSelectorOpNotIn, "b"))))
	resources := NewObjects(index)
	resources.PutNamespace("prod", map[string]string{"team": "a"})
	resources.Put(bucket("prod", "b"), nil, "")
	for _, c := range []struct {
		labels map[string]string
		want   int
	}{
		{map[string]string{"team": "a", "cost": "1"}, 0},
		{map[string]string{"team": "b", "cost": "1"}, 1},
		{map[string]string{"cost": "2"}, 1},
		{nil, 0},
	} {
		if got := resources.Affected(resources.PutNamespace("prod", c.labels)); len(got) != c.want {
			t.Errorf("labels %v concern %v, want %d", c.labels, got, c.want)
		}
	}
	if got := resources.Affected(resources.DeleteNamespace("prod")); len(got) != 1 {
		t.Errorf("the deleted namespace concerns %v, want its bucket", got)
	}
	if got, _ := resources.Decision(bucket("prod", "b")); got.Outcome != Use {
		t.Errorf("the last decision is %s, want Use until it is reconsidered", got.Outcome)
	}
}

func TestAResourceThatArrivesBeforeItsNamespaceWaitsForIt(t *testing.T) {
	index := fullIndex(Options{}, Compile(made("a", namespaceTerm("team", metav1.LabelSelectorOpIn, "a"))))
	resources := NewObjects(index)
	if got, changed := resources.Put(bucket("prod", "b"), nil, ""); got.Outcome != NotYetKnown || !changed {
		t.Errorf("Put() = %s, %t, want NotYetKnown and true", got.Outcome, changed)
	}
	changed := resources.Reconsider(resources.Affected(resources.PutNamespace("prod", map[string]string{"team": "a"})))
	if len(changed) != 1 || changed[0].New.Outcome != Use {
		t.Errorf("the namespace leads to %+v, want Use", changed)
	}
	if _, changed := resources.Put(bucket("prod", "b"), nil, ""); changed {
		t.Error("Put() of the same resource changes the decision")
	}
	if got, changed := resources.Put(bucket("prod", "b"), nil, "z"); got.Reason != ReasonChoiceNotPermitted || !changed {
		t.Errorf("Put() with an annotation = %s, %t", got.Reason, changed)
	}
}

func TestAResourceOfTheClusterHasNoNamespaceToWaitFor(t *testing.T) {
	resources := NewObjects(fullIndex(Options{}, Compile(made("a", namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist)))))
	if got, _ := resources.Put(bucket("", "b"), nil, ""); got.Outcome != Use {
		t.Errorf("Put() = %s, want Use", got.Outcome)
	}
}

func TestObjectsThatAreEmptiedHoldNothing(t *testing.T) {
	d := newDice(4)
	resources := NewObjects(fullIndex(Options{}))
	for range 500 {
		q := d.query(nil)
		resources.PutNamespace(q.Namespace, d.labels())
		resources.Put(bucket(q.Namespace, fmt.Sprint(d.IntN(30))), q.Labels, "")
	}
	for _, ref := range resources.All() {
		resources.Delete(ref)
		resources.Delete(ref)
	}
	for _, name := range someNames {
		resources.DeleteNamespace(name)
		resources.DeleteNamespace(name)
	}
	left := len(resources.byRef) + len(resources.namespaces) + len(resources.unknown) + len(resources.labelled) +
		len(resources.labelledNamespaces) + len(resources.kinds)
	if left != 0 {
		t.Errorf("%d entries are left in %+v", left, resources)
	}
}

func TestAffectedLooksOnlyWhereASelectorLeads(t *testing.T) {
	resources := fill(fullIndex(Options{}), 5_000)
	for name, c := range map[string]struct {
		change func(*spec)
		most   int
	}{
		"a name":            {func(s *spec) { s.NamespaceSelector = names(namespaceName(3)) }, 30},
		"a namespace label": {namespaceTerm("team", metav1.LabelSelectorOpIn, "team-1"), 150},
		"the rarer label": {func(s *spec) {
			s.NamespaceSelector = namesAndLabels(nil, map[string]string{"team": "team-1", "env": "env-1"})
		}, 150},
		"a resource label": {func(s *spec) {
			s.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "app-1"}}
		}, 60},
		"an absent label": {namespaceTerm("env", metav1.LabelSelectorOpNotIn, "env-0", "env-1", "env-2"), 2_000},
		"a type":          {typed(v1alpha1.ResourceType{Group: groupName(1), Kind: "Kind1"}), 100},
	} {
		looked := 0
		for range resources.candidates(Compile(made("a", c.change))) {
			looked++
		}
		if looked == 0 || looked > c.most {
			t.Errorf("%s leads to %d of 5,000 resources, want at most %d", name, looked, c.most)
		}
	}
}
