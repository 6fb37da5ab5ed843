package roleselectore2e

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// follow makes a change, and waits until as many Buckets of the namespace crowd as
// there are to be are as it makes them, which none may be before. It says how long
// that takes the first of them, and all.
func (w *world) follow(what string, total int, change func(), want func(*bucket.Bucket) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 90*time.Second)
	defer cancel()
	var there bucket.BucketList
	if err := w.List(ctx, &there, client.InNamespace("crowd")); err != nil {
		w.t.Fatal(err)
	}
	for i := range there.Items {
		if want(&there.Items[i]) == nil {
			w.t.Fatalf("%s: the Bucket %s is as it should become already", what, there.Items[i].Name)
		}
	}
	watch, err := w.Watch(ctx, &there, client.InNamespace("crowd"), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: there.ResourceVersion}})
	if err != nil {
		w.t.Fatal(err)
	}
	defer watch.Stop()
	began := time.Now()
	change()
	changed := time.Since(began)
	var first time.Duration
	behind, done := map[string]error{}, map[string]bool{}
	for len(done) < total {
		event, open := <-watch.ResultChan()
		b, isBucket := event.Object.(*bucket.Bucket)
		if !open || !isBucket {
			break
		}
		if behind[b.Name] = want(b); behind[b.Name] != nil {
			delete(done, b.Name)
			continue
		}
		if done[b.Name] = true; first == 0 {
			first = time.Since(began)
		}
	}
	all := time.Since(began)
	if len(done) < total {
		for name, err := range behind {
			if err != nil {
				w.t.Fatalf("%s: %d of %d Buckets are as wanted; of %s %v", what, len(done), total, name, err)
			}
		}
		w.t.Fatalf("%s: %d of %d Buckets are as wanted; nothing is heard of the others", what, len(done), total)
	}
	w.t.Logf("%s (%v): the first Bucket follows after %v, all %d after %v", what,
		changed.Round(time.Millisecond), first.Round(time.Millisecond), total, all.Round(time.Millisecond))
}
