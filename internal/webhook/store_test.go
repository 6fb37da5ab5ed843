package webhook

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	withRoleName = "eks.amazonaws.com/role-arn"
	withRole     = map[string]string{"eks.amazonaws.com/role-arn": role}
	app          = types.NamespacedName{Namespace: "shop", Name: "app"}
)

// seen is an object as it is read off the wire.
func seen(t testing.TB, of kept) object {
	t.Helper()
	message := must.Get(opened(encode(t, of)))(t)
	read := must.Get(readObject(message))(t)
	return read
}

// filled is a store that is watched and holds these.
func filled(t testing.TB, all ...*corev1.ServiceAccount) *store {
	t.Helper()
	known := newStore(newInterest("eks.amazonaws.com/role-arn"))
	relist(t, known, "100", all...)
	known.watching(true)
	return known
}

func relist(t testing.TB, known *store, version string, all ...*corev1.ServiceAccount) {
	t.Helper()
	known.begin()
	for _, one := range all {
		event(t, known.put, one)
	}
	known.listed(version)
}

func event(t testing.TB, call func(object) error, of *corev1.ServiceAccount) {
	t.Helper()
	must.Do(t, call(seen(t, of)))
}

// expect asks the store for shop/app.
func expect(t *testing.T, known *store, when string, wantCertain bool, want ...string) {
	t.Helper()
	found, _, certain := known.get(app, withRoleName)
	var got []string
	if found != nil {
		got = found.annotations
	}
	if diff := cmp.Diff(want, got); diff != "" || certain != wantCertain {
		t.Errorf("%s: certain is %t, want %t; (-want +got):\n%s", when, certain, wantCertain, diff)
	}
}

var opted = []string{"eks.amazonaws.com/role-arn", role}

func TestTheStoreKeepsOnlyWhatMatters(t *testing.T) {
	t.Parallel()
	known := filled(t, account("shop", "app", "5", map[string]string{"eks.amazonaws.com/role-arn": role, "eks.amazonaws.com.evil/role-arn": "x",
		"eks.amazonaws.com/": "empty", "other": "y"}))
	expect(t, known, "a ServiceAccount with others' annotations", true, opted...)
}

func TestTheStoreFollows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := newStore(newInterest("eks.amazonaws.com/role-arn"))
		if known.synced() {
			t.Error("it is synced before a list")
		}
		relist(t, known, "100", account("shop", "app", "5", nil), account("shop", "other", "6", withRole))
		expect(t, known, "while nothing is watched", false)
		known.watching(true)
		expect(t, known, "once it is", true)
		if !known.synced() {
			t.Error("it is not synced after a list")
		}
		event(t, known.put, account("shop", "app", "101", withRole))
		expect(t, known, "annotated", true, opted...)
		event(t, known.put, account("shop", "app", "102", map[string]string{"eks.amazonaws.com/role-arn": ""}))
		expect(t, known, "the role is taken away", false, "eks.amazonaws.com/role-arn", "")
		<-time.After(freshFor)
		expect(t, known, "later", true, "eks.amazonaws.com/role-arn", "")
		event(t, known.remove, account("shop", "app", "103", nil))
		expect(t, known, "removed", false)
		known.watching(false)
		relist(t, known, "110", account("shop", "app", "105", withRole))
		expect(t, known, "in a later list, not watched", true, opted...)
		if got := known.holding(); got.accounts != 1 || got.optedIn != 1 {
			t.Errorf("it holds %+v, want one ServiceAccount, which has opted in: the other is not in the later list", got)
		}
		relist(t, known, "120")
		if got := known.holding(); got.accounts != 0 || got.optedIn != 0 {
			t.Errorf("after an empty list it holds %+v", got)
		}
	})
}

// TestFreshAccountsAreNotCertain: what has changed just now and names no role
// may be given one in the next step.
func TestFreshAccountsAreNotCertain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		newborn := account("shop", "app", "5", nil)
		newborn.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Second))
		known := filled(t, newborn)
		expect(t, known, "made just before the first list", false)
		<-time.After(freshFor)
		expect(t, known, "later", true)
		event(t, known.put, account("shop", "app", "101", nil))
		expect(t, known, "an event", false)
		<-time.After(freshFor)
		known.watching(false)
		relist(t, known, "110", account("shop", "app", "101", nil))
		known.watching(true)
		expect(t, known, "the same in a later list", true)
		known.watching(false)
		relist(t, known, "120", account("shop", "app", "115", map[string]string{"eks.amazonaws.com/audience": "x"}))
		known.watching(true)
		expect(t, known, "changed in a later list", false, "eks.amazonaws.com/audience", "x")
	})
}

