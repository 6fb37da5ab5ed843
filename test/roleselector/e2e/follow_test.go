package e2e

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// tally counts the Buckets of a namespace that are as they are wanted.
type tally struct {
	want   func(*bucket.Bucket) error
	began  time.Time
	first  time.Duration // until the first of them was so
	done   map[string]bool
	behind map[string]error
}

func (s *tally) see(b *bucket.Bucket) {
	if s.behind[b.Name] = s.want(b); s.behind[b.Name] != nil {
		delete(s.done, b.Name)
		return
	}
	if s.done[b.Name] = true; s.first == 0 {
		s.first = time.Since(s.began)
	}
}

// follow makes a change, and waits until as many Buckets of the namespace crowd as
// there are to be are as it makes them, which none may be before. It says how long
// that takes the first of them, and all.
func (w *world) follow(what string, total int, change func(), want func(*bucket.Bucket) error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), testkit.Patience)
	defer cancel()
	seen := &tally{want: want, began: time.Now(), done: map[string]bool{}, behind: map[string]error{}}
	watching := w.watchCrowd(ctx, seen)
	defer func() { watching.Stop() }()
	for name := range seen.done {
		w.Fatalf("%s: the Bucket %s is as it should become already", what, name)
	}
	seen.began = time.Now()
	change()
	for len(seen.done) < total && ctx.Err() == nil {
		event := <-watching.ResultChan()
		if b, isBucket := event.Object.(*bucket.Bucket); isBucket {
			seen.see(b)
			continue
		}
		if ctx.Err() == nil { // API servers end watches as they like
			watching.Stop()
			watching = w.watchCrowd(ctx, seen)
		}
	}
	all := time.Since(seen.began)
	if len(seen.done) == total {
		w.Logf("%s: the first Bucket follows after %v, all %d after %v", what, seen.first.Round(time.Millisecond), total, all.Round(time.Millisecond))
		return
	}
	for name, err := range seen.behind {
		if err != nil {
			w.Fatalf("%s: %d of %d Buckets are as wanted; of %s %v", what, len(seen.done), total, name, err)
		}
	}
	w.Fatalf("%s: %d of %d Buckets are as wanted; the others are not there", what, len(seen.done), total)
}

// watchCrowd sees all Buckets as they are, and watches from there.
func (w *world) watchCrowd(ctx context.Context, seen *tally) watch.Interface {
	w.Helper()
	var list bucket.BucketList
	must.Do(w, w.List(ctx, &list, client.InNamespace("crowd")))
	for i := range list.Items {
		seen.see(&list.Items[i])
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
	watching := must.Get(w.Watch(ctx, &list, client.InNamespace("crowd"), from))(w)
	return watching
}
