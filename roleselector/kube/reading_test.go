package kube

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	"github.com/tabard-dev/tabard/roleselector"
)

// answers are what an API server says, without a wire: for each resource an error, or
// objects.
type answers struct {
	client.WithWatch

	mu      sync.Mutex
	err     map[roleselector.Source]error
	objects map[roleselector.Source][]runtime.Object
	watches map[roleselector.Source]*watch.RaceFreeFakeWatcher
	lists   int
}

func sourceOf(list client.ObjectList) roleselector.Source {
	switch list.(type) {
	case *v1alpha1.IAMRoleSelectorList:
		return roleselector.Selectors
	case *identityv1alpha1.IAMRoleChoiceList:
		return roleselector.Choices
	}
	return roleselector.Namespaces
}

// List implements client.Reader. The pulse's questions are always answered.
func (a *answers) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := options[0].(*client.ListOptions); o.Limit == 1 {
		return nil
	}
	a.lists++
	source := sourceOf(list)
	if a.err[source] != nil {
		return a.err[source]
	}
	list.SetResourceVersion("7")
	return meta.SetList(list, a.objects[source])
}

// Watch implements client.WithWatch.
func (a *answers) Watch(_ context.Context, list client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	source := sourceOf(list)
	if a.err[source] != nil {
		return nil, a.err[source]
	}
	a.watches[source] = watch.NewRaceFreeFake()
	return a.watches[source], nil
}

// become makes the answers for a resource an error, or none, and ends its watch: by
// itself, or because it is too old.
func (a *answers) become(source roleselector.Source, err error, expired bool) {
	a.mu.Lock()
	a.err[source] = err
	w := a.watches[source]
	delete(a.watches, source)
	a.mu.Unlock()
	if w != nil {
		if expired {
			w.Error(&apierrors.NewResourceExpired("too old").ErrStatus)
		}
		w.Stop()
	}
	synctest.Wait()
}

// followed is a world without an API server, whose followers are told by the test what
// has been read.
func followed(t *testing.T) (*Selectors, map[roleselector.Source]*follower) {
	t.Helper()
	quiet := func(string, ...any) {}
	s := newSelectors(Options{Kinds: []schema.GroupVersionKind{bucketKind}}, logs{quiet, quiet})
	s.follow(nil, beat)
	by := map[roleselector.Source]*follower{}
	for _, f := range s.followers {
		by[f.source] = f
	}
	return s, by
}

func (f *follower) read(t *testing.T, objects ...client.Object) {
	t.Helper()
	f.Replace(objects)
	f.told(follow.Health{}, follow.Health{Known: true})
}

// onAnswers runs a test in a time of its own. Every resource is refused at first if err
// is one.
func onAnswers(t *testing.T, err error, test func(t *testing.T, a *answers, s *Selectors, by map[roleselector.Source]*follower)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &answers{err: map[roleselector.Source]error{}, objects: map[roleselector.Source][]runtime.Object{}, watches: map[roleselector.Source]*watch.RaceFreeFakeWatcher{}}
		for _, source := range sources {
			a.err[source] = err
		}
		s, by := followed(t)
		s.follow(a, beat)
		for _, f := range s.followers {
			by[f.source] = f
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- background{s}.Start(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if err == nil && (s.Ready(nil) != nil || !s.index.Ready()) {
			t.Fatalf("all has been read, and it is not ready: %v", s.Ready(nil))
		}
		test(t, a, s, by)
	})
}

var (
	sources   = []roleselector.Source{roleselector.Selectors, roleselector.Namespaces, roleselector.Choices}
	absent    = apierrors.NewNotFound(schema.GroupResource{}, "")
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "iamroleselectors"}, "", errors.New("no rights"))
	errAway   = errors.New("connection refused")
)

func TestNothingIsDecidedBeforeAllHasBeenRead(t *testing.T) {
	onAnswers(t, errAway, func(t *testing.T, a *answers, s *Selectors, _ map[roleselector.Source]*follower) {
		for _, source := range sources {
			if s.Ready(nil) == nil || s.index.Ready() {
				t.Fatalf("it is ready before %v has been read", source)
			}
			a.become(source, nil, false)
			<-time.After(2 * retry)
		}
		if err := s.Ready(nil); err != nil || !s.index.Ready() {
			t.Errorf("all has been read, and it is not ready: %v", err)
		}
		select {
		case <-s.synced:
		default:
			t.Error("controllers that wait for it are not told")
		}
	})
}

func TestWhatTheAPIServerRefusesIsNotKnownAnyMore(t *testing.T) {
	for name, each := range map[string]struct {
		err  error
		want string
	}{
		"forbidden":  {forbidden, "may not list and watch iamroleselectors.services.k8s.aws"},
		"not served": {absent, "does not serve iamroleselectors.services.k8s.aws: install"},
		"no access":  {apierrors.NewUnauthorized("who"), "cannot be read: who"},
	} {
		t.Run(name, func(t *testing.T) {
			onAnswers(t, nil, func(t *testing.T, a *answers, s *Selectors, _ map[roleselector.Source]*follower) {
				<-time.After(time.Minute)
				a.become(roleselector.Selectors, each.err, false)
				if err := s.Ready(nil); err == nil || !strings.Contains(err.Error(), each.want) {
					t.Errorf("it says %v, want %q", err, each.want)
				}
				if s.index.Ready() {
					t.Error("it still decides")
				}
				a.become(roleselector.Selectors, nil, false)
				<-time.After(2 * probe)
				if err := s.Ready(nil); err != nil || !s.index.Ready() {
					t.Errorf("it has been read again, and it is not ready: %v", err)
				}
			})
		})
	}
}

