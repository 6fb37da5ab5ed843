package webhook

import (
	"context"
	"net/http"
	"time"
)

// Limits of the memory that reviews take. Most are of a few kilobytes, the largest
// of maxReview.
const (
	// smallReview is a size in bytes for which nobody has to wait.
	smallReview = 64 << 10
	// largeReviews is how many larger ones are in memory at a time.
	largeReviews = 8
	// roomTimeout is how long one waits for that: less than a hook's timeout, so
	// that the API server hears why.
	roomTimeout = 5 * time.Second
)

// room bounds how many large reviews are in memory. Small ones do not wait for
// large ones, however slowly these come.
type room chan struct{}

func newRoom() room { return make(room, largeReviews) }

// enter waits until there is room for a review. Who has entered leaves when the
// review is answered.
func (r room) enter(request *http.Request) (leave func(), ok bool) {
	if size := request.ContentLength; size >= 0 && size <= smallReview {
		return func() {}, true
	}
	ctx, cancel := context.WithTimeout(request.Context(), roomTimeout)
	defer cancel()
	select {
	case r <- struct{}{}:
		return func() { <-r }, true
	case <-ctx.Done():
		return nil, false
	}
}
