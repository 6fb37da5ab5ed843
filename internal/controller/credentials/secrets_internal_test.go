package credentials

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

var secretsResource = schema.GroupResource{Resource: "secrets"}

// apiServer has Secrets that nobody may list but in the namespaces of watched, and notes when
// each is read.
type apiServer struct {
	metadata.Getter
	namespace string
	*apiState
}

type apiState struct {
	mu       sync.Mutex
	watched  map[string]*watch.FakeWatcher
	refused  bool
	versions map[core.Target]string
	reads    []time.Time
	of       []core.Target
}

func newAPIServer(watched ...string) apiServer {
	out := apiServer{apiState: &apiState{watched: map[string]*watch.FakeWatcher{}, versions: map[core.Target]string{}}}
	for _, namespace := range watched {
		out.watched[namespace] = nil
	}
	return out
}

func (a apiServer) Namespace(namespace string) metadata.ResourceInterface {
	a.namespace = namespace
	return a
}

func (a apiServer) object(target core.Target) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	out.Namespace, out.Name, out.UID, out.ResourceVersion = target.Namespace, target.Name, types.UID(target.Name), a.versions[target]
	out.Labels = map[string]string{core.ManagedLabel: "true"}
	return out
}

func (a apiServer) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	target := core.Target{Kind: core.KindSecret, Namespace: a.namespace, Name: name}
	a.reads, a.of = append(a.reads, time.Now()), append(a.of, target)
	if a.versions[target] == "" {
		return nil, apierrors.NewNotFound(secretsResource, name)
	}
	return a.object(target), nil
}

func (a apiServer) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, may := a.watched[a.namespace]; !may || a.refused {
		return nil, apierrors.NewForbidden(secretsResource, "", nil)
	}
	out := &metav1.PartialObjectMetadataList{}
	out.ResourceVersion = "1"
	for target := range a.versions {
		if target.Namespace == a.namespace {
			out.Items = append(out.Items, *a.object(target))
		}
	}
	return out, nil
}

func (a apiServer) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused {
		return nil, apierrors.NewForbidden(secretsResource, "", nil)
	}
	a.watched[a.namespace] = watch.NewFake()
	return a.watched[a.namespace], nil
}

// watches says that somebody watches the Secrets of a namespace.
func (a apiServer) watches(namespace string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.watched[namespace] != nil && !a.watched[namespace].IsStopped()
}

// read takes what was read so far.
func (a apiServer) read() (at []time.Time, of []core.Target) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, of = a.reads, a.of
	a.reads, a.of = nil, nil
	return at, of
}

func secretIn(namespace string, number int) core.Target {
	return core.Target{Kind: core.KindSecret, Namespace: namespace, Name: fmt.Sprint("secret-", number)}
}

// noticing runs a test in a time of its own, with secrets that say what has changed.
func noticing(t *testing.T, a apiServer, test func(s *secrets, changed func() []core.Target)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []core.Target
		s := newSecrets(a, func(target core.Target, _ uint64) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, target)
		})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go s.run(ctx)
		synctest.Wait()
		test(s, func() []core.Target {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			out := told
			told = nil
			return out
		})
	})
}

// TestLooksAreSpread: each Secret has one within five minutes, and there are five a second at
// most. From 1,500 on a round takes longer.
func TestLooksAreSpread(t *testing.T) {
	for count, round := range map[int]time.Duration{1: lookWithin, 1000: lookWithin, 1500: lookWithin, 3000: 2 * lookWithin} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			a := newAPIServer()
			noticing(t, a, func(s *secrets, _ func() []core.Target) {
				for i := range count {
					s.note(secretIn("shop", i), nil)
				}
				for range 2 {
					<-time.After(round)
					synctest.Wait()
					at, of := a.read()
					for i := range at {
						if i > 0 && at[i].Sub(at[i-1]) < lookPause {
							t.Fatalf("two looks are %s apart, want %s at least", at[i].Sub(at[i-1]), lookPause)
						}
					}
					slices.SortFunc(of, func(x, y core.Target) int { return strings.Compare(x.Name, y.Name) })
					if different := len(slices.Compact(of)); different < count || len(at) > count+1 {
						t.Errorf("in %s %d of %d Secrets were looked at, by %d reads", round, different, count, len(at))
					}
				}
			})
		})
	}
}

