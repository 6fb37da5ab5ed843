package kube

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// everything is a selector of everything, with a role.
func everything(name string, generation int64, change func(*v1alpha1.IAMRoleSelectorSpec)) *roleselector.Selector {
	object := &v1alpha1.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("of-" + name), Generation: generation},
		Spec:       &v1alpha1.IAMRoleSelectorSpec{ARN: "arn:aws:iam::111111111111:role/team"},
	}
	if change != nil {
		change(object.Spec)
	}
	return roleselector.Compile(object)
}

// TestAGuardSaysWhetherThePassMayGoOn: what changes who may be, or whether anybody may,
// ends a pass; what changes nothing for it does not.
func TestAGuardSaysWhetherThePassMayGoOn(t *testing.T) {
	deny := func(s *v1alpha1.IAMRoleSelectorSpec) { s.ARN, s.Effect = "", v1alpha1.Deny }
	elsewhere := func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{"dev"}}
	}
	for name, c := range map[string]struct {
		change   func(*Selectors)
		deleting bool
		want     string
	}{
		"nothing":                      {func(*Selectors) {}, false, ""},
		"a denial":                     {func(s *Selectors) { s.index.Set(everything("no", 1, deny)) }, false, "Denied"},
		"a denial, of what is deleted": {func(s *Selectors) { s.index.Set(everything("no", 1, deny)) }, true, "Denied"},
		"a conflict":                   {func(s *Selectors) { s.index.Set(everything("b", 1, nil)) }, false, "Conflict"},
		"a conflict over what is deleted with the role on record": {func(s *Selectors) { s.index.Set(everything("b", 1, nil)) }, true, ""},
		"it is gone":                       {func(s *Selectors) { s.index.Delete("a") }, false, "AccountMismatch"},
		"it is gone, of what is deleted":   {func(s *Selectors) { s.index.Delete("a") }, true, "SelectorGone"},
		"it says something else":           {func(s *Selectors) { s.index.Set(everything("a", 2, nil)) }, false, "Selected"},
		"it says something else elsewhere": {func(s *Selectors) { s.index.Set(everything("b", 1, elsewhere)) }, false, ""},
		"another version of it":            {func(s *Selectors) { s.index.Set(everything("a", 1, nil)) }, false, ""},
		"the API server is silent":         {func(s *Selectors) { s.index.MarkStale(roleselector.Selectors) }, false, "NotSynced"},
		"the namespace's labels":           {func(s *Selectors) { s.objects.DeleteNamespace("prod") }, false, ""},
		"the resource is gone":             {func(s *Selectors) { s.objects.Delete(s.objects.All()[0]) }, false, "not known any longer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, by := followed(t)
			for _, f := range by {
				f.read(t)
			}
			s.index.Set(everything("a", 1, nil))
			object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "data"}}
			situation := roleselector.Situation{Decision: s.Decide(bucketKind, object), Deleting: c.deleting, Recorded: roleselector.Recorded{
				Account: "111111111111", Selector: "a", SelectorUID: "of-a",
			}}
			situation.LastUsed = s.LastUsed(bucketKind, object, situation.Recorded)
			mayCall := s.Guard(bucketKind, object, situation)
			if err := mayCall(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(s)
			switch err := mayCall(); {
			case c.want == "" && err != nil:
				t.Errorf("it ends the pass: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("it says %v, want %q", err, c.want)
			}
		})
	}
}

// BenchmarkAGuardIsAsked among a thousand selectors of other namespaces.
func BenchmarkAGuardIsAsked(b *testing.B) {
	s := newSelectors(Options{Kinds: []schema.GroupVersionKind{bucketKind}}, logs{func(string, ...any) {}, func(string, ...any) {}})
	s.index.MarkSynced(roleselector.Everything)
	for i := range 1_000 {
		s.index.Set(everything(fmt.Sprint("s", i), 1, func(s *v1alpha1.IAMRoleSelectorSpec) {
			s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{fmt.Sprint("n", i)}}
		}))
	}
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "n7", Name: "data"}}
	situation := roleselector.Situation{Decision: s.Decide(bucketKind, object), Recorded: roleselector.Recorded{
		Account: "111111111111", Selector: "s7", SelectorUID: "of-s7",
	}}
	situation.LastUsed = s.LastUsed(bucketKind, object, situation.Recorded)
	mayCall := s.Guard(bucketKind, object, situation)
	for b.Loop() {
		if err := mayCall(); err != nil {
			b.Fatal(err)
		}
	}
}
