package webhook

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// comer is a large review from an address, and what was cut of it.
type comer struct {
	stay
	cuts int
}

func comerFrom(address string, bytes int64) *comer {
	made := &comer{stay: stay{address: netip.MustParsePrefix(address + "/32"), bytes: bytes}}
	made.cut = func() { made.cuts++ }
	return made
}

// leaving is one that leaves when it is told to.
func leaving(r *room, address string, bytes int64) *comer {
	made := comerFrom(address, bytes)
	made.cut = func() { made.cuts++; r.leave(&made.stay) }
	return made
}

func TestLargeReviewsWaitForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(100)
		whole := comerFrom("10.0.0.1", 100)
		if !r.enter(t.Context(), &whole.stay) {
			t.Fatal("there is no room in an empty room")
		}
		r.arrived(&whole.stay)
		entered := make(chan bool)
		next := comerFrom("10.0.0.2", 1)
		go func() { entered <- r.enter(t.Context(), &next.stay) }()
		<-time.After(stayTime / 2)
		if whole.cuts != 0 {
			t.Error("one that is all there is cut before its time")
		}
		r.leave(&whole.stay)
		if !<-entered {
			t.Error("one that waits is not let in when another leaves")
		}
		r.leave(&next.stay)
		if r.taken != 0 || len(r.stays) != 0 {
			t.Errorf("the empty room holds %d bytes of %d reviews", r.taken, len(r.stays))
		}
	})
}

func TestWhoDoesNotArriveMakesRoom(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		first, then string
		whole       bool
		at          time.Duration
	}{
		"of another address, when it is too slow":          {"10.0.0.1", "10.0.0.2", false, slowTime},
		"of the same address, when it is too slow":         {"10.0.0.1", "10.0.0.1", false, slowTime},
		"also what is there, if it is not answered then":   {"10.0.0.1", "10.0.0.2", true, stayTime},
		"of the same address, what is not answered either": {"10.0.0.1", "10.0.0.1", true, stayTime},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(100)
				slow := leaving(r, test.first, 100)
				r.enter(t.Context(), &slow.stay)
				if test.whole {
					r.arrived(&slow.stay)
				}
				began := time.Now()
				if !r.enter(t.Context(), &comerFrom(test.then, 100).stay) {
					t.Fatal("there is no room")
				}
				if took := time.Since(began); slow.cuts != 1 || took < test.at || took > test.at+2*lookAgain {
					t.Errorf("it was cut %d times, and the next came in after %v, want %v", slow.cuts, took, test.at)
				}
			})
		})
	}
}

// TestNobodyIsCutInVain: not one that arrives as fast as it should, and no more than one for
// one more.
func TestNobodyIsCutInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(3 << 20)
		fast, slow, also := comerFrom("10.0.0.1", 1<<20), comerFrom("10.0.0.2", 1<<20), comerFrom("10.0.0.3", 1<<20)
		for _, each := range []*comer{fast, slow, also} {
			if _, in := r.try(&each.stay); !in {
				t.Fatal("there is no room")
			}
		}
		check := func(want int) {
			t.Helper()
			if _, in := r.try(&comerFrom("10.0.0.4", 1<<20).stay); in || fast.cuts > 0 || slow.cuts+also.cuts != want {
				t.Errorf("one more is in: %t; %d, %d and %d are cut, want none of the first and %d of the others", in, fast.cuts, slow.cuts, also.cuts, want)
			}
		}
		check(0)
		<-time.After(slowTime)
		fast.got.Store(1 << 19)
		check(1)
		check(1)
	})
}

// TestWhoHoldsLessGoesFirst: the room that one makes is not taken by those who have
// waited for longer, of an address that holds more.
func TestWhoHoldsLessGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(100)
		for range 4 {
			r.enter(t.Context(), &leaving(r, "10.0.0.1", 25).stay)
		}
		for range 50 {
			go func() {
				if greedy := leaving(r, "10.0.0.1", 25); r.enter(t.Context(), &greedy.stay) {
					<-time.After(roomTimeout)
				}
			}()
		}
		synctest.Wait()
		began := time.Now()
		for range 2 {
			honest := comerFrom("10.0.0.2", 25)
			if !r.enter(t.Context(), &honest.stay) || time.Since(began) > slowTime+lookAgain {
				t.Errorf("it waits for %v", time.Since(began))
			}
			r.arrived(&honest.stay)
		}
		<-time.After(2 * roomTimeout)
	})
}

// TestManyAddressesKeepNobodyOut: 200 reviews of two megabytes a second, each from another
// address, that do not arrive, and those of an API server beside them that do.
func TestManyAddressesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	for name, arrives := range map[string]int64{"that stop": 0, "that trickle": 500 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				r := newRoom(64 << 20)
				connections := make(chan struct{}, 500) // as many as there are places
				go func() {
					for i := 0; ctx.Err() == nil; i++ {
						connections <- struct{}{}
						one := leaving(r, address(i).Addr().String(), 2<<20)
						one.got.Store(smallReview)
						go func() {
							defer func() { <-connections }()
							if !r.enter(ctx, &one.stay) {
								return
							}
							for range 10 {
								<-time.After(100 * time.Millisecond)
								one.got.Add(arrives / 10)
							}
						}()
						<-time.After(time.Second / 200)
					}
				}()
				<-time.After(5 * time.Second)
				var all sync.WaitGroup
				for range 50 {
					<-time.After(20 * time.Millisecond)
					all.Go(func() {
						one, began := comerFrom("10.0.0.1", 2<<20), time.Now()
						one.got.Store(smallReview)
						if !r.enter(ctx, &one.stay) || time.Since(began) > time.Second {
							t.Errorf("it waits for %v", time.Since(began))
							return
						}
						for range 10 {
							<-time.After(10 * time.Millisecond)
							one.got.Add(200 << 10)
						}
						r.arrived(&one.stay)
						<-time.After(10 * time.Millisecond)
						if r.leave(&one.stay); one.cuts > 0 {
							t.Error("it was cut while it arrived")
						}
					})
				}
				all.Wait()
				cancel()
				<-time.After(roomTimeout)
			})
		})
	}
}

func TestABusyServerSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
		full := comerFrom("10.0.0.1", s.bounds.large)
		s.intake.anybody.enter(t.Context(), &full.stay)
		large := strings.Replace(pod, `"name":"app"`, `"name":"app","annotations":{"x":"`+strings.Repeat("x", smallReview)+`"}`, 1)
		if got := ask(t, s, "application/json", reviewOf("v1", "shop", large)); got.Code != http.StatusServiceUnavailable {
			t.Errorf("a large review is answered %d %s, want 503", got.Code, got.Body)
		}
		if got := ask(t, s, "application/json", reviewOf("v1", "shop", pod)); got.Code != http.StatusOK {
			t.Errorf("a small review is answered %d %s, want 200", got.Code, got.Body)
		}
		s.intake.anybody.leave(&full.stay)
		if got := ask(t, s, "application/json", reviewOf("v1", "shop", large)); got.Code != http.StatusOK || s.intake.anybody.taken != 0 {
			t.Errorf("with room, a large review is answered %d %s, and %d bytes are in; want 200, and that it has left", got.Code, got.Body, s.intake.anybody.taken)
		}
	})
}
