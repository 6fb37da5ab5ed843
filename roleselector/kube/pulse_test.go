package kube

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tabard-dev/tabard/roleselector"
)

// onAServer runs a test in a time of its own, with a world that has read one
// selector, a, and decides by it.
func onAServer(t *testing.T, test func(t *testing.T, a *apiServer, s *Selectors)) {
	t.Helper()
	onAServerThatSpeaks(t, true, test)
}

func onAServerThatSpeaks(t *testing.T, http2 bool, test func(t *testing.T, a *apiServer, s *Selectors)) {
	t.Helper()
	onAServerAt(t, beat, http2, test)
}

func onAServerAt(t *testing.T, pulse time.Duration, http2 bool, test func(t *testing.T, a *apiServer, s *Selectors)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := startServer(http2)
		a.set("a", true)
		s, stop := followedOn(t, a, pulse)
		defer func() {
			stop()
			<-time.After(time.Hour) // timers and connections run out
		}()
		<-time.After(10 * time.Second)
		if err := s.Ready(nil); err != nil {
			t.Fatal(err)
		}
		decides(t, s, roleselector.Use, "a")
		test(t, a, s)
	})
}

func decides(t *testing.T, s *Selectors, outcome roleselector.Outcome, selector string) {
	t.Helper()
	synctest.Wait()
	if got, by := decided(s); got != outcome || by != selector {
		t.Fatalf("it decides %s by %q, want %s by %q; missing: %v", got, by, outcome, selector, s.Ready(nil))
	}
}

// TestWhatIsKnownCountsForASecondAndAHalfOnceTheWireIsSilent takes a role away while
// nothing arrives on connections that stay open.
func TestWhatIsKnownCountsForASecondAndAHalfOnceTheWireIsSilent(t *testing.T) {
	onAServer(t, func(t *testing.T, a *apiServer, s *Selectors) {
		end := a.wire.fallSilent()
		defer end()
		a.wire.mu.Lock()
		a.wire.isCut = true // who dials is not answered either
		a.wire.mu.Unlock()
		a.set("a", false)
		<-time.After(fresh - beat - time.Millisecond)
		decides(t, s, roleselector.Use, "a")
		<-time.After(beat + time.Millisecond)
		decides(t, s, roleselector.NotYetKnown, "")
		if err := s.Ready(nil); err == nil || !strings.Contains(err.Error(), "the API server has not answered for 1.5s") {
			t.Errorf("it says %v", err)
		}
		<-time.After(time.Minute)
		decides(t, s, roleselector.NotYetKnown, "")
		end()
		a.wire.mend()
		<-time.After(2 * time.Second)
		decides(t, s, roleselector.NoSelector, "")
	})
}

// TestASilentConnectionIsReplacedByAnother loses what is between the two without
// either being told; who dials anew is answered.
func TestASilentConnectionIsReplacedByAnother(t *testing.T) {
	onAServer(t, func(t *testing.T, a *apiServer, s *Selectors) {
		defer a.wire.fallSilent()()
		a.set("a", false)
		<-time.After(fresh + time.Millisecond)
		synctest.Wait()
		if outcome, _ := decided(s); outcome == roleselector.Use {
			t.Error("the role is still used")
		}
		<-time.After(3 * time.Second)
		decides(t, s, roleselector.NoSelector, "")
	})
}

func TestAnAPIServerThatCannotReadItsStorageIsNotThere(t *testing.T) {
	onAServer(t, func(t *testing.T, a *apiServer, s *Selectors) {
		broken := func(is bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.broken = is
		}
		lists, watches := a.counted()
		broken(true)
		<-time.After(fresh + time.Millisecond)
		decides(t, s, roleselector.NotYetKnown, "")
		a.set("b", true)
		broken(false)
		<-time.After(beat)
		decides(t, s, roleselector.Conflict, "")
		if l, w := a.counted(); l != lists || w != watches {
			t.Errorf("%d lists and %d watches more, although the watch was open all the time", l-lists, w-watches)
		}
	})
}

func TestAWatchThatHangsOnALivingConnectionIsBegunAnew(t *testing.T) {
	onAServer(t, func(t *testing.T, a *apiServer, s *Selectors) {
		deaf := func(are bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.deaf = are
		}
		deaf(true)
		<-time.After(2*shortestWatch + overdue) // from now on it is a deaf one
		deaf(false)
		a.set("a", false)
		<-time.After(2*shortestWatch + overdue + time.Second)
		decides(t, s, roleselector.NoSelector, "")
	})
}

func TestWhatWasOutOfReachIsReadAgainAsSoonAsItCanBe(t *testing.T) {
	onAServer(t, func(t *testing.T, a *apiServer, s *Selectors) {
		for range 20 {
			a.wire.cut()
			<-time.After(10 * time.Second)
			decides(t, s, roleselector.NotYetKnown, "")
			a.wire.mend()
			<-time.After(3 * retry)
			decides(t, s, roleselector.Use, "a")
		}
	})
}

func TestWhatAQuietHourCosts(t *testing.T) {
	onAServer(t, func(t *testing.T, a *apiServer, _ *Selectors) {
		count := func() map[string]int {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.wire.mu.Lock()
			defer a.wire.mu.Unlock()
			return map[string]int{"reads": a.reads, "lists": a.lists, "watches": a.watches, "connections": a.wire.dialed}
		}
		before := count()
		<-time.After(time.Hour)
		after := count()
		for what, most := range map[string]int{"reads": 7200, "lists": 0, "watches": 120, "connections": 0} {
			if made := after[what] - before[what]; made > most || most > 0 && made < most/3 {
				t.Errorf("%d %s, want %d at the most", made, what, most)
			}
		}
	})
}

func TestOverHTTP1WatchesAreBegunAnewAgainAndAgain(t *testing.T) {
	onAServerThatSpeaks(t, false, func(t *testing.T, a *apiServer, s *Selectors) {
		_, watches := a.counted()
		for range 600 {
			<-time.After(100 * time.Millisecond)
			decides(t, s, roleselector.Use, "a")
		}
		if _, w := a.counted(); w < watches+20 {
			t.Errorf("%d watches were begun in a minute, want one in each second and a half", w-watches)
		}
		a.set("a", false)
		<-time.After(fresh)
		decides(t, s, roleselector.NoSelector, "")
	})
}

// TestTheIntervalOfThePulse: it is asked as often as it is told, and what is known counts
// for a second longer.
func TestTheIntervalOfThePulse(t *testing.T) {
	const every = 5 * time.Second
	onAServerAt(t, every, true, func(t *testing.T, a *apiServer, s *Selectors) {
		reads := func() int {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.reads
		}
		before := reads()
		<-time.After(time.Hour)
		if made := reads() - before; made < 3600/5/2 || made > 3600/5+1 {
			t.Errorf("%d reads in an hour, want one in five seconds", made)
		}
		end := a.wire.fallSilent()
		defer end()
		a.wire.mu.Lock()
		a.wire.isCut = true
		a.wire.mu.Unlock()
		a.set("a", false)
		<-time.After(answerTime - time.Millisecond)
		decides(t, s, roleselector.Use, "a")
		<-time.After(every + time.Millisecond)
		decides(t, s, roleselector.NotYetKnown, "")
	})
}
