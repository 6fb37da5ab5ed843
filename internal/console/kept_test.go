package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// What takes long to read is read seldom: at most a tenth of the time is spent on it.
func TestWhatTakesLongIsReadSeldom(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{100 * time.Millisecond: 5 * time.Second, 2 * time.Second: 20 * time.Second} {
		clock := newClock()
		begun, goOn := make(chan struct{}, 1), make(chan struct{}, 1)
		reads := 0
		k := &kept[int]{now: clock.now, freshFor: 5 * time.Second, rests: 10, within: time.Minute, read: func(context.Context) (int, error) {
			reads++
			clock.at = clock.at.Add(took)
			begun <- struct{}{}
			<-goOn
			return reads, nil
		}}
		get := func() int {
			value, _, err := k.get(t.Context())
			must.Do(t, err)
			return value
		}
		goOn <- struct{}{}
		if got := get(); got != 1 {
			t.Fatalf("the first is %d", got)
		}
		<-begun
		clock.at = clock.at.Add(want)
		if got := get(); got != 1 || len(begun) != 0 {
			t.Errorf("what took %s is read again within %s", took, want)
		}
		clock.at = clock.at.Add(time.Millisecond)
		if want > 5*time.Second { // it is shown while another one is read
			if got := get(); got != 1 {
				t.Errorf("what took %s waits for another reading: %d", took, got)
			}
			<-begun
		}
		goOn <- struct{}{}
	}
}

// After a look that failed there is a rest too, as long as the look says, and never so long that a person who
// asks again waits for it.
func TestAfterAFailureThereIsARest(t *testing.T) {
	down := errors.New("down")
	for name, test := range map[string]struct {
		took  time.Duration
		rests int
		err   error
		want  time.Duration
	}{
		"a quick one":               {100 * time.Millisecond, 10, down, time.Second},
		"one of what never rests":   {time.Second, 0, down, time.Second},
		"one that took a minute":    {time.Minute, 10, down, longestRest},
		"nobody waits for it":       {time.Minute, 10, fmt.Errorf("read: %w", context.Canceled), 0},
		"the cluster said nothing":  {time.Second, 3, context.DeadlineExceeded, 3 * time.Second},
		"with a value from earlier": {time.Second, 3, down, 3 * time.Second},
	} {
		clock, reads, fails := newClock(), 0, name != "with a value from earlier"
		k := &kept[int]{now: clock.now, freshFor: 5 * time.Second, rests: test.rests, within: time.Minute, read: func(context.Context) (int, error) {
			reads++
			if !fails {
				return reads, nil
			}
			clock.at = clock.at.Add(test.took)
			return 0, test.err
		}}
		if !fails {
			must.Get(first2(k.get(t.Context())))(t)
			fails, clock.at = true, clock.at.Add(time.Hour)
		}
		if _, _, err := k.get(t.Context()); !errors.Is(err, test.err) {
			t.Errorf("%s: the error is %v", name, err)
		}
		before := reads
		clock.at = clock.at.Add(test.want - 1)
		for range 3 {
			if _, _, err := k.get(t.Context()); test.want > 0 && (!errors.Is(err, test.err) || reads != before) {
				t.Errorf("%s: after %d looks within %s the error is %v", name, reads-before, test.want, err)
			}
		}
		clock.at = clock.at.Add(1)
		if _, _, err := k.get(t.Context()); reads == before || !errors.Is(err, test.err) {
			t.Errorf("%s: nothing is looked at after %s: %v", name, test.want, err)
		}
	}
}

// first2 leaves out when a value was read.
func first2[T any](value T, _ time.Time, err error) (T, error) { return value, err }

// A panic in a look is an error, of which the answer has nothing but that it is one.
func TestAPanicInALookIsAnError(t *testing.T) {
	var log bytes.Buffer
	fine := false
	clock := newClock()
	k := &kept[int]{now: clock.now, freshFor: time.Minute, within: time.Minute, log: slog.New(slog.NewTextHandler(&log, nil)), read: func(context.Context) (int, error) {
		if fine {
			return 1, nil
		}
		panic("at the third word")
	}}
	_, _, err := k.get(t.Context())
	if problem := problemOf(err); problem.Code != "fault" || !strings.Contains(problem.Detail, "the console has a fault") || strings.Contains(problem.Error(), "third word") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(log.String(), "at the third word") || !strings.Contains(log.String(), "kept_test.go") {
		t.Errorf("the log says %s", &log)
	}
	if fine = true; must.Get(first2(k.get(t.Context())))(t) != 1 {
		t.Error("nothing is read after a panic")
	}
}
