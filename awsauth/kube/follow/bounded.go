package follow

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// freely is how many bytes of a page are read without a turn.
const freely = 256 << 10

// turn is held by who reads a long page, until nothing of it is needed any more: there is one
// in a process, so that Followers that list at the same time do not add up.
var turn = make(chan struct{}, 1)

// reading is one page as it is read. It is used by one goroutine.
type reading struct {
	// longest is how many bytes are read at most; 0 is any number.
	longest int64
	bytes   int64
	// cut says that there was more, and bounded that a transport measures.
	cut, hasTurn, bounded bool
}

// end gives back the turn.
func (r *reading) end() {
	if r.hasTurn {
		<-turn
		r.hasTurn = false
	}
}

type readingKey struct{}

// Bounded is a transport on which the Followers of this process bound by its bytes what they
// read at a time. Everything else passes it as it is. It is for rest.Config.Wrap; a Follower
// whose client goes without it asks for few objects at a time, however short they are.
func Bounded(base http.RoundTripper) http.RoundTripper { return bounded{base} }

type bounded struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	page, is := request.Context().Value(readingKey{}).(*reading)
	if !is || page.bounded { // a configuration may be wrapped twice
		return b.base.RoundTrip(request)
	}
	page.bounded = true
	response, err := b.base.RoundTrip(request)
	page.bounded = false
	if err != nil {
		return response, err
	}
	page.end() // the client may ask again after an answer that did not help
	page.bytes, page.cut = 0, false
	response.Body = &boundedBody{response.Body, request.Context(), page}
	return response, nil
}

// WrappedRoundTripper is the transport below, for client-go.
func (b bounded) WrappedRoundTripper() http.RoundTripper { return b.base }

// boundedBody is the body of one page.
type boundedBody struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // a reader is not given one
	page *reading
}

// Read implements io.Reader. What is too long ends early, and cut says so: an error would be
// logged by client-go each time.
func (b *boundedBody) Read(into []byte) (int, error) {
	if b.page.longest > 0 && b.page.bytes >= b.page.longest {
		b.page.cut = true
		return 0, io.EOF
	}
	if b.page.bytes >= freely && !b.page.hasTurn {
		select {
		case turn <- struct{}{}:
			b.page.hasTurn = true
		case <-b.ctx.Done():
			return 0, fmt.Errorf("wait until another long list has been read: %w", context.Cause(b.ctx))
		}
	}
	count, err := b.ReadCloser.Read(into)
	b.page.bytes += int64(count)
	return count, err
}
