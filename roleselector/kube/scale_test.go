package kube_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/roleselector/kube"
)

// TestAThousandResourcesFollowAChange measures how soon a conflict is in the
// status of the first and of the last of a thousand, how soon it is solved, and
// that a controller that starts anew comes to the same.
func TestAThousandResourcesFollowAChange(t *testing.T) {
	const total = 1000
	w := newWorld(t, selectorDefinition, choiceDefinition)
	w.create(namespace("prod", nil), selector("one", "111111111111", inNamespaces("prod")))
	names := make(chan string)
	var creating sync.WaitGroup
	for range 8 {
		creating.Go(func() {
			for name := range names {
				if err := w.client.Create(t.Context(), bucket("prod", name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range total {
		names <- fmt.Sprintf("b%04d", n)
	}
	close(names)
	creating.Wait()

	i := w.start(with)
	w.reaches("Selected", total)
	second := selector("two", "111111111111", inNamespaces("prod"))
	w.create(second)
	w.follow("Conflict", total)
	i.stop()

	i = w.start(with)
	// The statuses stay as they are; what is rebuilt shows when the conflict is over.
	w.until("all are entered again", func() error {
		if entered := len(i.roles.Objects().All()); entered != total {
			return fmt.Errorf("%d are", entered)
		}
		return nil
	})
	w.delete(second)
	w.follow("Selected", total)
}

// follow measures how soon a reason is on the first resource and on all. They are
// to have it within a second and ten; a busy machine is allowed three times that
// for all.
func (w *world) follow(reason string, total int) {
	w.Helper()
	first := w.reaches(reason, 1)
	all := first + w.reaches(reason, total)
	w.Logf("%s is on the first resource after %v, and on %d after %v", reason, first, total, all)
	if all > 30*time.Second {
		w.Errorf("%s is on %d resources after %v", reason, total, all)
	}
}

// reaches waits until so many buckets give a reason.
func (w *world) reaches(reason string, count int) time.Duration {
	w.Helper()
	return w.until(fmt.Sprintf("%d resources say %s", count, reason), func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(bucketKind.GroupVersion().WithKind("BucketList"))
		if err := w.client.List(w.Context(), list, client.InNamespace("prod")); err != nil {
			return err
		}
		have := 0
		for n := range list.Items {
			for _, c := range conditionsOf(&list.Items[n]) {
				if c.Type == kube.ConditionSelected && c.Reason == reason {
					have++
				}
			}
		}
		if have < count {
			return fmt.Errorf("%d do", have)
		}
		return nil
	})
}
