package follow

import (
	"errors"
	"time"
)

// ErrNotRead is the Err of a Health before the first answer.
var ErrNotRead = errors.New("not read yet")

var errUnwatched = errors.New("the watch has ended and the API server does not answer")

// Health says what is known is worth. It is plain data: each event makes another of it.
type Health struct {
	// Known says that all has been read, and that it was watched since, but for the
	// grace at most.
	Known bool
	// Silent says that the API server does not answer: see Follower.SetSilent.
	Silent bool
	// Err is why it is not known, or what is wrong although it still is; nil for nothing.
	Err error
	// Since is when Err began; zero without one.
	Since time.Time

	// grace is how long it counts unwatched; 0 is for ever.
	grace time.Duration
	// justRead is from a reading until it is watched for the first time.
	justRead bool
	// unwatched is since when nobody watches what is known; zero while somebody does.
	unwatched time.Time
}

// Counts says that decisions may be made by what is known.
func (h Health) Counts() bool { return h.Known && !h.Silent }

// listed: all has been read.
func (h Health) listed() Health {
	h.Known, h.justRead, h.Err, h.Since, h.unwatched = true, true, nil, time.Time{}, time.Time{}
	return h
}

// opened: it is watched from now on. What was unwatched for too long is not known by that.
func (h Health) opened() Health {
	if h.Known {
		h.justRead, h.Err, h.Since, h.unwatched = false, nil, time.Time{}, time.Time{}
	}
	return h
}

// left: nobody watches it. While the API server is silent there is no grace: what is
// known is old already.
func (h Health) left(now time.Time) Health {
	switch {
	case !h.Known || !h.unwatched.IsZero():
	case h.Silent && !h.justRead:
		return h.stale(now)
	default:
		h.unwatched = now
	}
	return h
}

// failed: a list or a watch has ended with an error. A clear no counts at once.
func (h Health) failed(err error, refused bool, now time.Time) Health {
	h.Err = err
	if h.Since.IsZero() {
		h.Since = now
	}
	if h = h.left(now); refused {
		return h.stale(now)
	}
	return h
}

// silenced: the API server does not answer, or does again. What was watched all the time
// still counts then.
func (h Health) silenced(silent bool, now time.Time) Health {
	h.Silent = silent
	if !h.unwatched.IsZero() && !h.justRead {
		return h.stale(now)
	}
	return h
}

// passed: it is later.
func (h Health) passed(now time.Time) Health {
	if h.grace > 0 && !h.unwatched.IsZero() && now.Sub(h.unwatched) >= h.grace {
		return h.stale(now)
	}
	return h
}

func (h Health) stale(now time.Time) Health {
	h.Known, h.unwatched = false, time.Time{}
	if h.Err == nil {
		h.Err, h.Since = errUnwatched, now
	}
	return h
}
