package webhook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync/atomic"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

const (
	// maxReview bounds a review in bytes. An API server stores objects of up to 1.5
	// MiB, as they are in protobuf, and sends them in JSON, where they are larger.
	maxReview = 16 << 20
	// smallReview is a size in bytes for which nobody has to wait. Most reviews are
	// of a few kilobytes.
	smallReview = 64 << 10
	// usualReview is for what memory is there before anything has arrived.
	usualReview = 8 << 10
)

// intake reads reviews. The memory that they take follows from what has arrived, not
// from what was announced.
type intake struct {
	// anybody is the room of large reviews, known that of those which come over
	// connections with a client certificate.
	anybody, known *room
	// answers and knownAnswers are those of large answers.
	answers, knownAnswers *room
}

func newIntake(size bounds) *intake {
	return &intake{newRoom(size.large), newRoom(size.large), newRoom(size.answers), newRoom(size.answers)}
}

// answerMemory is what the answer takes at most, in bytes, for each container: its part of
// the patch, once as it is and once as it is sent.
const answerMemory = 12 << 10

// answerOf is what the answer about a pod of so many containers takes.
func answerOf(containers int) int64 {
	return int64(min(containers, podpatch.MaxContainers)) * answerMemory
}

// answer waits for room for the answer about a pod: a small review may have one of
// megabytes, and who asked may take his time to read it. When it is read, the caller calls
// leave. A small answer waits for nobody.
func (i *intake) answer(ctx context.Context, containers int) (leave func(), in bool) {
	size := answerOf(containers)
	if size <= smallReview {
		return nothing, true
	}
	from, where := connectionIn(ctx), i.answers
	if from.trusted() {
		where = i.knownAnswers
	}
	its := from.stay(size)
	if !where.enter(ctx, its) {
		return nothing, false
	}
	where.arrived(its)
	return func() { where.leave(its) }, true
}

// refusal is why there is no review: what the one who asked is answered.
type refusal struct {
	status  int
	busy    bool
	problem string
}

// nothing is to be done when a small review is answered.
func nothing() {}

// read reads a review to its end. When it is answered, the caller calls leave.
func (i *intake) read(r *http.Request, body *bytes.Buffer) (leave func(), problem *refusal) {
	body.Reset()
	if r.ContentLength > maxReview {
		return nothing, tooLarge()
	}
	begin := &io.LimitedReader{R: r.Body, N: smallReview + 1}
	if _, err := body.ReadFrom(begin); err != nil {
		return nothing, unreadable()
	}
	from := connectionOf(r)
	if begin.N > 0 { // it ended before
		from.heard()
		return nothing, nil
	}
	return i.readLarge(r, from, body)
}

// hear reads a review of which a handler keeps nothing, or answers why there is none; heard says
// which. When it is answered, the caller calls leave, in both cases.
func (i *intake) hear(w http.ResponseWriter, r *http.Request) (body []byte, leave func(), heard bool) {
	var all bytes.Buffer
	leave, problem := i.read(r, &all)
	if connectionOf(r).isCrowded() {
		// Hung up on later, while it is idle, the API server could be about to ask.
		w.Header().Set("Connection", "close")
	}
	if problem != nil {
		http.Error(w, problem.problem, problem.status)
		return nil, leave, false
	}
	return all.Bytes(), leave, true
}

// expectsJSON says that a request is JSON, or answers that it must be.
func expectsJSON(w http.ResponseWriter, r *http.Request) bool {
	is := isJSON(r.Header.Get("Content-Type"))
	if !is {
		http.Error(w, "expected application/json", http.StatusUnsupportedMediaType)
	}
	return is
}

// readLarge reads on where more has arrived than a small review has.
func (i *intake) readLarge(r *http.Request, from *connection, body *bytes.Buffer) (leave func(), problem *refusal) {
	size := r.ContentLength
	if size < 0 {
		size = maxReview
	}
	its, in := from.stay(size), i.anybody
	if from.trusted() {
		in = i.known
	}
	if !in.enter(r.Context(), its) {
		return nothing, &refusal{http.StatusServiceUnavailable, true, "too many large reviews at once: ask another replica, or again"}
	}
	leave = func() { in.leave(its) }
	body.Grow(int(size) - body.Len() + bytes.MinRead)
	its.got.Store(int64(body.Len()))
	rest := &io.LimitedReader{R: counted{r.Body, &its.got}, N: maxReview - int64(body.Len()) + 1}
	if _, err := body.ReadFrom(rest); err != nil {
		leave()
		return nothing, unreadable()
	}
	if rest.N == 0 {
		leave()
		return nothing, tooLarge()
	}
	in.arrived(its)
	from.heard()
	return leave, nil
}

// counted counts what is read.
type counted struct {
	io.Reader
	bytes *atomic.Int64
}

// Read implements io.Reader.
func (c counted) Read(into []byte) (int, error) {
	count, err := c.Reader.Read(into)
	c.bytes.Add(int64(count))
	return count, err
}

// stay is that of a large review which comes over a connection. To end it is to hang
// up.
func (c *connection) stay(size int64) *stay {
	if c == nil {
		return &stay{address: netip.Prefix{}, bytes: size, cut: nothing}
	}
	return &stay{address: c.group.address, bytes: size, cut: func() { c.door.end(c) }}
}

func tooLarge() *refusal {
	return &refusal{http.StatusRequestEntityTooLarge, false, fmt.Sprintf("the review is larger than %d bytes", maxReview)}
}

func unreadable() *refusal {
	return &refusal{http.StatusBadRequest, false, "the review could not be read to its end"}
}
