// Package sigv4_test holds the local AWS's verification of signatures
// against the signer of the AWS SDK for Go: what that signs is taken, and no
// part of it can be changed.
package sigv4_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const account = awslocal.DefaultAccount

// serve is a local AWS with a clock; nil: the real one.
func serve(t *testing.T, now func() time.Time) *awslocal.Server {
	t.Helper()
	server := must.Get(awslocal.New(awslocal.Options{Now: now}))(t)
	return server
}

// ask sends a request to the server and returns the caller that it took it for,
// "anonymous" also where the signature is right and the body is not.
func ask(t *testing.T, server *awslocal.Server, r *http.Request) (caller string, answer *httptest.ResponseRecorder) {
	t.Helper()
	server.Admin().ClearJournal()
	answer = httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, r)
	journal := server.Admin().Journal()
	if len(journal) != 1 {
		t.Fatalf("the journal has %d entries, want 1", len(journal))
	}
	if journal[0].Error == "XAmzContentSHA256Mismatch" {
		return "anonymous", answer
	}
	return journal[0].Caller, answer
}

// wire is a request as it travels: what can be changed on the way.
type wire struct {
	method, path, query string
	headers             [][2]string
	body                string
}

func newWire(r *http.Request, body string) wire {
	w := wire{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.RawQuery, body: body, headers: [][2]string{{"Host", r.Host}}}
	for name, values := range r.Header {
		for _, value := range values {
			w.headers = append(w.headers, [2]string{name, value})
		}
	}
	return w
}

// parse reads the wire as a server does; it fails for what is no HTTP.
func (w wire) parse() (*http.Request, error) {
	var text bytes.Buffer
	target := w.path
	if w.query != "" {
		target += "?" + w.query
	}
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\n", w.method, target)
	for _, header := range w.headers {
		fmt.Fprintf(&text, "%s: %s\r\n", header[0], header[1])
	}
	if len(w.body) > 0 {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(w.body))
	}
	text.WriteString("\r\n" + w.body)
	return http.ReadRequest(bufio.NewReader(&text))
}

// change returns the wire with one byte of one of its parts changed.
func (w wire) change(random *rand.Rand) (wire, string) {
	w.headers = append([][2]string{}, w.headers...)
	parts := map[string]*string{"the method": &w.method, "the path": &w.path, "the query": &w.query, "the body": &w.body}
	for i, header := range w.headers {
		parts[header[0]] = &w.headers[i][1]
	}
	names := make([]string, 0, len(parts))
	for name, part := range parts {
		if *part != "" {
			names = append(names, name)
		}
	}
	// The order of a map would make a failure impossible to repeat.
	name := pick(random, sorted(names))
	part := parts[name]
	at := random.IntN(len(*part))
	if name == "the path" && at == 0 {
		at = len(*part) - 1
	}
	const others = "abcXYZ0189-._~/%=&;,: +"
	with := others[random.IntN(len(others))]
	if (*part)[at] == with {
		with = '!'
	}
	*part = (*part)[:at] + string(with) + (*part)[at+1:]
	return w, fmt.Sprintf("byte %d of %s is now %q: %s", at, name, with, *part)
}

// meaning is what a request says, however it is written: escapes, the order of
// the query and runs of spaces do not matter.
func meaning(r *http.Request, body string) string {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(plain)
		}
	}
	var headers []string
	for name, values := range r.Header {
		headers = append(headers, name+":"+strings.Join(strings.Fields(strings.Join(values, ",")), " "))
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return ""
	}
	return strings.Join([]string{r.Method, strings.Join(segments, "/"), query.Encode(), r.Host, strings.Join(sorted(headers), "\n"), body}, "\n")
}

// TestWhatTheSDKSignsIsTakenAndNothingOfItCanBeChanged signs requests of all
// shapes, and changes bytes of them.
func TestWhatTheSDKSignsIsTakenAndNothingOfItCanBeChanged(t *testing.T) {
	server := serve(t, nil)
	const changes = 25
	for name, makeRequest := range shapes {
		t.Run(name, func(t *testing.T) {
			random, refused := rand.New(rand.NewPCG(20260101, 7)), 0
			for range 120 {
				r, body := makeRequest(t, server, random)
				original := newWire(r, body)
				whole := ""
				if sent, err := original.parse(); err != nil {
					t.Fatalf("the request is no HTTP: %v", err)
				} else {
					whole = meaning(sent, body)
					if caller, answer := ask(t, server, sent); caller == "anonymous" {
						t.Fatalf("%s %s?%s %v is refused: %s", original.method, original.path, original.query, original.headers, answer.Body)
					}
				}
				for range changes {
					changed, what := original.change(random)
					sent, err := changed.parse()
					if err != nil || meaning(sent, changed.body) == whole {
						continue
					}
					refused++
					if caller, answer := ask(t, server, sent); caller != "anonymous" || answer.Code < 400 {
						t.Errorf("%s %s?%s %v is taken although %s", original.method, original.path, original.query, original.headers, what)
					}
				}
			}
			if refused < 1000 {
				t.Errorf("only %d changes were tried", refused)
			}
		})
	}
}
