package webhook

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Times of large reviews.
const (
	// roomTimeout is how long one waits for room: less than a hook's timeout, so
	// that the API server hears why.
	roomTimeout = 5 * time.Second
	// stayTime is how long one may take to arrive, and once more to be answered,
	// while another waits. An API server sends all at once.
	stayTime = time.Second
	// lookAgain is how often who waits looks who has been there for too long.
	lookAgain = 50 * time.Millisecond
)

// room bounds the memory of the reviews that are larger than smallReview. Who comes
// has sent that much, and not only announced it; and who does not send the rest
// goes when another waits. It is safe for concurrent use.
type room struct {
	mu          sync.Mutex
	size, taken int64 // in bytes
	stays       map[*stay]struct{}
	// waiting are those who want to enter, in the order in which they came.
	waiting []*stay
	// changed is closed when somebody has left.
	changed chan struct{}
}

// stay is one review's.
type stay struct {
	address netip.Prefix
	bytes   int64
	// since is when it came in, or when all of it was there.
	since time.Time
	whole bool
	// out says that it was told to go.
	out bool
	// cut ends it: then it leaves.
	cut func()
}

func newRoom(size int64) *room {
	return &room{size: size, stays: map[*stay]struct{}{}, changed: make(chan struct{})}
}

// enter waits until there is room. Who has entered leaves when the review is
// answered.
func (r *room) enter(ctx context.Context, s *stay) bool {
	r.mu.Lock()
	r.waiting = append(r.waiting, s)
	r.mu.Unlock()
	defer r.waitNoMore(s)
	ctx, cancel := context.WithTimeout(ctx, roomTimeout)
	defer cancel()
	for {
		changed, in := r.try(s)
		if in {
			return true
		}
		select {
		case <-changed:
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return false
		}
	}
}

func (r *room) waitNoMore(s *stay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(each *stay) bool { return each == s })
}

// try enters if there is room. If not, it ends the stays that make room, and the
// caller waits until they have left. Nobody does either before it is his turn: else
// the room that one makes would be taken by another.
func (r *room) try(s *stay) (changed <-chan struct{}, in bool) {
	now := time.Now()
	r.mu.Lock()
	changed = r.changed
	var ends []*stay
	switch holds := r.holds(); {
	case !r.isNext(s, holds):
	case r.taken+s.bytes <= r.size:
		s.since = now
		r.stays[s] = struct{}{}
		r.taken += s.bytes
		in = true
	default:
		ends = r.choose(s, holds, now)
	}
	r.mu.Unlock()
	for _, each := range ends {
		each.cut()
	}
	return changed, in
}

// holds is what each address holds, in bytes.
func (r *room) holds() map[netip.Prefix]int64 {
	found := map[netip.Prefix]int64{}
	for each := range r.stays {
		found[each.address] += each.bytes
	}
	return found
}

// isNext says whether it is somebody's turn: whose address holds least goes first, and
// who came first.
func (r *room) isNext(s *stay, holds map[netip.Prefix]int64) bool {
	before := true // s in the order of coming
	for _, each := range r.waiting {
		switch {
		case each == s:
			before = false
		case holds[each.address] < holds[s.address], before && holds[each.address] == holds[s.address]:
			return false
		}
	}
	return true
}

// choose picks who goes for one more: first those of the address that holds most.
// Who has been there for too long goes in any case, and who is not all there goes if
// its address holds more than that of the newcomer.
func (r *room) choose(comes *stay, holds map[netip.Prefix]int64, now time.Time) (ends []*stay) {
	missing := r.taken + comes.bytes - r.size
	for each := range r.stays {
		if each.out {
			missing -= each.bytes
		}
	}
	for missing > 0 {
		var next *stay
		for each := range r.stays {
			late := now.Sub(each.since) >= stayTime
			greedy := !each.whole && holds[each.address] > holds[comes.address]
			if each.out || !late && !greedy {
				continue
			}
			if next == nil || holds[each.address] > holds[next.address] ||
				holds[each.address] == holds[next.address] && each.since.Before(next.since) {
				next = each
			}
		}
		if next == nil {
			return ends
		}
		next.out = true
		ends, missing = append(ends, next), missing-next.bytes
		holds[next.address] -= next.bytes
	}
	return ends
}

// arrived notes that all of a review is there.
func (r *room) arrived(s *stay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.whole, s.since = true, time.Now()
}

func (r *room) leave(s *stay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.stays, s)
	r.taken -= s.bytes
	close(r.changed)
	r.changed = make(chan struct{})
}
