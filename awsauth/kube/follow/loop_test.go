package follow

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAListThatIsAskedForIsMade asks at the moment in which a watch ends by itself, while
// a list is under way, and while one watches, again and again: a list that begins after it
// has to follow. It waits for that and for nothing else.
func TestAListThatIsAskedForIsMade(t *testing.T) {
	var lists atomic.Int64
	endOfList, endOfWatch := make(chan struct{}), make(chan struct{})
	l := &Loop{
		List: func(ctx context.Context) (string, error) {
			lists.Add(1)
			select {
			case <-endOfList:
			case <-ctx.Done():
			}
			return "7", nil
		},
		Watch: func(ctx context.Context, version string) (string, error) {
			select {
			case <-endOfWatch:
				return version + "+", nil
			case <-ctx.Done():
				return version, ctx.Err()
			}
		},
		Failed: func(err error) { t.Errorf("a wish is a failure: %v", err) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	defer func() { cancel(); <-done }()
	endOfList <- struct{}{}
	for i := range 20_000 {
		before := lists.Load()
		if i%3 > 0 {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				select {
				case endOfWatch <- struct{}{}: // at the same time
				case <-ctx.Done():
				case <-time.After(time.Microsecond):
				}
			}()
			if i%3 == 2 {
				<-ended // just before
			}
			l.Relist()
			<-ended
		} else {
			l.Relist()
		}
		deadline := time.After(30 * time.Second)
		select {
		case endOfList <- struct{}{}:
		case <-deadline:
			t.Fatalf("wish %d is lost", i)
		}
		if i%5 == 0 { // and once more, asked for while a list is under way
			l.Relist()
			select {
			case endOfList <- struct{}{}:
			case <-deadline:
				t.Fatalf("wish %d, made during a list, is lost", i)
			}
		}
		if got := lists.Load(); got == before {
			t.Fatalf("wish %d: no list began", i)
		}
	}
}

func TestPausesGrowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		l := &Loop{List: func(context.Context) (string, error) {
			at = append(at, time.Since(began))
			return "", errAway
		}}
		l.Run(ctx)
		for i := 1; i < len(at); i++ {
			if pause, least := at[i]-at[i-1], min(800*time.Millisecond<<min(i-1, 16), 30*time.Second); pause < least || pause > least*3/2+1 {
				t.Errorf("pause %d is %v, want %v and half of it more at the most", i, pause, least)
			}
		}
		if len(at) < 15 {
			t.Errorf("only %d lists in ten minutes", len(at))
		}
	})
}

func TestWithoutAVersionAllIsListedAgainAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l := &Loop{
			List:  func(context.Context) (string, error) { lists++; return "", nil },
			Pause: func(int, error) time.Duration { return 3 * time.Second },
		}
		l.Run(ctx)
		if lists < 13 || lists > 21 {
			t.Errorf("%d lists in a minute, want one in three seconds or so", lists)
		}
	})
}
