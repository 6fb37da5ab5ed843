package selectorreport

import (
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// known are selectors and namespaces as they have been followed.
type known struct {
	index      *roleselector.Index
	namespaces map[string]map[string]string
}

func (k known) Index() *roleselector.Index { return k.index }

func (k known) Subject(_ schema.GroupVersionKind, object client.Object) roleselector.Subject {
	return roleselector.Subject{
		NamespaceUID: "known", NamespaceLabels: k.namespaces[object.GetNamespace()],
		Labels: maps.Clone(object.GetLabels()), // as those that follow a cluster do
	}
}

// BenchmarkCycle decides on all resources once and compares with what is stored, as
// is done every few seconds: ten kinds in a hundred namespaces, each of them a team's
// with a selector of its own; half of the selectors go by names and half by labels.
func BenchmarkCycle(b *testing.B) {
	for _, size := range []struct{ resources, selectors int }{{10_000, 100}, {10_000, 1_000}, {100_000, 100}} {
		b.Run(fmt.Sprintf("resources=%d/selectors=%d", size.resources, size.selectors), func(b *testing.B) {
			c := populated(b, size.resources, size.selectors)
			stored := map[string]*v1alpha1.IAMRoleSelectorReport{}
			for name, status := range c.decide() {
				owner := metav1.OwnerReference{UID: status.SelectorUID}
				stored[name] = &v1alpha1.IAMRoleSelectorReport{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner}}, Status: status}
			}
			if used := stored["s0"].Status.Used; len(stored) != size.selectors || used == 0 {
				b.Fatalf("%d reports, s0 is used by %d; want %d, and that it is used", len(stored), used, size.selectors)
			}
			b.ReportAllocs()
			for b.Loop() {
				for name, status := range c.decide() {
					if !isCurrent(stored[name], status) {
						b.Fatalf("the report of %s is another: %+v", name, status)
					}
				}
			}
		})
	}
}

func populated(tb testing.TB, resources, selectors int) *Controller {
	tb.Helper()
	index := roleselector.NewIndex(roleselector.Options{})
	for i := range selectors {
		index.Set(roleselector.Compile(teamSelector(i)))
	}
	index.MarkSynced(roleselector.Everything)
	teams := known{index: index, namespaces: map[string]map[string]string{}}
	for i := range 100 {
		teams.namespaces[fmt.Sprintf("n%d", i)] = map[string]string{"team": fmt.Sprintf("t%d", i), "tier": "prod"}
	}
	c := &Controller{options: Options{Selectors: teams}, kinds: &kinds{followed: map[schema.GroupVersionResource]*followed{}}}
	for k := range 10 {
		kind := schema.GroupVersionKind{Group: fmt.Sprintf("g%d.services.k8s.aws", k), Version: "v1alpha1", Kind: "Thing"}
		resource := kind.GroupVersion().WithResource("things")
		objects := newStore()
		for i := range resources / 10 {
			objects.Set(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: fmt.Sprintf("n%d", i%100), Name: fmt.Sprintf("r%d", i), Labels: map[string]string{"app": "x", "tier": "prod"},
			}})
		}
		c.kinds.followed[resource] = &followed{kind: kind, objects: objects}
	}
	return c
}

func teamSelector(i int) *services.IAMRoleSelector {
	name := fmt.Sprintf("s%d", i)
	s := &services.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec:       &services.IAMRoleSelectorSpec{ARN: "arn:aws:iam::111122223333:role/" + name},
	}
	if i%2 == 0 {
		s.Spec.NamespaceSelector = &services.NamespaceSelector{Names: []string{fmt.Sprintf("n%d", i)}}
	} else {
		s.Spec.NamespaceSelector = &services.NamespaceSelector{LabelSelector: &services.LabelSelector{
			MatchLabels: map[string]string{"team": fmt.Sprintf("t%d", i)},
		}}
	}
	return s
}
