package awsauth

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheOlderHalfMakesRoomAndWhatIsIdleGoes(t *testing.T) {
	var displaced, others []string
	c := newCache[int, string](func() int { return 2 })
	c.evicted = func(v string, pushed bool) {
		if pushed {
			displaced = append(displaced, v)
		} else {
			others = append(others, v)
		}
	}
	now := time.Unix(0, 0)
	c.put(1, "one", now)
	c.put(2, "two", now)
	if _, ok := c.get(1, now); !ok {
		t.Error("one is gone")
	}
	c.put(3, "three", now)
	c.put(3, "THREE", now)
	if _, ok := c.get(2, now); ok {
		t.Error("two is kept, though one was used later")
	}
	if got, _ := c.get(3, now.Add(time.Minute)); got != "THREE" || c.len() != 2 {
		t.Errorf("three is %q of %d", got, c.len())
	}
	if got, ok := c.get(3, now.Add(idleTime+time.Second)); !ok || got != "THREE" || c.len() != 1 {
		t.Errorf("after an hour three is %q of %d", got, c.len())
	}
	if diff := cmp.Diff([]string{"two"}, displaced); diff != "" {
		t.Errorf("displaced (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"three", "one"}, others); diff != "" {
		t.Errorf("replaced and idle (-want +got):\n%s", diff)
	}
}

// TestWhatIsWorthNothingGoesFirst, however lately it was asked for, and a bound that
// has become smaller holds with the next value.
func TestWhatIsWorthNothingGoesFirst(t *testing.T) {
	bound, now := 4, time.Unix(0, 0)
	c := newCache[int, string](func() int { return bound })
	c.spent = func(v string, _ time.Time) bool { return v == "over" }
	c.evicted = func(v string, displaced bool) {
		if displaced && v == "over" {
			t.Error("what is worth nothing was counted as displaced")
		}
	}
	for i, v := range []string{"good", "good", "over", "over", "good"} {
		c.put(i, v, now)
	}
	for key, want := range map[int]bool{0: true, 1: true, 2: false, 3: false, 4: true} {
		if _, ok := c.get(key, now); ok != want {
			t.Errorf("%d is kept: %v, want %v", key, ok, want)
		}
	}
	bound = 2
	if c.put(9, "good", now); c.len() != 2 {
		t.Errorf("%d are kept with room for 2", c.len())
	}
	bound = 0
	if c.put(10, "good", now); c.len() != 1 {
		t.Errorf("%d are kept with room for none, want the one that is used now", c.len())
	}
}

// TestAFewTooManyAreMostlyFound asks in turn for a twentieth more than there is room for:
// if the one went that was used longest ago, none would ever be found.
func TestAFewTooManyAreMostlyFound(t *testing.T) {
	const room, asked, rounds = 1000, 1050, 10
	c := newCache[string, int](func() int { return room })
	missed := 0
	for range rounds {
		for i := range asked {
			if _, ok := c.get(strconv.Itoa(i), time.Unix(0, 0)); !ok {
				missed++
				c.put(strconv.Itoa(i), i, time.Unix(0, 0))
			}
		}
	}
	if share := float64(missed-asked) / ((rounds - 1) * asked); share > 0.4 {
		t.Errorf("%.0f%% of the questions found nothing, want less than 40%%", 100*share)
	} else {
		t.Logf("%.0f%% of the questions found nothing", 100*share)
	}
}
