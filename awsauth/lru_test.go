package awsauth

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLRUForgetsWhatWasUsedLongestAgo(t *testing.T) {
	var evicted []string
	l := newLRU[int](2, func(v string) { evicted = append(evicted, v) })
	now := time.Unix(0, 0)
	l.put(1, "one", now)
	l.put(2, "two", now)
	if _, ok := l.get(1, now); !ok {
		t.Error("one is gone")
	}
	l.put(3, "three", now)
	l.put(3, "THREE", now)
	if _, ok := l.get(2, now); ok {
		t.Error("two is kept, though one was used later")
	}
	if got, _ := l.get(3, now.Add(time.Minute)); got != "THREE" || l.len() != 2 {
		t.Errorf("three is %q of %d", got, l.len())
	}
	if got, ok := l.get(3, now.Add(idleTime+time.Second)); !ok || got != "THREE" || l.len() != 1 {
		t.Errorf("after an hour three is %q of %d", got, l.len())
	}
	if diff := cmp.Diff([]string{"two", "three", "one"}, evicted); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
}
