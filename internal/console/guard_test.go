package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const port = 4711

// server is one with a catalogue, and its sessions.
func server(t *testing.T, options Options) *Server {
	t.Helper()
	if options.World.Read == nil {
		options.World.Read = func(context.Context) (catalogue.Catalogue, error) { return catalogue.Catalogue{}, nil }
	}
	return New(options, NewSessions(time.Now), port)
}

// browser is a session.
type browser struct {
	*testing.T
	server        *Server
	cookie, token string
}

func open(t *testing.T, s *Server) *browser {
	t.Helper()
	cookie, token, ok := s.sessions.begin(s.sessions.NewCode())
	if !ok {
		t.Fatal("a new code begins no session")
	}
	return &browser{t, s, cookie, token}
}

// request is one that the pages make.
func (b *browser) request(method, path, body string) *http.Request {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), method, "http://127.0.0.1:4711"+path, strings.NewReader(body))
	r.Header.Set(tokenHeader, b.token)
	r.AddCookie(&http.Cookie{Name: b.server.cookie(), Value: b.cookie})
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://127.0.0.1:4711")
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// do is the answer.
func (b *browser) do(r *http.Request) *httptest.ResponseRecorder {
	out := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(out, r)
	return out
}

// get reads a document of the API.
func (b *browser) get(path string, into any) {
	b.Helper()
	out := b.do(b.request(http.MethodGet, path, ""))
	if out.Code != http.StatusOK {
		b.Fatalf("%s answers %d: %s", path, out.Code, out.Body)
	}
	must.Do(b, json.Unmarshal(out.Body.Bytes(), into))
}

// refusal is the problem that a request is refused with.
func refusal(t *testing.T, out *httptest.ResponseRecorder) api.Problem {
	t.Helper()
	var p api.Problem
	if kind := out.Header().Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("the answer %d has the type %q: %s", out.Code, kind, out.Body)
	}
	must.Do(t, json.Unmarshal(out.Body.Bytes(), &p))
	if p.Status != out.Code || p.Title == "" || p.Detail == "" || p.Code == "" || p.Instance == "" {
		t.Errorf("the problem of answer %d lacks something: %+v", out.Code, p)
	}
	return p
}

