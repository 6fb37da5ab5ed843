package webhook

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
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

// lookups bounds the live looks at names that are not known, so that who makes names
// up takes neither all of an API server's time nor all of the looks. It is safe for
// concurrent use.
type lookups struct {
	// share is the rate of each crowd.
	share rate.Limit

	mu     sync.Mutex
	all    *rate.Limiter
	crowds map[string]*rate.Limiter
}

func newLookups(perSecond int) *lookups {
	all := rate.Limit(perSecond)
	return &lookups{share: all / crowdShare, all: newLimiter(all), crowds: map[string]*rate.Limiter{}}
}

// newLimiter lets as many through at once as have come in burstTime, and one at least.
func newLimiter(perSecond rate.Limit) *rate.Limiter {
	return rate.NewLimiter(perSecond, max(1, int(float64(perSecond)*burstTime.Seconds())))
}

// take says whether one may be looked at now, of those that belong to a crowd.
func (l *lookups) take(crowd string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	its := l.crowds[crowd]
	if its == nil {
		its = l.add(crowd, now)
	}
	// What one of the two refuses is not taken from the other.
	return its.TokensAt(now) >= 1 && l.all.TokensAt(now) >= 1 && its.AllowN(now, 1) && l.all.AllowN(now, 1)
}

// add makes a limiter for a crowd. Those that are full again are as new ones; if none is,
// the crowd shares one with all others that are too many.
func (l *lookups) add(crowd string, now time.Time) *rate.Limiter {
	if len(l.crowds) >= mostCrowds {
		maps.DeleteFunc(l.crowds, func(_ string, each *rate.Limiter) bool { return each.TokensAt(now) >= float64(each.Burst()) })
	}
	if len(l.crowds) >= mostCrowds {
		crowd = ""
	}
	if l.crowds[crowd] == nil {
		l.crowds[crowd] = newLimiter(l.share)
	}
	return l.crowds[crowd]
}
