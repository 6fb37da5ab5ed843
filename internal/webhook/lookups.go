package webhook

import (
	"sync"
	"time"
)

// Rates of live looks, in looks a second. The watch tells of a new ServiceAccount
// within a fraction of a second, so that few pods come before it does; and the looks
// at an API server must stay few whatever is asked. Who waits for a look is told by
// the watch meanwhile.
const (
	// defaultUnknownLookups is for all names that are not known, together.
	defaultUnknownLookups = 50
	// knownLookups is for names that are known, and may have been given an identity
	// since.
	knownLookups = 200
	// crowdShare is the part of the looks at unknown names that one namespace may
	// take: one in so many. All namespaces that are not known are as one.
	crowdShare = 5
	// burstTime is for how long no look must have been taken for as many at once as
	// it would have had.
	burstTime = 2 * time.Second
	// mostCrowds is how many namespaces are told apart.
	mostCrowds = 1024
)

// bucket holds looks that may be taken: it fills with time.
type bucket struct {
	left float64
	last time.Time
}

// fill adds what has come since.
func (b *bucket) fill(rate float64, now time.Time) {
	most := rate * burstTime.Seconds()
	if b.last.IsZero() {
		b.left = most
	} else if since := now.Sub(b.last).Seconds(); since > 0 {
		b.left = min(most, b.left+since*rate)
	}
	b.last = now
}

// lookups bounds the live looks at names that are not known, so that who makes names
// up takes neither all of an API server's time nor all of the looks. It is safe for
// concurrent use.
type lookups struct {
	rate float64

	mu     sync.Mutex
	all    bucket
	crowds map[string]*bucket
}

func newLookups(rate int) *lookups {
	return &lookups{rate: float64(rate), crowds: map[string]*bucket{}}
}

// take says whether one may be looked at now, of those that belong to a crowd.
func (l *lookups) take(crowd string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	share := l.rate / crowdShare
	its := l.crowds[crowd]
	if its == nil {
		its = l.add(crowd, share, now)
	}
	its.fill(share, now)
	l.all.fill(l.rate, now)
	if its.left < 1 || l.all.left < 1 {
		return false
	}
	its.left--
	l.all.left--
	return true
}

// add makes a bucket for a crowd. Those that are full again are as new ones; if none is,
// the crowd shares one with all others that are too many.
func (l *lookups) add(crowd string, share float64, now time.Time) *bucket {
	if len(l.crowds) >= mostCrowds {
		for name, each := range l.crowds {
			if each.fill(share, now); each.left >= share*burstTime.Seconds() {
				delete(l.crowds, name)
			}
		}
	}
	if len(l.crowds) >= mostCrowds {
		crowd = ""
	}
	if l.crowds[crowd] == nil {
		l.crowds[crowd] = &bucket{}
	}
	return l.crowds[crowd]
}
