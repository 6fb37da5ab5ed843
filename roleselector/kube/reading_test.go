package kube

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// followed is a world without an API server, whose followers are told by the test
// what one answers.
func followed(t *testing.T) (*Selectors, map[roleselector.Source]*follower) {
	t.Helper()
	quiet := func(string, ...any) {}
	s := newSelectors(Options{Kinds: []schema.GroupVersionKind{bucketKind}}, logs{quiet, quiet})
	s.follow(nil)
	by := map[roleselector.Source]*follower{}
	for _, f := range s.followers {
		by[f.source] = f
	}
	return s, by
}

func (f *follower) read(t *testing.T, objects ...any) {
	t.Helper()
	if err := f.Replace(objects, "1"); err != nil {
		t.Fatal(err)
	}
}

var (
	absent    = apierrors.NewNotFound(schema.GroupResource{}, "")
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "iamroleselectors"}, "", errors.New("no rights"))
	errAway   = errors.New("connection refused")
)

func TestNothingIsDecidedBeforeAllHasBeenRead(t *testing.T) {
	s, by := followed(t)
	for _, source := range []roleselector.Source{roleselector.Selectors, roleselector.Namespaces, roleselector.Choices} {
		if s.Ready(nil) == nil || s.index.Ready() {
			t.Fatalf("it is ready before %v has been read", source)
		}
		by[source].read(t)
	}
	if err := s.Ready(nil); err != nil || !s.index.Ready() {
		t.Errorf("all has been read, and it is not ready: %v", err)
	}
	select {
	case <-s.synced:
	default:
		t.Error("controllers that wait for it are not told")
	}
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
			s, by := followed(t)
			for _, f := range by {
				f.read(t)
			}
			by[roleselector.Selectors].failed(each.err)
			if err := s.Ready(nil); err == nil || !strings.Contains(err.Error(), each.want) {
				t.Errorf("it says %v, want %q", err, each.want)
			}
			if s.index.Ready() {
				t.Error("it still decides")
			}
			by[roleselector.Selectors].read(t)
			if err := s.Ready(nil); err != nil || !s.index.Ready() {
				t.Errorf("it has been read again, and it is not ready: %v", err)
			}
		})
	}
}

func TestWhatIsOutOfReachHoldsForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, by := followed(t)
		for _, f := range by {
			f.read(t)
		}
		f := by[roleselector.Namespaces]
		f.startGrace()
		f.failed(errAway)
		<-time.After(grace - time.Millisecond)
		if !s.index.Ready() {
			t.Fatal("it does not decide any more after a short time")
		}
		<-time.After(2 * time.Millisecond)
		if err := s.Ready(nil); s.index.Ready() || err == nil || !strings.Contains(err.Error(), "namespaces cannot be read: connection refused") {
			t.Errorf("after a second it still decides, or does not say why not: %v", err)
		}
		if _, err := f.watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"}); !errors.Is(err, errOutdated) {
			t.Errorf("it goes on from what is too old: %v", err)
		}
		f.startGrace()
		f.read(t)
		<-time.After(2 * grace)
		if !s.index.Ready() {
			t.Error("it has been read again and does not decide")
		}
		f.startGrace()
		f.read(t)
		<-time.After(2 * grace)
		if !s.index.Ready() {
			t.Error("it was read again within the grace and does not decide")
		}
	})
}

func TestChoicesNeedNotBeInstalled(t *testing.T) {
	s, by := followed(t)
	by[roleselector.Selectors].read(t)
	by[roleselector.Namespaces].read(t)
	f := by[roleselector.Choices]
	f.failed(forbidden)
	if s.index.Ready() {
		t.Fatal("that choices may not be listed is taken for that there are none")
	}
	f.failed(absent)
	if err := s.Ready(nil); err != nil || !s.index.Ready() {
		t.Fatalf("the API server says that there is no such kind, and it is not ready: %v", err)
	}
	choice := &identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "default"}}
	f.read(t, choice)
	f.failed(absent)
	if s.index.Ready() {
		t.Fatal("with choices known, one API server's word that there is no such kind makes them vanish at once")
	}
	for range patience {
		f.tick()
	}
	f.failed(absent)
	if !s.index.Ready() || !f.feed.isEmpty() {
		t.Error("the kind has been gone for half a minute and the choices are still there")
	}
}

func TestAFeedDropsWhatIsNotThereAnyMore(t *testing.T) {
	s, by := followed(t)
	choice := func(name string) any {
		return &identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name}}
	}
	namespace := func(name string) any {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u-" + "1", Labels: map[string]string{"team": "a"}}}
	}
	selector := func(name string) any {
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
		if err := f.Delete(map[roleselector.Source]any{
			roleselector.Selectors: selector("kept"), roleselector.Choices: choice("kept"), roleselector.Namespaces: namespace("kept"),
		}[f.source]); err != nil {
			t.Fatal(err)
		}
		if !f.feed.isEmpty() {
			t.Errorf("%s: the last one was deleted and something is left", f.resource)
		}
	}
}
