package kube

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awsauth/kube"
)

// memory is an API server of Secrets in one namespace, without a wire.
type memory struct {
	dynamic.Interface
	dynamic.NamespaceableResourceInterface

	mu       sync.Mutex
	version  int
	secrets  map[string]int // by name, the version
	watches  map[string]*watch.FakeWatcher
	gets     int
	refuses  bool          // lists and watches
	answered func()        // comes after a Get was read, and before it is answered
	watched  chan struct{} // is told of each watch
	listing  chan struct{} // lists wait until it is closed; nil is not at all
}

func newMemory() *memory {
	return &memory{version: 100_000, secrets: map[string]int{}, watches: map[string]*watch.FakeWatcher{}, watched: make(chan struct{}, 1<<20)}
}

func (m *memory) Resource(schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return m
}
func (m *memory) Namespace(string) dynamic.ResourceInterface { return m }

func secretOf(name string, version int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{},
		"metadata": map[string]any{"namespace": "default", "name": name, "uid": "u", "resourceVersion": fmt.Sprint(version)},
	}}
}

func (m *memory) set(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version++
	m.secrets[name] = m.version
	if w := m.watches[name]; w != nil && !w.IsStopped() {
		w.Modify(secretOf(name, m.version))
	}
}

func (m *memory) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	m.mu.Lock()
	m.gets++
	version, is := m.secrets[name]
	answered := m.answered
	m.mu.Unlock()
	if answered != nil {
		answered()
	}
	if !is {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	return secretOf(name, version), nil
}

var errNoRights = apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no rights"))

func nameOf(o metav1.ListOptions) string {
	name, _ := fields.ParseSelectorOrDie(o.FieldSelector).RequiresExactMatch("metadata.name")
	return name
}

func (m *memory) List(_ context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if m.listing != nil {
		<-m.listing
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuses {
		return nil, errNoRights
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "SecretList"}}
	list.SetResourceVersion(fmt.Sprint(m.version))
	if version, is := m.secrets[nameOf(o)]; is {
		list.Items = append(list.Items, *secretOf(nameOf(o), version))
	}
	return list, nil
}

func (m *memory) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o.SendInitialEvents != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
	}
	w, name := watch.NewFakeWithChanSize(10, false), nameOf(o)
	if version := m.secrets[name]; fmt.Sprint(version) > o.ResourceVersion { // of as many digits, in the tests
		w.Modify(secretOf(name, version))
	}
	m.watches[name] = w
	m.watched <- struct{}{}
	return w, nil
}

func (m *memory) count() (gets int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gets
}

// secret is one of the memory.
func secret(name string) identity.SecretRef {
	return identity.SecretRef{Namespace: "default", Name: name}
}

func ask(t testing.TB, c *kube.Cluster, which identity.SecretRef) string {
	t.Helper()
	got, err := c.Secret(t.Context(), which)
	if err != nil && !errors.Is(err, awsauth.ErrNotFound) {
		t.Fatal(err)
	}
	return got.Version
}

// TestAChangeBetweenTheReadAndTheWatchIsTold holds an answer back until the watch has
// listed, or lets it pass, and changes the Secret on either side of both.
func TestAChangeBetweenTheReadAndTheWatchIsTold(t *testing.T) {
	for name, each := range map[string]struct{ before, after bool }{
		"the watch has listed the change": {before: true}, "the watch tells the change": {after: true}, "both": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			m.set("aws")
			m.listing = make(chan struct{}) // else nothing is read where the list came first
			m.answered = func() {
				if each.before {
					m.set("aws")
				}
				close(m.listing)
				<-m.watched
				if each.after {
					m.set("aws")
				}
			}
			c, changes := reading(t, m)
			ask(t, c, secret("aws"))
			m.mu.Lock()
			m.answered = nil
			want := fmt.Sprint("u/", m.version)
			m.mu.Unlock()
			for got := ""; got != want; got = ask(t, c, secret("aws")) {
				awaited(t, changes) // until it is told no more, and it is the newest
			}
		})
	}
}

// TestEachOfManyIsTold changes each of ten thousand Secrets, of which 256 are watched.
func TestEachOfManyIsTold(t *testing.T) {
	const many = 10_000
	before := settled()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m, told := newMemory(), map[string]int{}
		var mu sync.Mutex
		c := kube.New(ctx, kube.Options{Client: m, Changed: func(r kube.Reference) {
			mu.Lock()
			defer mu.Unlock()
			told[r.Name]++
		}})
		name := func(i int) string { return fmt.Sprintf("a-name-of-a-usual-length-%05d", i) }
		for i := range many {
			m.set(name(i))
			ask(t, c, secret(name(i)))
		}
		synctest.Wait()
		if got := c.Followed(); got != many || len(m.watches) != 256 {
			t.Errorf("%d objects are followed and %d watched, want %d and 256", got, len(m.watches), many)
		}
		each := (heap() - before) / many
		t.Logf("a followed object takes %d bytes, the test's own included", each)
		if each > 2000 {
			t.Errorf("a followed object takes %d bytes, want 2000 at most", each)
		}
		for i := range many {
			m.set(name(i))
		}
		began := m.count()
		<-time.After(35 * time.Minute)
		synctest.Wait()
		mu.Lock()
		if len(told) != many {
			t.Errorf("the changes of %d are told, want those of %d", len(told), many)
		}
		for name, times := range told {
			if times != 1 {
				t.Errorf("the change of %s is told %d times", name, times)
			}
		}
		mu.Unlock()
		if reads := m.count() - began; reads > 35*60*5+1 {
			t.Errorf("%d reads in 35 minutes, want five a second at most", reads)
		}
	})
}

func heap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapInuse + stats.StackInuse) //nolint:gosec // it fits
}

// settled is the heap when what earlier tests have left behind is gone: in ten rounds in a
// row it does not become smaller.
func settled() int {
	least := heap()
	for rounds := 0; rounds < 10; rounds++ {
		<-time.After(10 * time.Millisecond) // what is ending elsewhere has the time for it
		if now := heap(); now < least {
			least, rounds = now, 0
		}
	}
	return least
}

// TestWhatMayNotBeWatchedIsReadInTurn, and the change is told.
func TestWhatMayNotBeWatchedIsReadInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := newMemory()
		m.refuses = true
		changes := make(chan kube.Reference, 10)
		c := kube.New(ctx, kube.Options{Client: m, Changed: func(r kube.Reference) { changes <- r }})
		ask(t, c, secret("aws"))
		for range 3 {
			m.set("aws")
			<-time.After(time.Minute)
			if len(changes) != 1 {
				t.Fatalf("%d changes are told within a minute, want one", len(changes))
			}
			<-changes
			ask(t, c, secret("aws"))
		}
	})
}

// TestWhatNobodyAsksForIsForgottenAloud: who still needs it would not be told any more.
func TestWhatNobodyAsksForIsForgottenAloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		changes := make(chan kube.Reference, 10)
		c := kube.New(ctx, kube.Options{Client: m, Watches: 1, Changed: func(r kube.Reference) { changes <- r }})
		ask(t, c, secret("old"))
		ask(t, c, secret("used"))
		for range 2 {
			<-time.After(31 * time.Minute)
			ask(t, c, secret("used"))
		}
		if len(changes) != 1 || (<-changes).Name != "old" || c.Followed() != 1 {
			t.Errorf("%d objects are followed, and the one that was forgotten is not told", c.Followed())
		}
		m.set("used")
		synctest.Wait()
		if len(changes) != 1 {
			t.Error("the watch of what was forgotten has not gone to who waited for one")
		}
	})
}
