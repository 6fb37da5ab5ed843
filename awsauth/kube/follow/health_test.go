package follow

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// TestHealthOverAnyCourse holds what is promised of health against any order of events.
func TestHealthOverAnyCourse(t *testing.T) {
	const grace = time.Second
	for seed := range uint64(3000) {
		chance := rand.New(rand.NewPCG(seed, 0))
		h, now := Health{Err: ErrNotRead, grace: grace}, time.Unix(1000, 0)
		seen := time.Time{}                          // when it was listed or watched last
		read, watching, fresh := false, false, false // fresh: listed, and not watched since
		for step := range 60 {
			now = now.Add(time.Duration(chance.IntN(700)) * time.Millisecond)
			h = h.passed(now)
			if watching {
				seen = now
			}
			event := chance.IntN(6)
			switch event {
			case 0:
				h, seen, read, watching, fresh = h.listed(), now, true, false, true
			case 1:
				h = h.opened()
				if watching = h.Known; watching {
					seen, fresh = now, false
				}
			case 2:
				h, watching = h.left(now), false
			case 3:
				h, watching = h.failed(errAway, false, now), false
			case 4:
				h, read, watching = h.failed(errors.New("forbidden"), true, now), false, false
			case 5:
				h = h.silenced(!h.Silent, now)
			}
			switch {
			case h.Known && !read:
				t.Fatalf("seed %d, step %d: it is known after a refusal, or before a reading", seed, step)
			case h.Known && !fresh && now.Sub(seen) >= grace:
				t.Fatalf("seed %d, step %d: it counts %v after it was watched last", seed, step, now.Sub(seen))
			case h.Counts() && h.Silent:
				t.Fatalf("seed %d, step %d: it counts while the API server is silent", seed, step)
			case !h.Known && (h.Err == nil || h.Since.IsZero() && !errors.Is(h.Err, ErrNotRead)):
				t.Fatalf("seed %d, step %d: nothing says why it is not known, or since when", seed, step)
			case watching && !h.Known:
				t.Fatalf("seed %d, step %d: it is watched all the time and not known", seed, step)
			case !h.unwatched.IsZero() && (watching || !h.Known):
				t.Fatalf("seed %d, step %d: it waits for the end of a grace that there is none of", seed, step)
			}
		}
	}
}

func TestWithoutAGraceItIsKnownForEver(t *testing.T) {
	h := Health{}.listed().opened().left(time.Unix(0, 0)).failed(errAway, false, time.Unix(1, 0)).passed(time.Unix(1e9, 0))
	if !h.Counts() || !errors.Is(h.Err, errAway) {
		t.Errorf("it is %+v", h)
	}
}
