package webhook

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// takeFor takes looks so many times a second, and says how many it got.
func takeFor(l *lookups, from time.Time, span time.Duration, rate int, crowd func(i int) string) (got int) {
	step := time.Second / time.Duration(rate)
	for i := range int(span / step) {
		if l.take(crowd(i), from.Add(time.Duration(i)*step)) {
			got++
		}
	}
	return got
}

func TestLooksAtUnknownNamesAreBounded(t *testing.T) {
	t.Parallel()
	const span = 10 * time.Second
	all := int((span + burstTime).Seconds()) * defaultUnknownLookups
	tests := map[string]struct {
		crowd func(i int) string
		most  int
	}{
		"of one namespace":                    {func(int) string { return "a" }, all / crowdShare},
		"of namespaces that are not known":    {func(int) string { return "" }, all / crowdShare},
		"of many namespaces":                  {func(i int) string { return fmt.Sprint(i % 100) }, all},
		"of more than are told apart":         {func(i int) string { return fmt.Sprint(i) }, all},
		"of more than are told apart, always": {func(i int) string { return fmt.Sprint(i % (2 * mostCrowds)) }, all},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLookups(defaultUnknownLookups)
			now := time.Unix(1, 0)
			if got := takeFor(l, now, span, 5000, test.crowd); got > test.most+1 || got < test.most*9/10 {
				t.Errorf("%d looks in %v, want %d", got, span, test.most)
			}
			if len(l.crowds) > mostCrowds+1 {
				t.Errorf("%d namespaces are kept, want at most %d", len(l.crowds), mostCrowds)
			}
		})
	}
}

// TestFewLooksAreSome: also the fewest that can be asked for are looks that are made.
func TestFewLooksAreSome(t *testing.T) {
	t.Parallel()
	const span = time.Minute
	for perSecond := range 10 {
		want := float64(perSecond+1) / crowdShare * span.Seconds()
		got := takeFor(newLookups(perSecond+1), time.Unix(1, 0), span, 100, func(int) string { return "" })
		if most := want*1.1 + 2; float64(got) < want*0.9 || float64(got) > most {
			t.Errorf("of %d looks a second a crowd gets %d in a minute, want %.0f to %.0f", perSecond+1, got, want*0.9, most)
		}
	}
}

// TestACrowdLeavesLooksToOthers: while one namespace asks for a thousand a second, and
// made-up ones for a thousand more, another gets what it asks for.
func TestACrowdLeavesLooksToOthers(t *testing.T) {
	t.Parallel()
	l := newLookups(defaultUnknownLookups)
	begin := time.Unix(1, 0)
	for i := range 10_000 {
		now := begin.Add(time.Duration(i) * time.Millisecond)
		l.take("crowd", now)
		l.take("", now)
		if i%200 == 0 && !l.take("honest", now) { // five a second
			t.Fatalf("the look after %d ms is refused", i)
		}
	}
}

// TestTheWatchTellsWhoGetsNoLook: who asks about a name when there may be no more looks
// waits until the watch tells of it; of a name that never comes, nobody says that it
// does not exist.
func TestTheWatchTellsWhoGetsNoLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		reader := func(ctx context.Context, key types.NamespacedName) (object, error) {
			looks++
			return absent(ctx, key)
		}
		store := filled(t)
		known := newAccounts(store, reader, time.Second, newMetrics())
		known.unknown.all = rate.NewLimiter(0, 0) // there is none, and none comes
		found := make(chan *inject.ServiceAccount)
		go func() {
			got, _, err := known.find(t.Context(), app, withRoleName)
			if err != nil {
				t.Error(err)
			}
			found <- got
		}()
		synctest.Wait()
		<-time.After(2 * time.Second)
		event(t, store.put, account("shop", "app", "101", withRole))
		if got := <-found; got == nil || got.Annotations[withRoleName] != role {
			t.Errorf("it is told %v, want the role", got)
		}
		began := time.Now()
		got, live, err := known.find(t.Context(), types.NamespacedName{Namespace: "shop", Name: "nobody"}, withRoleName)
		if took := time.Since(began); got != nil || !live || !errors.Is(err, errLimited) || took < tellTime || took > tellTime+time.Second {
			t.Errorf("of one that never comes it is told %v, error %v, after %v", got, err, took)
		}
		if looks != 0 || len(store.expected) != 0 {
			t.Errorf("%d looks, and %d names are still waited for; want none", looks, len(store.expected))
		}
	})
}
