package kube

import (
	"os"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// conflictsOf is what the metrics say of a kind.
func conflictsOf(t *testing.T, kind string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "ack_iam_role_selector_conflicts" && metric.GetLabel()[0].GetValue() == kind {
				return metric.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("the metrics say nothing of %s", kind)
	return 0
}

func TestConflictsAreCountedUntilTheyEnd(t *testing.T) {
	s, by := followed(t)
	for _, f := range by {
		f.read(t)
	}
	const kind = "Bucket.s3.services.k8s.aws"
	before := conflictsOf(t, kind)
	expect := func(what string, want float64) {
		t.Helper()
		if got := conflictsOf(t, kind) - before; got != want {
			t.Errorf("%s: %v conflicts, want %v", what, got, want)
		}
	}
	everywhere := func(name string) *v1alpha1.IAMRoleSelector {
		return &v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: &v1alpha1.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::111111111111:role/" + name,
		}}
	}
	object := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name}}
	}
	turns := newTurns()
	look := func() {
		for _, w := range s.waves.take() {
			s.look(w, turns)
		}
	}
	by[roleselector.Selectors].Set(everywhere("one"))
	by[roleselector.Selectors].Set(everywhere("two"))
	s.Decide(bucketKind, object("a"))
	s.Decide(bucketKind, object("a"))
	s.Decide(bucketKind, object("b"))
	expect("two resources, one decided on twice", 2)
	s.Forget(bucketKind, client.ObjectKey{Namespace: "prod", Name: "b"})
	s.Forget(bucketKind, client.ObjectKey{Namespace: "prod", Name: "never-seen"})
	expect("one is gone", 1)
	look()
	by[roleselector.Selectors].Delete(everywhere("two"))
	look()
	expect("one selector is gone", 0)
}

func TestAKindThatWasNotNamedIsNotDecidedOn(t *testing.T) {
	s, by := followed(t)
	for _, f := range by {
		f.read(t)
	}
	other := schema.GroupVersionKind{Group: "rds.services.k8s.aws", Version: "v1alpha1", Kind: "DBInstance"}
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "a"}}
	d := s.Decide(other, object)
	if d.Outcome != roleselector.Invalid || d.MayCallAWS() || !strings.Contains(d.Message(), "is not among the kinds") {
		t.Errorf("it decides %s: %s", d.Outcome, d.Message())
	}
	if err := s.Source(other).Start(t.Context(), nil); err == nil {
		t.Error("it can be woken")
	}
}

func TestUpdatesPassThatADecisionMayDependOn(t *testing.T) {
	s, _ := followed(t)
	old := metav1.ObjectMeta{Generation: 1, UID: "u", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"x": "y"}}
	now := metav1.Now()
	for name, each := range map[string]struct {
		change func(*metav1.ObjectMeta)
		want   bool
	}{
		"a status":           {func(o *metav1.ObjectMeta) { o.ResourceVersion = "2" }, false},
		"another annotation": {func(o *metav1.ObjectMeta) { o.Annotations = map[string]string{"x": "z"} }, false},
		"a generation":       {func(o *metav1.ObjectMeta) { o.Generation = 2 }, true},
		"a label":            {func(o *metav1.ObjectMeta) { o.Labels = nil }, true},
		"a choice":           {func(o *metav1.ObjectMeta) { o.Annotations = map[string]string{v1alpha1.ChoiceAnnotation: "a"} }, true},
		"a deletion":         {func(o *metav1.ObjectMeta) { o.DeletionTimestamp = &now }, true},
		"another object":     {func(o *metav1.ObjectMeta) { o.UID = "v" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			changed := old
			each.change(&changed)
			update := event.UpdateEvent{ObjectOld: &metav1.PartialObjectMetadata{ObjectMeta: old}, ObjectNew: &metav1.PartialObjectMetadata{ObjectMeta: changed}}
			if got := s.Predicate().Update(update); got != each.want {
				t.Errorf("it passes: %t, want %t", got, each.want)
			}
		})
	}
	if p := s.Predicate(); !p.Create(event.CreateEvent{}) || !p.Delete(event.DeleteEvent{}) {
		t.Error("creations and deletions do not pass")
	}
}

// TestThePagesMetrics looks for those that the page for authors names.
func TestThePagesMetrics(t *testing.T) {
	followed(t) // it makes the series
	text, err := os.ReadFile("../../docs/role-selectors-for-authors.md")
	if err != nil {
		t.Fatal(err)
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, family := range families {
		served[family.GetName()] = true
	}
	named := regexp.MustCompile("`((?:ack|tabard)_[a-z_]+)").FindAllStringSubmatch(string(text), -1)
	if len(named) != 4 {
		t.Fatalf("the page names %d metrics; the test knows 4", len(named))
	}
	for _, name := range named {
		if !served[name[1]] {
			t.Errorf("nothing serves %s", name[1])
		}
	}
}