// TestWhatIsFollowedIsNotLookedAt, until the right to follow it is taken back, and what lacks
// the label is looked at all the time.
func TestWhatIsFollowedIsNotLookedAt(t *testing.T) {
	a := newAPIServer("shop")
	noticing(t, a, func(s *secrets, changed func() []core.Target) {
		followed, foreign := secretIn("shop", 1), secretIn("shop", 2)
		a.versions[followed] = "1"
		s.note(followed, nil)
		s.note(foreign, &metav1.ObjectMeta{})
		synctest.Wait()
		looked := func(what string, want ...core.Target) {
			t.Helper()
			a.read()
			<-time.After(lookWithin)
			synctest.Wait()
			_, of := a.read()
			slices.SortFunc(of, func(x, y core.Target) int { return strings.Compare(x.Name, y.Name) })
			if of = slices.Compact(of); !slices.Equal(of, want) {
				t.Errorf("%s: %v are looked at, want %v", what, of, want)
			}
		}
		looked("one is followed", foreign)
		changed()
		a.watched["shop"].Modify(a.object(secretIn("shop", 3)))
		a.watched["shop"].Modify(a.object(followed))
		if got := changed(); !slices.Equal(got, []core.Target{followed}) {
			t.Errorf("%v were told of, want the one that a request names", got)
		}
		a.watched["shop"].Add(a.object(foreign))
		looked("both are followed")
		a.refused = true
		a.watched["shop"].Stop()
		synctest.Wait()
		<-time.After(10 * time.Minute)
		looked("nothing may be followed any more", followed, foreign)
		a.refused = false
		<-time.After(10 * time.Minute)
		looked("both may be followed again")
	})
}

// TestNothingIsFollowedOfWhatNoRequestNames: the last request of a namespace takes the follow
// with it.
func TestNothingIsFollowedOfWhatNoRequestNames(t *testing.T) {
	a := newAPIServer("shop")
	noticing(t, a, func(s *secrets, _ func() []core.Target) {
		k := &known{
			secrets: s, byTarget: map[core.Target]map[types.NamespacedName]bool{}, byRole: map[string]types.NamespacedName{},
			of: map[types.NamespacedName]concern{}, marks: map[core.Target]uint64{},
		}
		names := func(request string, number int, is bool) {
			name := types.NamespacedName{Namespace: "shop", Name: request}
			if !is {
				k.goesBy(name, nil)
				return
			}
			target := secretIn("shop", number)
			k.goesBy(name, &concern{targets: []core.Target{target}})
			k.saw(name, []core.TargetState{{Target: target}}, seen{})
		}
		check := func(what string, want bool) {
			t.Helper()
			synctest.Wait()
			if got := a.watches("shop"); got != want {
				t.Errorf("%s: followed is %t, want %t", what, got, want)
			}
		}
		names("a", 1, true)
		names("b", 1, true)
		names("c", 2, true)
		check("three requests name two Secrets", true)
		first := a.watched["shop"]
		names("a", 1, false)
		names("c", 3, true)
		check("one goes and one names another", true)
		if a.watched["shop"] != first {
			t.Error("the namespace is followed anew, want one watch all the time")
		}
		names("b", 1, false)
		names("c", 3, false)
		check("the last is gone", false)
		if len(s.in) > 0 || len(s.turn) > 0 || len(k.marks) > 0 {
			t.Errorf("%v, %v and %v are kept", s.in, s.turn, k.marks)
		}
		names("d", 4, true)
		check("another comes", true)
	})
}

// TestWhatAPassHasSeenWakesOthersAlone, and a change while it was reading wakes it, too.
func TestWhatAPassHasSeenWakesOthersAlone(t *testing.T) {
	var woken []string
	k := &known{
		secrets: newSecrets(newAPIServer(), nil), byTarget: map[core.Target]map[types.NamespacedName]bool{}, byRole: map[string]types.NamespacedName{},
		of: map[types.NamespacedName]concern{}, marks: map[core.Target]uint64{},
	}
	k.wake = func(r reconcile.Request) { woken = append(woken, r.Name) }
	target := secretIn("shop", 1)
	pass := func(request, version string) {
		name := types.NamespacedName{Namespace: "shop", Name: request}
		k.goesBy(name, &concern{targets: []core.Target{target}})
		object := &metav1.PartialObjectMetadata{}
		object.ResourceVersion = version
		k.saw(name, []core.TargetState{{Target: target}}, seen{target: object})
	}
	check := func(what string, want ...string) {
		t.Helper()
		slices.Sort(woken)
		if !slices.Equal(woken, want) {
			t.Errorf("%s: %q are woken, want %q", what, woken, want)
		}
		woken = nil
	}
	event := func(version string) {
		object := &metav1.PartialObjectMetadata{}
		object.ResourceVersion = version
		k.targetChanged(target, secretMark(object).digest)
	}
	pass("a", "1")
	check("the first pass")
	event("1")
	check("what it has seen is told of")
	pass("b", "2")
	check("another has seen more", "a")
	event("3")
	check("a change", "a", "b")
	k.targetChanged(target, 0)
	check("a deletion", "a", "b")
}
