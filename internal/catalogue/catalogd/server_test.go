package catalogd_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/catalogue/catalogd"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

const (
	pkgP    = `{"schema":"olm.package","name":"p","defaultChannel":"stable"}` + "\n"
	restOfP = `{"schema":"olm.channel","package":"p","name":"stable","entries":[{"name":"p.v1.0.0"},{"name":"p.v1.1.0","replaces":"p.v1.0.0"}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.1.0"}},{"type":"olm.csv.metadata","value":{"displayName":"P","annotations":{"features.operators.openshift.io/token-auth-aws":"true"}}}]}
`
	allP = pkgP + restOfP
	allQ = `{"schema":"olm.package","name":"q","defaultChannel":"stable"}
{"schema":"olm.channel","package":"q","name":"stable","entries":[{"name":"q.v1.0.0"}]}
{"schema":"olm.bundle","package":"q","name":"q.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"q","version":"1.0.0"}}]}
`
	jsonl = "application/jsonl"
)

// contentServer speaks the content API of catalogd for one catalogue, at /catalogs/vendor.
type contentServer struct {
	// content is the catalogue in JSON lines, last changed at modified.
	content  string
	modified time.Time
	// metas says that the gate APIV1MetasHandler is on; unnamed, that olm.package documents do
	// not count among those of their package; tags, that there are ETags and no dates.
	metas, unnamed, tags bool

	mutex sync.Mutex
	asked []string
	sent  int
}

var firstOfMay = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func (s *contentServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at, ok := strings.CutPrefix(r.URL.Path, "/catalogs/vendor/api/v1/")
	s.asked = append(s.asked, strings.TrimSuffix(at+"?"+r.URL.RawQuery, "?"))
	query := r.URL.Query()
	switch {
	case !ok || at != "all" && (at != "metas" || !s.metas):
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "no", http.StatusMethodNotAllowed)
		return
	}
	for name := range query {
		if at == "metas" && name != "schema" && name != "package" && name != "name" {
			http.Error(w, "no "+name, http.StatusBadRequest)
			return
		}
	}
	tag := `"` + s.modified.Format(time.RFC3339) + `"`
	if s.tags {
		w.Header().Set("ETag", tag)
	} else {
		w.Header().Set("Last-Modified", s.modified.Format(http.TimeFormat))
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	if s.tags && r.Header.Get("If-None-Match") == tag || !s.tags && err == nil && !s.modified.After(since) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	text := s.content
	if at == "metas" {
		text = s.some(query.Get("package"))
	}
	w.Header().Set("Content-Type", jsonl)
	body := []byte(text)
	if len(body) > 1400 && r.Header.Get("Accept-Encoding") == "gzip" {
		w.Header().Set("Content-Encoding", "gzip")
		body = zip(text)
	}
	n, _ := w.Write(body)
	s.sent += n
}

// some are the lines of a package.
func (s *contentServer) some(pkg string) string {
	var some strings.Builder
	for line := range strings.Lines(s.content) {
		var d struct{ Schema, Package, Name string }
		_ = json.Unmarshal([]byte(line), &d) // Tests write JSON.
		if d.Package == pkg || d.Schema == "olm.package" && d.Name == pkg && !s.unnamed {
			some.WriteString(line)
		}
	}
	return some.String()
}

// since is what the server was asked and how much it sent since the last call.
func (s *contentServer) since() (string, int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	asked, sent := strings.Join(s.asked, " "), s.sent
	s.asked, s.sent = nil, 0
	return asked, sent
}

func zip(text string) []byte {
	var out bytes.Buffer
	zipper := gzip.NewWriter(&out)
	_, _ = io.WriteString(zipper, text) // A buffer takes all.
	_ = zipper.Close()
	return out.Bytes()
}

func client(t *testing.T) *http.Client {
	t.Helper()
	made, err := catalogd.NewClient("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.CloseIdleConnections)
	return made
}

// reader starts the server and reads its catalogue vendor.
func reader(t *testing.T, handler http.Handler) *catalogd.Reader {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	r, err := catalogd.New(server.URL+"/catalogs/vendor", client(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, r *catalogd.Reader, pkg string) model.Catalogue {
	t.Helper()
	got, err := r.Read(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func listed(c model.Catalogue) string {
	var all []string
	for _, p := range c.Packages {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}
