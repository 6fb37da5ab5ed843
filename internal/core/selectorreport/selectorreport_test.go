package selectorreport_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/selectorreport"
	"github.com/tabard-dev/tabard/roleselector"
)

const group = "s3.services.k8s.aws"

// world is an index with objects, as a controller has them.
type world struct {
	index   *roleselector.Index
	objects *roleselector.Objects
}

func newWorld(selectors ...*services.IAMRoleSelector) world {
	index := roleselector.NewIndex(roleselector.Options{})
	for _, s := range selectors {
		index.Set(roleselector.Compile(s))
	}
	index.MarkSynced(roleselector.Everything)
	return world{index, roleselector.NewObjects(index)}
}

func (w world) put(namespace string, names ...string) {
	w.objects.PutNamespace(namespace, nil)
	for _, name := range names {
		w.objects.Put(roleselector.Object{Group: group, Version: "v1alpha1", Kind: "Bucket", Namespace: namespace, Name: name}, nil, "")
	}
}

func (w world) decisions() iter.Seq2[roleselector.Object, roleselector.Decision] {
	return func(yield func(roleselector.Object, roleselector.Decision) bool) {
		for _, ref := range w.objects.All() {
			if d, _ := w.objects.Decision(ref); !yield(ref, d) {
				return
			}
		}
	}
}

func (w world) reports() map[string]v1alpha1.IAMRoleSelectorReportStatus {
	return core.Reports(w.index.All(), w.decisions())
}

func selector(name string, change func(*services.IAMRoleSelectorSpec), namespaces ...string) *services.IAMRoleSelector {
	s := &services.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 4},
		Spec: &services.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::111122223333:role/" + name, NamespaceSelector: &services.NamespaceSelector{Names: namespaces},
		},
	}
	if change != nil {
		change(s.Spec)
	}
	return s
}

func TestReportsCountForEachSelectorWhatBecameOfItsResources(t *testing.T) {
	w := newWorld(
		selector("a", nil, "a", "both"), selector("b", nil, "both"), selector("idle", nil, "nowhere"),
		selector("deny", func(s *services.IAMRoleSelectorSpec) { s.Effect, s.ARN = services.Deny, "" }, "denied"),
		selector("broken", func(s *services.IAMRoleSelectorSpec) { s.ARN = "foo" }, "broken"),
	)
	w.put("a", "1", "2", "3")
	w.put("both", "1", "2")
	w.put("denied", "1")
	w.put("broken", "1")
	w.put("free", "1")
	buckets := func(namespace string, n v1alpha1.SelectorCounts) v1alpha1.ReportedResources {
		return v1alpha1.ReportedResources{Group: group, Kind: "Bucket", Namespace: namespace, SelectorCounts: n}
	}
	report := func(name string, n v1alpha1.SelectorCounts, resources ...v1alpha1.ReportedResources) v1alpha1.IAMRoleSelectorReportStatus {
		return v1alpha1.IAMRoleSelectorReportStatus{
			SelectorUID: types.UID("uid-" + name), SelectorGeneration: 4, SelectorCounts: n, Resources: resources,
		}
	}
	used, conflicts, denied := v1alpha1.SelectorCounts{Used: 3}, v1alpha1.SelectorCounts{Conflicts: 2}, v1alpha1.SelectorCounts{Denied: 1}
	want := map[string]v1alpha1.IAMRoleSelectorReportStatus{
		"a":      report("a", v1alpha1.SelectorCounts{Used: 3, Conflicts: 2}, buckets("a", used), buckets("both", conflicts)),
		"b":      report("b", conflicts, buckets("both", conflicts)),
		"idle":   report("idle", v1alpha1.SelectorCounts{}),
		"deny":   report("deny", denied, buckets("denied", denied)),
		"broken": report("broken", denied, buckets("broken", denied)),
	}
	if diff := cmp.Diff(want, w.reports()); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestAReportListsThePlacesWithMostResourcesAndSaysThatThereAreMore(t *testing.T) {
	w := newWorld(selector("a", nil))
	for n := range v1alpha1.MaxReportedResources + 1 {
		w.put(fmt.Sprintf("n%03d", n), "1")
	}
	w.put("n100", "2")
	got := w.reports()["a"]
	if !got.Truncated || len(got.Resources) != v1alpha1.MaxReportedResources || got.Used != v1alpha1.MaxReportedResources+2 {
		t.Errorf("truncated %v, %d places, %d used; want true, %d, %d", got.Truncated, len(got.Resources), got.Used,
			v1alpha1.MaxReportedResources, v1alpha1.MaxReportedResources+2)
	}
	var first []string
	for _, r := range got.Resources[:3] {
		first = append(first, r.Namespace)
	}
	if want := []string{"n100", "n000", "n001"}; !slices.Equal(first, want) {
		t.Errorf("the first places are %q, want %q", first, want)
	}
}

func TestWhatIsNotDecidedOrNamesASelectorThatIsGoneCountsNowhere(t *testing.T) {
	w := newWorld(selector("a", nil, "a"), selector("gone", nil, "b"))
	w.put("a", "1")
	w.put("b", "1")
	w.index.Delete("gone")
	w.index.MarkStale(roleselector.Selectors)
	w.put("a", "2")
	want := map[string]v1alpha1.IAMRoleSelectorReportStatus{"a": {
		SelectorUID: "uid-a", SelectorGeneration: 4, SelectorCounts: v1alpha1.SelectorCounts{Used: 1},
		Resources: []v1alpha1.ReportedResources{{Group: group, Kind: "Bucket", Namespace: "a", SelectorCounts: v1alpha1.SelectorCounts{Used: 1}}},
	}}
	if diff := cmp.Diff(want, w.reports()); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}