func TestTheGuardAsksEachRequestWhereItComesFrom(t *testing.T) {
	b := open(t, server(t, Options{}))
	const get, post = http.MethodGet, http.MethodPost
	for name, test := range map[string]struct {
		method, path string
		change       func(*http.Request)
		status       int
		code         string
	}{
		"a page of ours reads":                {get, "/api/v1/session", func(*http.Request) {}, 200, ""},
		"by the name localhost":               {get, "/api/v1/session", func(r *http.Request) { r.Host = "localhost:4711" }, 200, ""},
		"a name that leads here":              {get, "/api/v1/session", func(r *http.Request) { r.Host = "evil.example" }, 403, "host"},
		"a name that leads here, with port":   {get, "/", func(r *http.Request) { r.Host = "evil.example:4711" }, 403, "host"},
		"another port":                        {get, "/api/v1/session", func(r *http.Request) { r.Host = "127.0.0.1:4712" }, 403, "host"},
		"no host":                             {get, "/api/v1/session", func(r *http.Request) { r.Host = "" }, 403, "host"},
		"a name with a dot at its end":        {get, "/api/v1/session", func(r *http.Request) { r.Host = "localhost.:4711" }, 403, "host"},
		"a page of another site reads":        {get, "/api/v1/session", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "origin"},
		"a page of another port reads":        {get, "/api/v1/session", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403, "origin"},
		"an image of another site":            {get, "/api/v1/session", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, "origin"},
		"somebody types the API's address":    {get, "/api/v1/session", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 403, "origin"},
		"a cookie alone":                      {get, "/api/v1/session", func(r *http.Request) { r.Header.Del(tokenHeader) }, 403, "token"},
		"a header alone":                      {get, "/api/v1/session", func(r *http.Request) { r.Header.Del("Cookie") }, 401, "session"},
		"another token":                       {get, "/api/v1/session", func(r *http.Request) { r.Header.Set(tokenHeader, secret()) }, 403, "token"},
		"a foreign page posts":                {post, "/api/v1/checks/role", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "origin"},
		"a sandboxed page posts":              {post, "/api/v1/checks/role", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "origin"},
		"a page of another port posts":        {post, "/api/v1/checks/role", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:4712") }, 403, "origin"},
		"a page with TLS posts":               {post, "/api/v1/checks/role", func(r *http.Request) { r.Header.Set("Origin", "https://127.0.0.1:4711") }, 403, "origin"},
		"nobody says where a post comes from": {post, "/api/v1/checks/role", func(r *http.Request) { r.Header.Del("Origin") }, 403, "origin"},
		"a form posts":                        {post, "/api/v1/checks/role", func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, 415, "contentType"},
		"a form posts text":                   {post, "/api/v1/checks/role", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "contentType"},
		"a code from another site":            {post, "/api/v1/session", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "origin"},
		"a method that nothing has":           {http.MethodDelete, "/api/v1/session", func(*http.Request) {}, 405, "method"},
		"a page is not posted to":             {post, "/", func(*http.Request) {}, 405, "method"},
		"a preflight of another site":         {http.MethodOptions, "/api/v1/session", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 405, "method"},
		"an address that there is not":        {get, "/api/v1/nodes", func(*http.Request) {}, 404, "path"},
		"the API server's own addresses":      {get, "/api/v1/namespaces/kube-system/secrets", func(*http.Request) {}, 404, "path"},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.request(test.method, test.path, "{}")
			test.change(r)
			out := b.do(r)
			if out.Code != test.status {
				t.Fatalf("the answer is %d, want %d: %s", out.Code, test.status, out.Body)
			}
			if test.code != "" {
				if p := refusal(t, out); p.Code != test.code {
					t.Errorf("the problem is %q, want %q", p.Code, test.code)
				}
			}
			h := out.Header()
			if h.Get("Access-Control-Allow-Origin") != "" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none';") || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the headers of the answer are %v", h)
			}
		})
	}
}

func TestACodeOpensOneBrowser(t *testing.T) {
	s := server(t, Options{})
	code := s.sessions.NewCode()
	post := func(body string) *httptest.ResponseRecorder {
		b := &browser{T: t, server: s}
		r := b.request(http.MethodPost, "/api/v1/session", body)
		r.Header.Del(tokenHeader)
		r.Header.Del("Cookie")
		return b.do(r)
	}
	if p := refusal(t, post(`{"code":"guess"}`)); p.Code != "code" {
		t.Errorf("a guess: %+v", p)
	}
	if p := refusal(t, post(`{"code":"`+code+`","more":1}`)); p.Code != "body" {
		t.Errorf("a body with more: %+v", p)
	}
	out := post(`{"code":"` + code + `"}`)
	var opened api.Opened
	must.Do(t, json.Unmarshal(out.Body.Bytes(), &opened))
	cookie := out.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Name != "tabard-4711" || len(cookie.Value) < 43 {
		t.Errorf("the cookie is %v", cookie)
	}
	b := &browser{t, s, cookie.Value, opened.CSRF}
	var session api.Session
	b.get("/api/v1/session", &session)
	if session.HasCluster || session.User != "" {
		t.Errorf("without a cluster the session is %+v", session)
	}
	if p := refusal(t, post(`{"code":"`+code+`"}`)); p.Code != "code" {
		t.Errorf("the code again: %+v", p)
	}
}

func TestABodyIsBounded(t *testing.T) {
	b := open(t, server(t, Options{}))
	out := b.do(b.request(http.MethodPost, "/api/v1/session", `{"code":"`+strings.Repeat("x", mostBody)+`"}`))
	if p := refusal(t, out); p.Code != "body" {
		t.Errorf("a body of a megabyte: %+v", p)
	}
}

