package capacity

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

const (
	// patience is how long the pass that puts a question waits for its answer.
	// What AWS has said before is there at once.
	patience = 200 * time.Millisecond
	// forgotten is when an answer that was not fetched is thrown away: its object
	// is gone, or asks something else now.
	forgotten = time.Minute
)

// desk puts questions to AWS on behalf of passes. A pass waits a moment; if there
// is no answer by then, the question stays open while the pass ends, and the
// object is woken to fetch the answer. So a region that hangs holds up neither
// the workers nor other regions. Passes with the same question share it.
type desk struct {
	types Types
	// wake makes an object's next pass begin.
	wake func(Request)
	// limit ends a question, life ends them all.
	limit time.Duration
	life  context.Context

	mu   sync.Mutex
	open map[inquiryKey]*inquiry
}

// inquiryKey is a question, and who asks it.
type inquiryKey struct {
	who      identity.Identity
	question instancetype.Question
}

// inquiry is a question on its way. Answer and fault are read after done is
// closed.
type inquiry struct {
	done   chan struct{}
	answer instancetype.Answer
	fault  *fault.Fault
	// waiting are those whose pass has ended without the answer. The desk's lock
	// guards it.
	waiting map[Request]bool
}

func newDesk(life context.Context, types Types, limit time.Duration, wake func(Request)) *desk {
	return &desk{types: types, wake: wake, limit: limit, life: life, open: map[inquiryKey]*inquiry{}}
}

// ask returns the answer or the fault, or neither if both are still to come: then
// the object is woken when they are there.
func (d *desk) ask(ctx context.Context, request Request, key inquiryKey) (instancetype.Answer, *fault.Fault) {
	one, isNew := d.join(request, key)
	if isNew {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-one.done:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if !d.fetch(request, key, one) {
		return instancetype.Answer{}, nil
	}
	return one.answer, one.fault
}

// join finds the inquiry of a question or makes it. Finished ones are only for
// those who have waited for them: to anybody else the answer may be out of date.
func (d *desk) join(request Request, key inquiryKey) (one *inquiry, isNew bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one = d.open[key]; one != nil && (!one.isDone() || one.waiting[request]) {
		return one, false
	}
	one = &inquiry{done: make(chan struct{}), waiting: map[Request]bool{}}
	d.open[key] = one
	go d.put(key, one)
	return one, true
}

// fetch says that the answer is there. Who gets it does not wait any more; who
// does not will come again.
func (d *desk) fetch(request Request, key inquiryKey, one *inquiry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !one.isDone() {
		one.waiting[request] = true
		return false
	}
	delete(one.waiting, request)
	if len(one.waiting) == 0 {
		d.drop(key, one)
	}
	return true
}

// put puts the question, and wakes those who wait when it is answered.
func (d *desk) put(key inquiryKey, one *inquiry) {
	ctx, cancel := context.WithTimeout(d.life, d.limit)
	defer cancel()
	answer, err := d.types.Get(ctx, key.who, key.question)
	for _, request := range d.finish(key, one, answer, controller.FaultOf(err)) {
		d.wake(request)
	}
}

// finish closes an inquiry and returns those who wait for it.
func (d *desk) finish(key inquiryKey, one *inquiry, answer instancetype.Answer, why *fault.Fault) []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	one.answer, one.fault = answer, why
	close(one.done)
	if len(one.waiting) > 0 {
		time.AfterFunc(forgotten, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.drop(key, one)
		})
	}
	return slices.Collect(maps.Keys(one.waiting))
}

// drop forgets an inquiry; the caller holds the lock.
func (d *desk) drop(key inquiryKey, one *inquiry) {
	if d.open[key] == one {
		delete(d.open, key)
	}
}

// clear forgets all inquiries: what they say was asked with credentials that have
// changed.
func (d *desk) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.open)
}

func (i *inquiry) isDone() bool {
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}