func TestWhatIsOutOfReachHoldsForASecond(t *testing.T) {
	onAnswers(t, nil, func(t *testing.T, a *answers, s *Selectors, _ map[roleselector.Source]*follower) {
		<-time.After(time.Minute + time.Millisecond) // between two beats
		lists := a.lists
		a.become(roleselector.Namespaces, errAway, false)
		<-time.After(grace - time.Millisecond)
		if !s.index.Ready() {
			t.Fatal("it does not decide any more after a short time")
		}
		<-time.After(2 * time.Millisecond)
		if err := s.Ready(nil); s.index.Ready() || err == nil || !strings.Contains(err.Error(), "namespaces cannot be read: connection refused") {
			t.Errorf("after a second it still decides, or does not say why not: %v", err)
		}
		a.become(roleselector.Namespaces, nil, false)
		<-time.After(2 * grace)
		if a.lists == lists {
			t.Error("it goes on from what is too old")
		}
		for range 10 { // once more, and then again and again within the grace
			if !s.index.Ready() {
				t.Fatal("it has been read again and does not decide")
			}
			lists = a.lists
			a.become(roleselector.Namespaces, nil, true)
			<-time.After(2 * grace)
			if a.lists != lists+1 {
				t.Errorf("%d lists, want one for what is too old", a.lists-lists)
			}
		}
	})
}

func TestChoicesNeedNotBeInstalled(t *testing.T) {
	onAnswers(t, forbidden, func(t *testing.T, a *answers, s *Selectors, by map[roleselector.Source]*follower) {
		a.become(roleselector.Selectors, nil, false)
		a.become(roleselector.Namespaces, nil, false)
		<-time.After(2 * probe)
		if s.index.Ready() {
			t.Fatal("that choices may not be listed is taken for that there are none")
		}
		a.become(roleselector.Choices, absent, false)
		<-time.After(2 * probe)
		if err := s.Ready(nil); err != nil || !s.index.Ready() {
			t.Fatalf("the API server says that there is no such kind, and it is not ready: %v", err)
		}
		a.objects[roleselector.Choices] = []runtime.Object{&identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "default"}}}
		a.become(roleselector.Choices, nil, false)
		<-time.After(2 * probe)
		if !s.index.Ready() || by[roleselector.Choices].feed.isEmpty() {
			t.Fatal("the kind is installed, and its choice is not read")
		}
		a.become(roleselector.Choices, absent, false)
		if s.index.Ready() {
			t.Fatal("with choices known, one API server's word that there is no such kind makes them vanish at once")
		}
		<-time.After(patience - time.Second)
		if s.index.Ready() {
			t.Fatal("it has not been half a minute")
		}
		<-time.After(2 * probe)
		if !s.index.Ready() || !by[roleselector.Choices].feed.isEmpty() {
			t.Error("the kind has been gone for half a minute and the choices are still there")
		}
	})
}

func TestThePulseIsBounded(t *testing.T) {
	for pulse, want := range map[time.Duration]time.Duration{0: beat, time.Second: time.Second, -1: 0, time.Millisecond: 0, time.Hour: 0} {
		if got, err := (Options{Pulse: pulse}).pulseTime(); got != want || (err != nil) != (want == 0) {
			t.Errorf("%v makes a pulse of %v: %v", pulse, got, err)
		}
	}
}

func TestAFeedDropsWhatIsNotThereAnyMore(t *testing.T) {
	s, by := followed(t)
	choice := func(name string) client.Object {
		return &identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name}}
	}
	namespace := func(name string) client.Object {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u-" + "1", Labels: map[string]string{"team": "a"}}}
	}
	selector := func(name string) client.Object {
		return &v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	by[roleselector.Selectors].read(t, selector("old"), selector("kept"))
	by[roleselector.Selectors].read(t, selector("kept"))
	by[roleselector.Choices].read(t, choice("old"), choice("kept"))
	by[roleselector.Choices].read(t, choice("kept"))
	by[roleselector.Namespaces].read(t, namespace("old"), namespace("kept"))
	by[roleselector.Namespaces].read(t, namespace("kept"))
	if all := s.index.All(); len(all) != 1 || s.index.Get("kept") == nil {
		t.Errorf("selectors: %v", all)
	}
	if all := s.index.AllChoices(); len(all) != 1 || all[0].Namespace() != "prod" || all[0].Name() != "kept" {
		t.Errorf("choices: %v", all)
	}
	if uid, _ := s.namespaces.get("old"); uid != "" || len(s.namespaces.known) != 1 {
		t.Errorf("namespaces: %v", s.namespaces.known)
	}
	for _, f := range by {
		f.Delete(map[roleselector.Source]client.Object{
			roleselector.Selectors: selector("kept"), roleselector.Choices: choice("kept"), roleselector.Namespaces: namespace("kept"),
		}[f.source])
		if !f.feed.isEmpty() {
			t.Errorf("%s: the last one was deleted and something is left", f.resource)
		}
	}
}
