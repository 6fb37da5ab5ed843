package issuer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// reader fetches the published keys as anybody does, again and again, and notes
// what it missed of those that were published before.
type reader struct {
	f      *fixture
	mu     sync.Mutex
	known  map[string]bool
	reads  int
	missed []string
}

func (r *reader) run(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
			r.look(ctx)
		}
	}
}

// look is one fetch. What must be in it is what was known before it began.
func (r *reader) look(ctx context.Context) {
	r.mu.Lock()
	must := make([]string, 0, len(r.known))
	for id := range r.known {
		must = append(must, id)
	}
	r.mu.Unlock()
	seen, err := r.f.published(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	if err != nil {
		r.missed = append(r.missed, err.Error())
		return
	}
	for _, id := range must {
		if !seen[id] {
			r.missed = append(r.missed, id)
		}
	}
}

// published are the key IDs at the issuer's URL; none if there is no document.
func (f *fixture) published(ctx context.Context) (map[string]bool, error) {
	fetch := f.controller.Observer.Fetch(ctx, f.url+"/"+core.KeysPath)
	var set struct {
		Keys []struct {
			KeyID string `json:"kid"`
		} `json:"keys"`
	}
	if fetch.Status != 200 {
		return nil, fmt.Errorf("GET keys: status %d %s", fetch.Status, fetch.Error)
	}
	out := map[string]bool{}
	err := json.Unmarshal(fetch.Body, &set)
	for _, key := range set.Keys {
		out[key.KeyID] = true
	}
	return out, err
}

// TestTwoWritersNeverHideAKey has two controllers work on one issuer at once, as
// when a lease is lost and the old holder does not know yet, while its keys
// change every round.
func TestTwoWritersNeverHideAKey(t *testing.T) {
	f := newFixture(t)
	keys := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "signers"}, Data: map[string]string{}}
	keys.Data["0"], _ = keyPair(t)
	if err := f.client.Create(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	f.create(t, "main", func(o *v1alpha1.OIDCIssuer) {
		o.Spec.Keys = v1alpha1.KeySource{Source: v1alpha1.KeySourceConfigMap, ConfigMap: &v1alpha1.ConfigMapReference{Namespace: "default", Name: "signers"}}
	})
	f.settle(t, "main")
	r := &reader{f: f, known: map[string]bool{}}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); r.run(t.Context(), stop) }()
	const rounds = 40
	for round := range rounds {
		delete(keys.Data, fmt.Sprint(round))
		keys.Data[fmt.Sprint(round+1)], _ = keyPair(t)
		if err := f.client.Update(t.Context(), keys); err != nil {
			t.Fatal(err)
		}
		f.race(t, 3)
		seen, err := f.published(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.known = seen
		r.mu.Unlock()
	}
	close(stop)
	<-done
	if len(r.known) != rounds+1 {
		t.Errorf("%d keys are published after %d rounds, expected every one: tokens of all of them are alive", len(r.known), rounds)
	}
	if len(r.missed) > 0 {
		t.Errorf("in %d reads %d keys were missed, such as %s", r.reads, len(r.missed), r.missed[0])
	}
	t.Logf("%d reads during %d rounds of two writers", r.reads, rounds)
}

// race runs passes of two controllers at the same time.
func (f *fixture) race(t *testing.T, passes int) {
	t.Helper()
	other := *f.controller
	var both sync.WaitGroup
	for _, controller := range []*issuer.Controller{f.controller, &other} {
		both.Go(func() {
			for range passes {
				_, err := controller.Reconcile(t.Context(), &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "main"}})
				if known, ok := errors.AsType[fault.Fault](err); err != nil && (!ok || known.Class != fault.Changed) && client.IgnoreNotFound(err) != nil {
					t.Errorf("a pass failed: %v", err)
				}
			}
		})
	}
	both.Wait()
}
