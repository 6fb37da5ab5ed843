package catalogd_test

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/catalogue/catalogd"
)

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// always writes the same without end.
func always(out io.Writer, r *http.Request, text string) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(out, text); err != nil {
			return
		}
	}
}

// raw answers on the connection itself, and closes it.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(connection, text)
			_ = connection.Close()
		}
	}
}

func answers(kind, text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = io.WriteString(w, text)
	}
}

func status(code int, kind, text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		if code != http.StatusNotModified {
			_, _ = io.WriteString(w, text)
		}
	}
}

// bomb is a body that becomes a thousand times as large, without end.
func bomb(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	out := gzip.NewWriter(w)
	always(out, r, strings.Repeat(pkgP, 1000))
}

// Whatever a server does, a read ends with an error of one harmless line, in bounded memory and
// time, and never with a shorter catalogue.
func TestHostileServers(t *testing.T) {
	zipped := string(zip(strings.Repeat(allP+allQ, 100)))
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "the server has sent nothing for 200ms"},
		"a body stalls": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, allP)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "the server has sent nothing for 200ms"},
		"without end": {func(w http.ResponseWriter, r *http.Request) { always(w, r, strings.Repeat(pkgP, 1000)) }, "more than 4 MiB, expected"},
		"only spaces": {func(w http.ResponseWriter, r *http.Request) { always(w, r, strings.Repeat(" \n", 1000)) }, "more than 4 MiB, expected"},
		"bomb":        {bomb, "more than 4 MiB, expected"},
		"empty members": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			always(w, r, string(zip("")))
		}, "more than 1 MiB of gzip"},
		"cut by length":  {raw("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + allP), "the answer ended in its middle"},
		"cut in chunks":  {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(pkgP)), 16) + "\r\n" + pkgP + "\r\n"), "the answer ended in its middle"},
		"cut in gzip":    {answers(jsonl, zipped[:len(zipped)/2], "Content-Encoding", "gzip"), "the answer ended in its middle"},
		"cut in its end": {answers(jsonl, zipped[:len(zipped)-4], "Content-Encoding", "gzip"), "the answer ended in its middle"},
		"no gzip at all": {answers(jsonl, "", "Content-Encoding", "gzip"), "the answer ended in its middle"},
		"gzip cut by length": {raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99999\r\n\r\n" + string(zip(allP))),
			"the answer ended in its middle"},
		"torn": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, allP)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "the answer ended in its middle"},
		"without an end":   {raw("HTTP/1.0 200 OK\r\n\r\n" + allP), "a part of it would look like the whole"},
		"wrong checksum":   {answers(jsonl, zipped[:len(zipped)-8]+"12345678", "Content-Encoding", "gzip"), "gzip: invalid checksum"},
		"not gzip":         {answers(jsonl, allP, "Content-Encoding", "gzip"), "gzip: invalid header"},
		"another packing":  {answers(jsonl, allP, "Content-Encoding", "br"), `packed as "br"`},
		"304 unasked":      {status(304, jsonl, ""), "it was not asked whether anything has changed"},
		"page":             {answers("text/html; charset=utf-8", "<html>\x1b[31m"), "an HTML page"},
		"page of no type":  {answers(jsonl, "<html>"), `begins with '<', expected JSON lines`},
		"YAML":             {answers("application/yaml", "schema: olm.package"), `begins with 's', expected JSON lines`},
		"an error in page": {status(502, "text/html", "<html>\x1b[31m"), "502 Bad Gateway: an HTML page; try again"},
		"an ugly error":    {status(500, "text/plain", "\x1b]0;x\u0007\u202etxt\n\n"+strings.Repeat("long ", 1000)), "500 Internal Server Error: ]0;x txt long long"},
		"a zipped error":   {status(500, "text/plain", string(zip("broken\x1b[0m")), "Content-Encoding", "gzip"), "500 Internal Server Error: broken [0m"},
		"a bomb of error":  {status(500, "text/plain", string(zip(strings.Repeat("x", 8<<20))), "Content-Encoding", "gzip"), "500 Internal Server Error: xxx"},
		"an error stalls": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "the server has sent nothing for 200ms"},
		"an error of a cluster": {status(503, "application/json", `{"kind":"Status","message":"no endpoints available for service \"x\""}`),
			`503 Service Unavailable: no endpoints available for service "x"; try again`},
		"unauthorized":      {status(401, "text/plain", "who?"), "401 Unauthorized: who?; catalogd itself asks for no credentials"},
		"bad request":       {status(400, "text/plain", "no"), "400 Bad Request: no; expected 200"},
		"a part":            {status(206, jsonl, allP), "206 Partial Content"},
		"headers of 1 MB":   {answers(jsonl, allP, "X-Long", strings.Repeat("x", 1<<20)), "headers exceeded"},
		"headers of 10 MB":  {answers(jsonl, allP, "X-Long", strings.Repeat("x", 10<<20)), "headers exceeded"},
		"odd headers":       {status(302, jsonl, "", "Location", "http://169.254.169.254/\x1b"), "malformed MIME header"},
		"elsewhere by port": {status(302, jsonl, "", "Location", "http://127.0.0.1:1/"), `redirects to another host, "127.0.0.1:1"`},
		"metadata service":  {status(307, jsonl, "", "Location", "http://169.254.169.254/latest/meta-data/"), `redirects to another host, "169.254.169.254"`},
		"in a circle":       {status(302, jsonl, "", "Location", "/x"), "redirects again and again"},
		"to nowhere":        {status(302, jsonl, ""), "302"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, test.handler)
			stall := time.Minute
			if strings.Contains(test.want, "has sent nothing") {
				stall = 200 * time.Millisecond
			}
			r.Bound(1<<20, 4<<20, stall)
			got, err := r.Read(t.Context(), "")
			if err == nil || got.Packages != nil || got.Findings != nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v and the error %v, want nothing and %q", listed(got), err, test.want)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\u202e\u0007") || len(err.Error()) > 1500 {
				t.Errorf("the error is %q", err)
			}
			if whole, packages := r.Kept(); whole+packages != 0 {
				t.Error("what failed is kept")
			}
		})
	}
}

