package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// server is an API server of one resource, within the test's memory.
type server struct {
	mu      sync.Mutex
	version int
	objects map[string]int // by name, the version
	log     []watch.Event
	// compacted is the version up to which nothing can be told any more.
	compacted int
	watches   map[*watch.RaceFreeFakeWatcher]int // up to which event of the log
	page      int
	err       error
	lists     int
}

func newServer() *server {
	return &server{version: 1, objects: map[string]int{}, watches: map[*watch.RaceFreeFakeWatcher]int{}, page: 3}
}

func object(name string, version int) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: strconv.Itoa(version)}}
}

// change makes, changes or deletes an object.
func (s *server) change(name string, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.objects[name]; !is && !exists {
		return
	}
	s.version++
	event := watch.Event{Type: watch.Modified, Object: object(name, s.version)}
	if s.objects[name] = s.version; !exists {
		delete(s.objects, name)
		event.Type = watch.Deleted
	}
	s.log = append(s.log, event)
	s.tell()
}

// bookmark moves the version and tells it.
func (s *server) bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.log = append(s.log, watch.Event{Type: watch.Bookmark, Object: object("", s.version)})
	s.tell()
}

func (s *server) tell() {
	for w, told := range s.watches {
		if w.IsStopped() {
			delete(s.watches, w)
			continue
		}
		for _, event := range s.log[told:] {
			w.Action(event.Type, event.Object)
		}
		s.watches[w] = len(s.log)
	}
}

var errExpired = apierrors.NewResourceExpired("too old")

// end ends all watches: by themselves, or with an error.
func (s *server) end(err *apierrors.StatusError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		if !w.IsStopped() {
			if err != nil {
				w.Error(&err.ErrStatus)
			}
			w.Stop()
		}
	}
	clear(s.watches)
}

func (s *server) List(_ context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Continue == "" {
		s.lists++
	}
	if s.err != nil {
		return nil, s.err
	}
	var version, from int
	if _, err := fmt.Sscanf(o.Continue, "%d/%d", &version, &from); err != nil {
		version = s.version
	}
	if version != s.version { // this server does not remember how it was
		return nil, errExpired
	}
	names := slices.Sorted(maps.Keys(s.objects))
	list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(version)}}
	for _, name := range names[from:min(from+s.page, len(names))] {
		list.Items = append(list.Items, *object(name, s.objects[name]))
	}
	if from += s.page; from < len(names) {
		list.Continue = fmt.Sprintf("%d/%d", version, from)
	}
	return list, nil
}

func (s *server) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, _ := strconv.Atoi(o.ResourceVersion)
	switch {
	case s.err != nil:
		return nil, s.err
	case since < s.compacted:
		return nil, errExpired
	}
	w := watch.NewRaceFreeFake()
	s.watches[w] = since - 1 // each event is one version
	s.tell()
	return w, nil
}

func keyOf(o *metav1.PartialObjectMetadata) string { return o.Name }

func trimmed(o runtime.Object) (*metav1.PartialObjectMetadata, error) {
	if o := o.(*metav1.PartialObjectMetadata); o.Name != "poison" {
		return o, nil
	}
	return nil, errors.New("poison")
}

// followed is a store that follows a server until the end of the test.
func followed(t *testing.T, s *server, options Options[*metav1.PartialObjectMetadata]) (*Follower[*metav1.PartialObjectMetadata], *Store[*metav1.PartialObjectMetadata], map[string]int) {
	told := map[string]int{}
	store := &Store[*metav1.PartialObjectMetadata]{Key: keyOf}
	store.Changed = func(before, now **metav1.PartialObjectMetadata, _ bool) {
		if now == nil {
			delete(told, (*before).Name)
			return
		}
		told[(*now).Name], _ = strconv.Atoi((*now).ResourceVersion)
	}
	options.Trim, options.Sink = trimmed, store
	f := Of(s, options)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return f, store, told
}

