package follow

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
)

var errAway = errors.New("connection refused")

// ends of watches, and what follows.
func TestWhatFollowsAWatch(t *testing.T) {
	for name, each := range map[string]struct {
		reached string
		err     error
		lasted  time.Duration
		// failures before; what follows.
		failures       int
		lists, pauses  bool
		failuresBehind int
	}{
		"its time was over":                    {"7", nil, time.Minute, 3, false, false, 0},
		"it told something and ended at once":  {"8", nil, 0, 3, false, false, 0},
		"it told nothing and ended at once":    {"7", nil, 0, 0, false, false, 1},
		"and again":                            {"7", nil, 0, 1, false, true, 2},
		"it cannot be begun":                   {"7", errAway, 0, 1, false, true, 2},
		"it broke after a while":               {"9", errAway, time.Minute, 3, false, false, 0},
		"it cannot be begun again and again":   {"7", errAway, 0, maxFailures - 1, true, true, maxFailures},
		"the version is lost":                  {"7", ErrLost, 0, 0, true, false, 0},
		"the version is lost while it watches": {"9", errors.Join(errAway, ErrLost), time.Hour, 2, true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine{version: "7", failures: each.failures}
			pauses := m.watched(each.reached, each.err, each.lasted)
			lists, from := m.next()
			if lists != each.lists || pauses != each.pauses || m.failures != each.failuresBehind || !lists && from != each.reached {
				t.Errorf("it lists: %v from %q, pauses: %v, after %d failures; want %v, %v, %d", lists, from, pauses, m.failures, each.lists, each.pauses, each.failuresBehind)
			}
		})
	}
}

func TestAVersionThatIsLostAgainAndAgainIsNoHotLoop(t *testing.T) {
	var m machine
	for i := range 3 {
		m.next()
		m.listed("7", nil)
		if pauses := m.watched("7", ErrLost, 0); pauses != (i > 0) {
			t.Errorf("after loss %d it pauses: %v", i+1, pauses)
		}
	}
}

// TestNoWishIsLost compares the machine to all wishes and lists that there were, in any
// order of wishes, ends of lists and ends of watches.
func TestNoWishIsLost(t *testing.T) {
	for seed := range int64(2000) {
		rand.Seed(seed)
		var m machine
		now, wished, listBegan := 0, 0, -1 // the last wish, and the begin of the last good list
		for range 50 {
			wish := func() {
				for range rand.Intn(3) {
					m.wishes++
					now++
					wished = now
				}
			}
			wish()
			lists, from := m.next()
			if unmet := listBegan < wished; lists != (unmet || m.version == "") {
				t.Fatalf("seed %d: it lists: %v, from %q; a wish is unmet: %v", seed, lists, from, unmet)
			}
			now++
			began := now
			wish() // while it lists or watches
			err := []error{nil, errAway, ErrLost}[rand.Intn(3)]
			switch {
			case !lists:
				m.watched(from, err, time.Duration(rand.Intn(3))*time.Second)
			case err == nil:
				m.listed("7", nil)
				listBegan = began
			default:
				m.listed("", err)
			}
		}
	}
}
