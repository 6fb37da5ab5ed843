package console

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// An install that a person may not read is a problem in the stream, which goes on: the right may come.
func TestAStreamGoesOn(t *testing.T) {
	u := as(t, secrets(t), nil)
	listening := httptest.NewServer(u.server.Handler())
	defer listening.Close()
	ask := func(last string) *http.Response {
		t.Helper()
		request := u.request(http.MethodGet, "/api/v1/events?install=team-a/word-team-a", "")
		real := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, listening.URL+request.URL.RequestURI(), nil))(t)
		real.Header, real.Host = request.Header, "127.0.0.1:4711"
		real.Header.Set("Last-Event-ID", last)
		response, err := http.DefaultClient.Do(real)
		must.Do(t, err)
		return response
	}
	first := ask("")
	defer func() { _ = first.Body.Close() }()
	lines := bufio.NewScanner(first.Body)
	said := map[string]string{}
	for len(said) < 3 && lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ": "); ok {
			said[name] = value
		}
	}
	if said["event"] != "problem" || !strings.Contains(said["data"], `"code":"right"`) || said["id"] == "" {
		t.Fatalf("the stream says %v", said)
	}
	// Who comes back is not told the same again.
	again := ask(said["id"])
	defer func() { _ = again.Body.Close() }()
	got := make(chan string)
	go func() {
		for lines := bufio.NewScanner(again.Body); lines.Scan(); {
			got <- lines.Text()
		}
	}()
	for end := time.After(3 * glance); ; {
		select {
		case line := <-got:
			if line != "" && !strings.HasPrefix(line, ":") {
				t.Errorf("the second stream says %q", line)
			}
		case <-end:
			return
		}
	}
}

func TestThereAreSoManyStreams(t *testing.T) {
	u := as(t, secrets(t), nil)
	for range mostStreams {
		u.server.streams <- struct{}{}
	}
	if p := refusal(t, u.do(u.request(http.MethodGet, "/api/v1/events?install=a/b", ""))); p.Code != "streams" {
		t.Errorf("the problem is %+v", p)
	}
	for _, query := range []string{"", "?install=", "?install=a", "?install=/b", "?install=a/b&x=1"} {
		if p := refusal(t, u.do(u.request(http.MethodGet, "/api/v1/events"+query, ""))); p.Code != "parameter" {
			t.Errorf("%q: %+v", query, p)
		}
	}
}
