package credentials

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestWhoComesFirstCounts: nobody who comes later gets before who was counted.
func TestWhoComesFirstCounts(t *testing.T) {
	var o order
	name := func(text string) types.NamespacedName { return types.NamespacedName{Namespace: "shop", Name: text} }
	add := func(text string, created int64) { o.set(mark{name(text), 0, created}, true) }
	add("m", 10)
	add("z", 5)
	add("a", 10) // of the same second, seen later
	o.set(mark{types.NamespacedName{Namespace: "other", Name: "x"}, 0, 1}, true)
	check := func(want map[string]int) {
		t.Helper()
		for each, count := range want {
			if got := o.ahead(name(each)); got != count {
				t.Errorf("%d come before %s, want %d", got, each, count)
			}
		}
	}
	check(map[string]int{"z": 0, "m": 1, "a": 2, "unknown": 3})
	add("m", 10) // it has changed, and is where it was
	check(map[string]int{"z": 0, "m": 1, "a": 2})
	o.note(name("a"), true, false)
	check(map[string]int{"z": 1, "m": 2, "a": 2})
	o.set(mark{name("z"), 0, 5}, false)
	add("z", 20) // made anew
	check(map[string]int{"m": 1, "a": 1, "z": 2})
	o.note(name("a"), false, false)
	for _, each := range []string{"a", "m", "z"} {
		o.set(mark{name(each), 0, 0}, false)
	}
	if o.set(mark{types.NamespacedName{Namespace: "other", Name: "x"}, 0, 1}, false); len(o.ranks)+len(o.states) > 0 {
		t.Errorf("what is left: %v %v", o.ranks, o.states)
	}
}

// TestWhatIsFreedWakesTheNextThatWaits: one at a time, the oldest first, of the same namespace.
func TestWhatIsFreedWakesTheNextThatWaits(t *testing.T) {
	var o order
	name := func(text string) types.NamespacedName { return types.NamespacedName{Namespace: "shop", Name: text} }
	for created, each := range []string{"a", "b", "refused", "c", "d", "e"} {
		o.set(mark{name(each), 0, int64(created)}, true)
	}
	o.set(mark{types.NamespacedName{Namespace: "other", Name: "x"}, 0, 0}, true)
	o.note(types.NamespacedName{Namespace: "other", Name: "x"}, false, true)
	check := func(what string, got []types.NamespacedName, want string) {
		t.Helper()
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []types.NamespacedName{name(want)}) {
			t.Errorf("%s: %v is woken, want %q", what, got, want)
		}
	}
	for _, each := range []string{"a", "b"} {
		check("it gets something", o.note(name(each), true, false), "")
	}
	for _, each := range []string{"e", "d", "c"} {
		check("it is one too many", o.note(name(each), false, true), "")
	}
	check("one that has something goes", o.set(mark{name("a"), 0, 0}, false), "c")
	check("what it had goes, too", o.note(name("a"), false, false), "c")
	check("the next gets something", o.note(name("c"), true, false), "d")
	check("nothing has changed", o.note(name("c"), true, false), "")
	check("one loses what it had", o.note(name("b"), false, false), "d")
	check("one that waits goes", o.set(mark{name("d"), 0, 0}, false), "e")
	check("and its grant", o.note(name("d"), false, false), "e")
	check("the last gets something", o.note(name("e"), true, false), "")
	check("one is made anew", o.set(mark{name("d"), 0, 9}, true), "")
}

// TestAChangeOfTheClusterWakesTheNextThatWaits, by what is followed.
func TestAChangeOfTheClusterWakesTheNextThatWaits(t *testing.T) {
	var woken []string
	k := newKnown(must.Get(FollowedBy(&rest.Config{Host: "https://localhost:1"}))(t), NewMetrics(prometheus.NewRegistry()))
	k.wake = func(r reconcile.Request) { woken = append(woken, r.Name) }
	set := func(name string, created int64, edit func(*v1alpha1.CredentialsGrant)) {
		k.requests.Set(mark{name: types.NamespacedName{Namespace: "shop", Name: name}, created: created})
		g := &v1alpha1.CredentialsGrant{}
		g.Name, g.Spec.Request.Namespace, g.Spec.Request.Name = name, "shop", name
		edit(g)
		k.grants.Set(markOfGrant(g))
	}
	waits := func(g *v1alpha1.CredentialsGrant) {
		g.Status.Conditions = []metav1.Condition{{Type: core.TypeReady, Status: metav1.ConditionFalse, Reason: string(core.ReasonTooManyRequests)}}
	}
	empty := func(*v1alpha1.CredentialsGrant) {}
	has := func(g *v1alpha1.CredentialsGrant) { g.Status.Role = &v1alpha1.GrantedRole{Name: "role"} }
	check := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(woken, want) {
			t.Errorf("%s: %q are woken, want %q", what, woken, want)
		}
		woken = nil
	}
	set("first", 1, has)
	set("second", 2, waits)
	set("third", 3, waits)
	woken = nil
	set("first", 1, empty)
	check("the first has nothing any more", "second")
	k.requests.Delete(mark{name: types.NamespacedName{Namespace: "shop", Name: "first"}})
	check("the first is gone", "second", "first")
	set("second", 2, has)
	check("the second has something", "third")
}
