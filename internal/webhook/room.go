package webhook

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
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
	// slowTime is how long one may take that arrives more slowly than slowPace, in bytes
	// a second. An API server sends tens of megabytes a second.
	slowTime, slowPace = 100 * time.Millisecond, 4 << 20
)

// room bounds the memory of the reviews that are larger than smallReview. Who comes
// has sent that much, and not only announced it; and who does not send the rest
// goes when another waits. How much an address holds counts only where that is more than a
// quarter of the room: an attacker has as many addresses as he likes. It is safe for
// concurrent use.
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
	// got is how many bytes have arrived.
	got atomic.Int64
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

// share is what an address holds, and a quarter of the room for one that holds less.
func (r *room) share(of *stay, holds map[netip.Prefix]int64) int64 {
	return max(holds[of.address], r.size/4)
}

// isNext says whether it is somebody's turn: of addresses that hold no more than others the
// smallest goes first, and of those who came first. Whoever wants to be before the others takes
// little room.
func (r *room) isNext(s *stay, holds map[netip.Prefix]int64) bool {
	before := true // s in the order of coming
	for _, each := range r.waiting {
		if each == s {
			before = false
			continue
		}
		order := cmp.Or(cmp.Compare(r.share(each, holds), r.share(s, holds)), cmp.Compare(each.bytes, s.bytes))
		if order < 0 || order == 0 && before {
			return false
		}
	}
	return true
}

// mayGo says that one makes room for another: one that has been there for too long, or that is
// not all there and arrives slowly.
func (s *stay) mayGo(now time.Time) bool {
	age := now.Sub(s.since)
	return !s.out && (age >= stayTime || !s.whole && age >= slowTime && s.got.Load() < int64(age.Seconds()*slowPace))
}

// choose picks who goes for one more: first those of the address that holds most, and the
// largest of them.
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
			if each.mayGo(now) && (next == nil || cmp.Or(
				cmp.Compare(r.share(each, holds), r.share(next, holds)), cmp.Compare(each.bytes, next.bytes), next.since.Compare(each.since)) > 0) {
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