// A broken line is a finding, which hides no other.
func TestABrokenLine(t *testing.T) {
	got := read(t, reader(t, answers(jsonl, allP+"{\"a\": \x1b[31m\n"+allQ)), "")
	if listed(got) != "p q" || len(got.Findings) != 1 || got.Findings[0].Where.Document != 5 || !strings.HasSuffix(got.Findings[0].Where.File, "/catalogs/vendor/api/v1/all") {
		t.Errorf("%s, %q", listed(got), got.Findings)
	}
}

// An empty catalogue is one.
func TestAnEmptyCatalogue(t *testing.T) {
	if got := read(t, reader(t, answers(jsonl, " \n")), ""); got.Packages != nil || got.Findings != nil {
		t.Errorf("%+v", got)
	}
}

// Only dates and tags are sent back: anything else is as if there were none.
func TestNonsenseInsteadOfADate(t *testing.T) {
	for _, headers := range [][]string{
		{}, {"Last-Modified", "yesterday"}, {"Last-Modified", strings.Repeat("9", 60_000)}, {"ETag", "no quotes"},
		{"ETag", `"` + strings.Repeat("x", 1000) + `"`}, {"ETag", `"a" "b"`}, {"ETag", `"`}, {"ETag", "\"\x80\""},
	} {
		var conditions atomic.Int32
		r := reader(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-Modified-Since")+r.Header.Get("If-None-Match") != "" {
				conditions.Add(1)
			}
			answers(jsonl, allP, headers...)(w, r)
		}))
		for range 2 {
			if got := listed(read(t, r, "")); got != "p" {
				t.Errorf("%.40q: %s", headers, got)
			}
		}
		if whole, _ := r.Kept(); whole != 0 || conditions.Load() != 0 {
			t.Errorf("%.40q: %d are kept, and %d requests had conditions", headers, whole, conditions.Load())
		}
	}
}

func TestARedirectOfTheSameServerIsFollowed(t *testing.T) {
	server := &contentServer{content: allP, modified: firstOfMay}
	r := reader(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/catalogs") {
			http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusFound)
			return
		}
		http.StripPrefix("/moved", server).ServeHTTP(w, r)
	}))
	if got := listed(read(t, r, "")); got != "p" {
		t.Error(got)
	}
}

func TestARedirectOutOfTLSIsNotFollowed(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+r.Host+"/catalogs/vendor", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	r, err := catalogd.New(server.URL+"/catalogs/vendor", server.Client())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "redirects from https to http") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheContextEndsARead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := reader(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }))
	if _, err := r.Read(ctx, ""); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "did not end in time") {
		t.Errorf("the error is %v", err)
	}
}

// With a CA of its own only that is trusted.
func TestTheCertificateAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(&contentServer{content: allP, modified: firstOfMay})
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{authority: "", "": "--certificate-authority FILE"} {
		client, err := catalogd.NewClient(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := catalogd.New(server.URL+"/catalogs/vendor", client)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Read(t.Context(), "")
		if want == "" && (err != nil || listed(got) != "p") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %s, %v", file, listed(got), err)
		}
		client.CloseIdleConnections()
	}
	for name, text := range map[string]string{"none": "no PEM", "large": strings.Repeat("x", 2<<20)} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := catalogd.NewClient(file); err == nil || !strings.Contains(err.Error(), "has no certificate in PEM") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if _, err := catalogd.NewClient(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}
