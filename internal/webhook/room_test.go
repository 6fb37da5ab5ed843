package webhook

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// reviewSized is a request with a body of that many bytes; negative: of unknown
// size.
func reviewSized(t *testing.T, size int64) *http.Request {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mutate", nil)
	request.ContentLength = size
	return request
}

func TestLargeReviewsWaitForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		var leaves []func()
		for range largeReviews {
			leave, ok := r.enter(reviewSized(t, maxReview))
			if !ok {
				t.Fatal("there is no room for as many as there is room for")
			}
			leaves = append(leaves, leave)
		}
		for name, size := range map[string]int64{"one more": smallReview + 1, "one of unknown size": -1} {
			if _, ok := r.enter(reviewSized(t, size)); ok {
				t.Errorf("there is room for %s", name)
			}
		}
		if leave, ok := r.enter(reviewSized(t, smallReview)); !ok {
			t.Error("a small one has to wait for large ones")
		} else {
			leave()
		}
		entered := make(chan bool)
		go func() {
			_, ok := r.enter(reviewSized(t, maxReview))
			entered <- ok
		}()
		synctest.Wait()
		leaves[0]()
		if !<-entered {
			t.Error("one that waits is not let in when another leaves")
		}
	})
}

func TestABusyServerSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
		space := s.mutators[cloudAWS].room
		for range largeReviews {
			space <- struct{}{}
		}
		large := strings.Replace(pod, `"name":"app"`, `"name":"app","annotations":{"x":"`+strings.Repeat("x", smallReview)+`"}`, 1)
		if got := ask(t, s, "application/json", reviewOf("v1", "shop", large)); got.Code != http.StatusServiceUnavailable {
			t.Errorf("a large review is answered %d %s, want 503", got.Code, got.Body)
		}
		if got := ask(t, s, "application/json", reviewOf("v1", "shop", pod)); got.Code != http.StatusOK {
			t.Errorf("a small review is answered %d %s, want 200", got.Code, got.Body)
		}
		<-space
		if got := ask(t, s, "application/json", reviewOf("v1", "shop", large)); got.Code != http.StatusOK || len(space) != largeReviews-1 {
			t.Errorf("with room, a large review is answered %d %s, and %d are in; want 200, and that it has left", got.Code, got.Body, len(space))
		}
	})
}
