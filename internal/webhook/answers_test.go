package webhook

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// crowded is a review of few bytes for each of so many containers, with these members.
func crowded(containers int, members string) string {
	list := strings.TrimSuffix(strings.Repeat("{"+members+"},", containers), ",")
	return reviewOf("v1", "shop", `{"metadata":{"name":"app"},"spec":{"serviceAccountName":"app","containers":[`+list+`]}}`)
}

// slowReader is an answer that is not read until it is released.
type slowReader struct {
	*httptest.ResponseRecorder
	released       <-chan struct{}
	writing, bytes *atomic.Int64
}

func (s slowReader) Write(text []byte) (int, error) {
	if s.Code == http.StatusOK {
		s.writing.Add(1)
		s.bytes.Add(int64(len(text)))
		<-s.released
	}
	return s.ResponseRecorder.Write(text)
}

// TestLargeAnswersHaveRoom: reviews small enough to wait for nobody have answers of a
// megabyte, which nobody reads. No more of them are there than there is memory for, the
// others are told so, and usual pods have theirs.
func TestLargeAnswersHaveRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
		question := crowded(podpatch.MaxContainers, `"name":"a"`)
		if len(question) > smallReview {
			t.Fatalf("the review has %d bytes, want at most %d, for which nobody waits", len(question), smallReview)
		}
		most := s.bounds.answers / answerOf(podpatch.MaxContainers)
		released := make(chan struct{})
		var writing, bytes atomic.Int64
		var group sync.WaitGroup
		codes := make([]int, 4*most)
		handler := s.handler()
		for i := range codes {
			group.Go(func() {
				request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mutate", strings.NewReader(question))
				request.Header.Set("Content-Type", "application/json")
				answer := slowReader{httptest.NewRecorder(), released, &writing, &bytes}
				handler.ServeHTTP(answer, request)
				codes[i] = answer.Code
			})
		}
		synctest.Wait()
		if got := writing.Load(); got != most || bytes.Load() < most<<19 || 2*bytes.Load() > s.bounds.answers {
			t.Errorf("%d answers of %d bytes in all are written, want %d, of half a megabyte each at least, and twice that in %d bytes", got, bytes.Load(), most, s.bounds.answers)
		}
		if got := ask(t, s, "application/json", reviewOf("v1", "shop", pod)); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"patch"`) {
			t.Errorf("a usual pod is answered %d %s", got.Code, got.Body)
		}
		refusal := ask(t, s, "application/json", question)
		if refusal.Code != http.StatusServiceUnavailable || !strings.Contains(refusal.Body.String(), "too many large answers at once") {
			t.Errorf("one more is answered %d %.200s, want 503", refusal.Code, refusal.Body.String())
		}
		synctest.Wait() // all others have heard it, too
		close(released)
		group.Wait()
		told := map[int]int64{}
		for _, code := range codes {
			told[code]++
		}
		if told[http.StatusOK] != most || told[http.StatusServiceUnavailable] != 3*most || s.intake.answers.taken != 0 {
			t.Errorf("answers by status %v, and %d bytes are still in; want %d of 200, all others 503, and that all have left", told, s.intake.answers.taken, most)
		}
	})
}

// TestAnAnswerFitsItsRoom: what is reckoned for each container is enough for the longest
// role, with all that can come beside it, as it is and as it is sent.
func TestAnAnswerFitsItsRoom(t *testing.T) {
	t.Parallel()
	long := "arn:aws:iam::111122223333:role/" + strings.Repeat("p", 509) + "/app"
	s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": long}}, func(s *inject.Settings) {
		s.Region, s.RegionalSTS, s.SessionName = "us-west-2", true, true
	})
	for _, members := range []string{``, `"name":"a"`, `"env":[{"name":"OWN"}],"volumeMounts":[{"name":"x","mountPath":"/x"}]`} {
		for _, containers := range []int{6, podpatch.MaxContainers} {
			t.Run(fmt.Sprint(containers, members), func(t *testing.T) {
				t.Parallel()
				answer := ask(t, s, "application/json", crowded(containers, members))
				if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"patch"`) {
					t.Fatalf("it is answered %d %.200s", answer.Code, answer.Body)
				}
				if got, most := int64(2*answer.Body.Len()), answerOf(containers); got > most {
					t.Errorf("the answer and its patch take %d bytes, want at most %d", got, most)
				}
			})
		}
	}
}
