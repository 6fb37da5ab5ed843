package awsauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func TestProxiesOfTheEnvironmentCountButForAgents(t *testing.T) {
	if httpClient(nil).Transport.(*http.Transport).Proxy == nil {
		t.Error("the proxies of the environment are not asked for")
	}
	if direct().Transport.(*http.Transport).Proxy != nil {
		t.Error("an agent's token may go to a proxy")
	}
}

func TestRedirectsAreFollowedOnlyWhereTheMethodStays(t *testing.T) {
	for status, want := range map[int]int{301: 301, 302: 302, 303: 303, 307: 204, 308: 204} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			http.Redirect(w, r, "/there", status)
		}))
		t.Cleanup(server.Close)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := direct().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != want {
			t.Errorf("after %d the answer is %d, want %d", status, response.StatusCode, want)
		}
	}
}

// sentBody is the body of a request of the SDK once it has been sent and closed.
type sentBody struct{ io.Reader }

func (sentBody) Close() error                     { return nil }
func (sentBody) WriteTo(io.Writer) (int64, error) { return 0, io.EOF }

func TestClosedBodyDoesNotBreakTheAnswer(t *testing.T) {
	const answer = "the answer"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		// The client has the head of the answer, and looks at its request's
		// body. If it closes the connection for that, then this ends too.
		select {
		case <-time.After(100 * time.Millisecond):
		case <-r.Context().Done():
		}
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	trusting, err := newTrustingClient("", os.ReadFile, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]aws.HTTPClient{"own": trusting, "injected": plainBodies{server.Client()}} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, sentBody{strings.NewReader("Action=x")})
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = 8
		response, err := client.Do(request)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := io.ReadAll(response.Body); string(got) != answer || err != nil {
			t.Errorf("%s: the answer is %q, %v", name, got, err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
