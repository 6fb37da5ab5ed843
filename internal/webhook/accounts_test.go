package webhook

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

func absent(context.Context, types.NamespacedName) (object, error) {
	return object{}, &statusError{code: 404, message: "not found"}
}

func broken(context.Context, types.NamespacedName) (object, error) {
	return object{}, errors.New("down")
}

// holds is an API server with a ServiceAccount of these annotations.
func holds(t testing.TB, annotations map[string]string) liveReader {
	found := seen(t, account("shop", "app", "200", annotations))
	return func(context.Context, types.NamespacedName) (object, error) { return found, nil }
}

func TestFind(t *testing.T) {
	t.Parallel()
	found := &inject.ServiceAccount{Annotations: map[string]string{"eks.amazonaws.com/role-arn": role}}
	bare := &inject.ServiceAccount{}
	// What is looked at live comes with its labels.
	foundLive := &inject.ServiceAccount{Annotations: found.Annotations, Labels: map[string]string{"a": "b"}}
	bareLive := &inject.ServiceAccount{Labels: foundLive.Labels}
	behind := func(known *store) { known.watching(false) }
	fresh := func(known *store) { event(t, known.put, account("shop", "app", "101", nil)) }
	tests := map[string]struct {
		known  map[string]string // annotations of the one that is known
		none   bool
		change func(*store)
		live   liveReader
		want   *inject.ServiceAccount
		fails  bool
	}{
		"one with a role is not looked at live":          {known: withRole, live: broken, want: found},
		"nor while nothing is watched":                   {known: withRole, change: behind, live: broken, want: found},
		"one without is not looked at live":              {live: broken, want: bare},
		"an unknown one is looked at live":               {none: true, live: holds(t, withRole), want: foundLive},
		"an unknown one may have no role":                {none: true, live: holds(t, nil), want: bareLive},
		"what is nowhere does not exist":                 {none: true, live: absent},
		"a look that fails is no answer":                 {none: true, live: broken, fails: true},
		"a fresh one without a role is looked at live":   {change: fresh, live: holds(t, withRole), want: foundLive},
		"a fresh one may still have none":                {change: fresh, live: holds(t, nil), want: bareLive},
		"a fresh one may be gone":                        {change: fresh, live: absent},
		"while nothing is watched one without a role is": {change: behind, live: holds(t, withRole), want: foundLive},
		"what cannot be looked at then is as it was":     {change: behind, live: broken, want: bare, fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := filled(t)
			if !test.none {
				known = filled(t, account("shop", "app", "5", test.known))
			}
			if test.change != nil {
				test.change(known)
			}
			looks := 0
			reader := func(ctx context.Context, key types.NamespacedName) (object, error) {
				looks++
				return test.live(ctx, key)
			}
			got, live, err := newAccounts(known, reader, 0, newMetrics()).find(t.Context(), app, withRoleName)
			if (err != nil) != test.fails || live != (looks > 0) {
				t.Errorf("error %v, want one %t; it was looked at live: %t, with %d looks", err, test.fails, live, looks)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNobodyIsToldWhatWasBefore: who joins the look of another is not told that
// there is no role, if the look began before the question.
func TestNobodyIsToldWhatWasBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan liveReader)
		live := func(ctx context.Context, key types.NamespacedName) (object, error) { return (<-answers)(ctx, key) }
		known := newAccounts(filled(t), live, time.Minute, newMetrics())
		first, second := make(chan *inject.ServiceAccount, 1), make(chan *inject.ServiceAccount, 1)
		find := func(to chan<- *inject.ServiceAccount) {
			got, _, err := known.find(t.Context(), app, withRoleName)
			if err != nil {
				t.Error(err)
			}
			to <- got
		}
		go find(first)
		synctest.Wait()
		<-time.After(time.Millisecond) // the ServiceAccount is made
		go find(second)
		synctest.Wait()
		answers <- absent
		if got := <-first; got != nil {
			t.Errorf("the first was told %v, want that there is none", got)
		}
		answers <- holds(t, withRole)
		if got := <-second; got == nil || got.Annotations["eks.amazonaws.com/role-arn"] != role {
			t.Errorf("the second was told %v, want the role", got)
		}
	})
}

func TestNoNameLeadsElsewhere(t *testing.T) {
	t.Parallel()
	reader := &api{} // it would panic if it asked
	for _, name := range []string{"", "..", ".", "../../secrets/x", "a/b", "a%2fb"} {
		for _, key := range []types.NamespacedName{{Namespace: "shop", Name: name}, {Namespace: name, Name: "app"}} {
			if _, err := reader.readAccount(t.Context(), key); !hasCode(err, 404) {
				t.Errorf("%q: %v, want that it is not found", key, err)
			}
		}
	}
}

func TestManyWhoAskShareALook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		release := make(chan struct{})
		there := holds(t, withRole)
		live := func(ctx context.Context, key types.NamespacedName) (object, error) {
			looks++
			<-release
			return there(ctx, key)
		}
		known := newAccounts(filled(t), live, time.Minute, newMetrics())
		first, hangUp := context.WithCancel(t.Context())
		var hungUp error
		go func() { _, _, hungUp = known.find(first, app, withRoleName) }()
		synctest.Wait()
		answers := make(chan *inject.ServiceAccount, 20)
		for range cap(answers) {
			go func() {
				got, _, err := known.find(t.Context(), app, withRoleName)
				if err != nil {
					t.Error(err)
				}
				answers <- got
			}()
		}
		synctest.Wait()
		hangUp()
		synctest.Wait()
		close(release)
		for range cap(answers) {
			if got := <-answers; got == nil {
				t.Error("one who waited was told that there is no ServiceAccount")
			}
		}
		if !errors.Is(hungUp, context.Canceled) || looks != 1 {
			t.Errorf("the first, who hung up, got %v; %d looks, want 1", hungUp, looks)
		}
	})
}

func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := make(chan struct{}, 2*maxUnknownLookups)
		live := func(ctx context.Context, _ types.NamespacedName) (object, error) {
			looks <- struct{}{}
			<-ctx.Done()
			return object{}, ctx.Err()
		}
		known := newAccounts(filled(t), live, time.Second, newMetrics())
		ended := make(chan error, maxUnknownLookups+1)
		for i := range cap(ended) {
			go func() {
				_, _, err := known.find(t.Context(), types.NamespacedName{Namespace: "shop", Name: strconv.Itoa(i)}, withRoleName)
				ended <- err
			}()
		}
		synctest.Wait()
		if len(looks) != maxUnknownLookups {
			t.Errorf("%d looks at the same time, want %d", len(looks), maxUnknownLookups)
		}
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a look that hangs ended with %v", err)
			}
		}
	})
}