func TestAnAnswerThatTheBrowserHasIsNotSentAgain(t *testing.T) {
	b := open(t, server(t, Options{}))
	first := b.do(b.request(http.MethodGet, "/api/v1/session", ""))
	again := b.request(http.MethodGet, "/api/v1/session", "")
	again.Header.Set("If-None-Match", first.Header().Get("ETag"))
	if out := b.do(again); out.Code != http.StatusNotModified || out.Body.Len() > 0 {
		t.Errorf("the answer is %d with %d bytes", out.Code, out.Body.Len())
	}
	if kept := first.Header().Get("Cache-Control"); kept != "no-store" {
		t.Errorf("Cache-Control is %q", kept)
	}
}

// packed is a file of the front end.
func packed(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	must.Get(io.WriteString(w, text))(t)
	must.Do(t, w.Close())
	return &fstest.MapFile{Data: out.Bytes()}
}

func TestPages(t *testing.T) {
	s := server(t, Options{Pages: fstest.MapFS{"index.html.gz": packed(t, "<!doctype html>"), "assets/a-1.js.gz": packed(t, "run()")}})
	get := func(path string, accepts string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:4711"+path, nil)
		r.Header.Set("Accept-Encoding", accepts)
		out := httptest.NewRecorder()
		s.Handler().ServeHTTP(out, r)
		return out
	}
	for path, want := range map[string]string{
		"/": "<!doctype html>", "/operators?search=x": "<!doctype html>", "/operators/CatalogSource:olm%2Fvendor/p": "<!doctype html>",
		"/assets/a-1.js": "run()", "/assets/../assets/a-1.js": "",
	} {
		if out := get(path, ""); want != "" && (out.Code != http.StatusOK || out.Body.String() != want) {
			t.Errorf("%s answers %d: %s", path, out.Code, out.Body)
		}
	}
	out := get("/assets/a-1.js", "gzip, deflate")
	if out.Header().Get("Content-Encoding") != "gzip" || out.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || !strings.Contains(out.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("the headers of a script are %v", out.Header())
	}
	for _, path := range []string{"/assets/b.js", "/assets/", "/assets/a-1.js.gz", "/assets/%2e%2e/index.html", "/assets/..%2findex.html"} {
		if out := get(path, ""); out.Code == http.StatusOK && out.Body.String() != "<!doctype html>" {
			t.Errorf("%s answers %d: %s", path, out.Code, out.Body)
		}
	}
}

func TestAProgramWithoutPagesSaysSo(t *testing.T) {
	s := server(t, Options{})
	out := httptest.NewRecorder()
	s.Handler().ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:4711/operators", nil))
	if out.Code != http.StatusServiceUnavailable || !strings.Contains(out.Body.String(), "make console") {
		t.Errorf("the answer is %d: %s", out.Code, out.Body)
	}
}

func TestTheCatalogueIsReadAgainBehindTheScenes(t *testing.T) {
	clock := newClock()
	reads := make(chan error)
	kept := keepCatalogue(World{Read: func(context.Context) (catalogue.Catalogue, error) {
		err := <-reads
		return catalogue.Catalogue{Packages: []catalogue.Package{{Name: "p"}}}, err
	}}, clock.now)
	broken := errors.New("no cluster")
	go func() { reads <- broken }()
	if _, _, err := kept.get(t.Context()); !errors.Is(err, broken) {
		t.Errorf("the first read: %v", err)
	}
	go func() { reads <- nil }()
	first, _, err := kept.get(t.Context())
	must.Do(t, err)
	clock.at = clock.at.Add(freshFor + time.Second)
	if again, _, err := kept.get(t.Context()); again != first || err != nil {
		t.Error("a catalogue that is two minutes old was not shown while another is read")
	}
	clock.at = clock.at.Add(shownFor)
	go func() { reads <- broken }()
	if _, _, err := kept.get(t.Context()); !errors.Is(err, broken) {
		t.Errorf("an hour later, while nothing can be read: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := kept.get(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who is gone waits no longer: %v", err)
	}
}