// TestOlderEventsDoNotUndoALook: a live look may be ahead of the watch.
func TestOlderEventsDoNotUndoALook(t *testing.T) {
	t.Parallel()
	known := filled(t)
	learn := func(version string, notes map[string]string) {
		found := seen(t, account("shop", "app", version, notes))
		read := must.Get(known.interest.read(found, nil))(t)
		known.learn(found, read)
	}
	learn("110", withRole)
	expect(t, known, "a look has found a role", true, opted...)
	event(t, known.put, account("shop", "app", "105", nil))
	known.reached("105")
	expect(t, known, "the watch tells of the time before", true, opted...)
	event(t, known.put, account("shop", "app", "110", withRole))
	known.reached("110")
	expect(t, known, "the watch has come so far", true, opted...)
	event(t, known.remove, account("shop", "app", "112", nil))
	known.reached("112")
	expect(t, known, "removed", false)
	learn("111", withRole)
	expect(t, known, "a look that ended late", false)
	learn("120", withRole)
	known.reached("125") // a bookmark: it was removed, and the event was before
	expect(t, known, "the watch is further", false)
	learn("130", nil)
	expect(t, known, "that there is no role is not remembered", false)
	for i := range maxAhead + 10 {
		known.learn(seen(t, account("many", fmt.Sprint(i), "200", withRole)), &notes{annotations: opted})
	}
	if len(known.ahead) != maxAhead {
		t.Errorf("%d are ahead, want at most %d", len(known.ahead), maxAhead)
	}
}

// BenchmarkGet is that the number of ServiceAccounts does not matter.
func BenchmarkGet(b *testing.B) {
	for _, count := range []int{100, 20_000, 200_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			known := newStore(newInterest("eks.amazonaws.com/role-arn"))
			known.begin()
			for i := range count {
				one := object{namespace: fmt.Appendf(nil, "team-%05d", i/20), name: fmt.Appendf(nil, "application-%06d", i)}
				must.Do(b, known.put(one))
			}
			known.listed("1")
			known.watching(true)
			event(b, known.put, account("shop", "app", "2", withRole))
			b.ReportAllocs()
			for b.Loop() {
				if found, _, certain := known.get(app, withRoleName); !certain || found == nil {
					b.Fatal("it is not known")
				}
			}
		})
	}
}

// TestTheStoreKeepsLittleOfEach: what is longer than is kept is not kept in part, as if
// it were all; what has other prefixes does not count.
func TestTheStoreKeepsLittleOfEach(t *testing.T) {
	t.Parallel()
	long := func(size int) map[string]string {
		return map[string]string{withRoleName: role, "eks.amazonaws.com/x": strings.Repeat("x", size), "example.com/y": strings.Repeat("y", 200<<10)}
	}
	fits := inject.MaxAnnotations - len(withRoleName) - len(role) - len("eks.amazonaws.com/x")
	known := filled(t, account("shop", "app", "5", long(fits)), account("shop", "longer", "6", long(fits+1)))
	for name, want := range map[string]bool{"app": false, "longer": true} {
		found, there, certain := known.get(types.NamespacedName{Namespace: "shop", Name: name}, withRoleName)
		if !there || !certain || found.tooLong != want || (found.annotations == nil) != want {
			t.Errorf("%s: there %t, certain %t, too long %t with %d annotations; want too long %t", name, there, certain, found.tooLong, len(found.annotations)/2, want)
		}
	}
	if got := known.holding(); got.tooLong != 1 || got.optedIn != 1 {
		t.Errorf("it counts %+v, want one that is too long and one that has opted in", got)
	}
	event(t, known.put, account("shop", "longer", "7", withRole))
	event(t, known.remove, account("shop", "app", "8", nil))
	if got := known.holding(); got.tooLong != 0 || got.optedIn != 1 {
		t.Errorf("when it is mended, it counts %+v, want one that has opted in", got)
	}
}
