package roleselector

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// choiceOf is a choice in the namespace prod.
func choiceOf(name, selector string) *Choice {
	return CompileChoice(&identityv1alpha1.IAMRoleChoice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name},
		Spec:       identityv1alpha1.IAMRoleChoiceSpec{SelectorRef: identityv1alpha1.SelectorRef{Name: selector}},
	})
}

// TestReadersSeeAllOfAReplacementOrNothing lets readers decide while all choices
// are exchanged for others, again and again. One choice more or less than those of
// one reading makes another decision.
func TestReadersSeeAllOfAReplacementOrNothing(t *testing.T) {
	const readers, most = 3, 3_000
	offered := func(name string) *Selector {
		return Compile(made(name, func(s *spec) { s.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable} }))
	}
	index := fullIndex(Options{NoSelector: PolicyDeny}, offered("a"), offered("b"))
	readings := [][]*Choice{{choiceOf("first", "a")}, {choiceOf("second", "b")}}
	for i := range 50 { // so that a replacement takes its time
		other := CompileChoice(&identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint(i), Name: "c"}})
		readings[0] = append(readings[0], other)
		readings[1] = slices.Insert(readings[1], 0, other)
	}
	index.ReplaceChoices(readings[0])
	stop := make(chan struct{})
	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				d := index.Decide(Query{Namespace: "prod", NamespaceKnown: true, Group: s3, Version: "v1alpha1", Kind: "Bucket"})
				if d.Outcome != Use {
					t.Errorf("a reader is told %s, %s while one choice is exchanged for another", d.Outcome, d.Reason)
					return
				}
			}
		})
	}
	for i := range most {
		index.ReplaceChoices(readings[i%2])
	}
	close(stop)
	reading.Wait()
	if all := index.AllChoices(); len(all) != 51 || index.choices["prod"][0].name != "second" {
		t.Errorf("%d choices are left, and prod has %v", len(all), index.choices["prod"])
	}
}

func TestReplacedChoicesAreSortedAndTheLaterCounts(t *testing.T) {
	index := NewIndex(Options{})
	index.SetChoice(choiceOf("gone", "x"))
	index.ReplaceChoices([]*Choice{choiceOf("c", "1"), choiceOf("a", "2"), choiceOf("b", "3"), choiceOf("a", "4")})
	var got []string
	for _, c := range index.AllChoices() {
		got = append(got, c.Namespace()+"/"+c.Name()+"="+c.selector)
	}
	if want := []string{"prod/a=4", "prod/b=3", "prod/c=1"}; !slices.Equal(got, want) {
		t.Errorf("the choices are %v, want %v", got, want)
	}
	index.ReplaceChoices(nil)
	if all := index.AllChoices(); len(all) != 0 || len(index.choices) != 0 {
		t.Errorf("all are replaced by none, and %v are left", all)
	}
}