// TestAStoreBecomesWhatTheServerHas whatever happens in which order.
func TestAStoreBecomesWhatTheServerHas(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			s, chance := newServer(), rand.New(rand.NewPCG(seed, 1))
			f, store, told := followed(t, s, Options[*metav1.PartialObjectMetadata]{})
			acts := []func(){
				func() { s.change(fmt.Sprint(chance.IntN(12)), true) },
				func() { s.change(fmt.Sprint(chance.IntN(12)), false) },
				s.bookmark,
				func() { s.end(nil) },
				func() { s.end(errExpired) },
				func() { s.end(apierrors.NewInternalError(errAway)) },
				func() { s.mu.Lock(); s.compacted = s.version; s.mu.Unlock(); s.end(nil) },
				func() { s.mu.Lock(); s.err = []error{nil, errAway, errExpired}[chance.IntN(3)]; s.mu.Unlock() },
				f.Relist,
				func() { <-time.After(time.Duration(chance.IntN(3000)) * time.Millisecond) },
			}
			for range 200 {
				acts[chance.IntN(len(acts))]()
				if chance.IntN(2) == 0 {
					synctest.Wait()
				}
			}
			s.mu.Lock()
			s.err = nil
			s.mu.Unlock()
			<-time.After(2 * time.Minute) // pauses end
			synctest.Wait()
			got := map[string]int{}
			for _, one := range store.All() {
				got[one.Name], _ = strconv.Atoi(one.ResourceVersion)
			}
			if !maps.Equal(got, s.objects) || !maps.Equal(told, s.objects) {
				t.Fatalf("seed %d: the store has %v and told %v, want %v", seed, got, told, s.objects)
			}
			if h := f.Health(); !h.Counts() || h.Err != nil {
				t.Errorf("seed %d: in the end its health is %+v", seed, h)
			}
		})
	}
}

func TestWatchesGoOnFromBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		followed(t, s, Options[*metav1.PartialObjectMetadata]{})
		synctest.Wait()
		for range 10 {
			s.bookmark()
			synctest.Wait()
			s.mu.Lock()
			s.compacted = s.version
			s.mu.Unlock()
			s.end(nil)
			<-time.After(2 * time.Second)
		}
		if s.lists != 1 {
			t.Errorf("%d lists, want one: each watch can go on from a bookmark", s.lists)
		}
	})
}

func TestAPoisonousObjectKeepsNoOtherOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, failed := newServer(), 0
		for _, name := range []string{"a", "poison", "z"} {
			s.change(name, true)
		}
		_, store, _ := followed(t, s, Options[*metav1.PartialObjectMetadata]{Failed: func(error) { failed++ }})
		synctest.Wait()
		s.change("poison", true)
		s.change("b", true)
		synctest.Wait()
		if store.Len() != 3 || failed != 2 {
			t.Errorf("%d objects are kept and %d errors told, want 3 and 2", store.Len(), failed)
		}
		if _, found := store.Get("b"); !found {
			t.Error("what came after it is not kept")
		}
	})
}

// TestASlowSinkLosesNothing: what it does not take is ended by the API server.
func TestASlowSinkLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		_, store, _ := followed(t, s, Options[*metav1.PartialObjectMetadata]{})
		slow := store.Changed
		store.mu.Lock()
		store.Changed = func(before, now **metav1.PartialObjectMetadata, first bool) {
			<-time.After(time.Second)
			slow(before, now, first)
		}
		store.mu.Unlock()
		for i := range 90 { // of which a watch holds a hundred
			s.change(fmt.Sprint(i), true)
			if i%30 == 29 {
				s.end(errExpired)
			}
		}
		<-time.After(10 * time.Minute)
		if store.Len() != 90 {
			t.Errorf("%d objects are kept, want 90", store.Len())
		}
	})
}

func TestAResourceThatIsNotServedIsEmptyWhereThatIsBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.err = errAway
		listed := 0
		f, _, _ := followed(t, s, Options[*metav1.PartialObjectMetadata]{
			Absent: func(err error, h Health) bool {
				return errors.Is(err, errAway) && (h.Known || !h.Since.IsZero() && time.Since(h.Since) > time.Minute)
			},
			Pause: func(int, error) time.Duration { return time.Second },
			Told:  func(_, _ Health) { listed++ },
		})
		<-time.After(59 * time.Second)
		if f.Health().Known {
			t.Error("it is believed too soon")
		}
		<-time.After(5 * time.Second)
		if !f.Health().Counts() {
			t.Errorf("it is not believed: %+v", f.Health())
		}
		before := listed
		<-time.After(time.Minute)
		if listed != before {
			t.Errorf("it is told %d times more", listed-before)
		}
		<-f.Read()
	})
}
