package kube

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/roleselector"
)

// apiServer is what a follower sees of an API server: lists and watches of three
// resources, at the end of a wire.
type apiServer struct {
	wire *wire
	http *httptest.Server

	mu sync.Mutex
	// selectors are the names of those that select all.
	selectors map[string]bool
	version   int
	events    []string
	changed   chan struct{} // closed by the next change
	// lists and watches count those of selectors, reads those by the pulse.
	lists, watches, reads int
	// deaf watches of selectors are never told anything.
	deaf bool
	// broken reads are answered with an error.
	broken bool
}

// fresh is how long an answer counts, overdue how long after its time a watch ends.
const (
	fresh   = beat + answerTime
	overdue = 5 * time.Second
)

func startServer(http2 bool) *apiServer {
	a := &apiServer{wire: newWire(), selectors: map[string]bool{}, version: 1, changed: make(chan struct{})}
	a.http = &httptest.Server{Listener: a.wire, EnableHTTP2: http2, Config: &http.Server{
		Handler: a, ErrorLog: log.New(io.Discard, "", 0),
	}}
	a.http.StartTLS()
	return a
}

// followedOn is a world that follows the API server until stop is called.
func followedOn(t *testing.T, a *apiServer, pulse time.Duration) (s *Selectors, stop func()) {
	t.Helper()
	reader, err := newReader(&rest.Config{
		Host: "https://127.0.0.1", Dial: a.wire.dial,
		TLSClientConfig: rest.TLSClientConfig{ServerName: "example.com", CAData: pemOf(a.http.Certificate().Raw)},
	}, pulse+answerTime)
	if err != nil {
		t.Fatal(err)
	}
	quiet := func(string, ...any) {}
	s = newSelectors(Options{Kinds: []schema.GroupVersionKind{bucketKind}}, logs{quiet, quiet})
	s.follow(reader, pulse)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- background{s}.Start(ctx) }()
	return s, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		a.http.CloseClientConnections()
		a.wire.cut()
		a.http.Close()
	}
}

func pemOf(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}

// set makes or deletes a selector.
func (a *apiServer) set(name string, exists bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := "ADDED"
	if exists {
		a.selectors[name] = true
	} else {
		kind = "DELETED"
		delete(a.selectors, name)
	}
	a.version++
	a.events = append(a.events, fmt.Sprintf(`{"type":%q,"object":%s}`, kind, selectorJSON(name, a.version)))
	close(a.changed)
	a.changed = make(chan struct{})
}

func selectorJSON(name string, version int) string {
	return fmt.Sprintf(`{"apiVersion":"services.k8s.aws/v1alpha1","kind":"IAMRoleSelector",
		"metadata":{"name":%q,"uid":"u","resourceVersion":"%d"},"spec":{"arn":"arn:aws:iam::111122223333:role/%s"}}`, name, version, name)
}

// ServeHTTP implements http.Handler.
func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	isSelectors := strings.HasSuffix(r.URL.Path, "/iamroleselectors")
	switch {
	case query.Get("sendInitialEvents") != "":
		refuse(w, http.StatusUnprocessableEntity, "Invalid")
	case query.Get("watch") != "" && isSelectors:
		a.watch(w, r)
	case query.Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		select {
		case <-endOf(r):
		case <-r.Context().Done():
		}
	case isSelectors:
		a.list(w)
	case strings.HasSuffix(r.URL.Path, "/iamrolechoices"):
		_, _ = fmt.Fprint(w, `{"apiVersion":"identity.tabard.dev/v1alpha1","kind":"IAMRoleChoiceList","metadata":{"resourceVersion":"1"},"items":[]}`)
	default:
		a.namespaces(w, query.Get("limit") == "1")
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code})
}

func (a *apiServer) namespaces(w http.ResponseWriter, byPulse bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if byPulse {
		a.reads++
		if a.broken {
			refuse(w, http.StatusInternalServerError, "InternalError")
			return
		}
	}
	_, _ = fmt.Fprint(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},
		"items":[{"metadata":{"name":"prod","uid":"n","resourceVersion":"1"}}]}`)
}

func (a *apiServer) list(w http.ResponseWriter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lists++
	var items []string
	for _, name := range slices.Sorted(maps.Keys(a.selectors)) {
		items = append(items, selectorJSON(name, a.version))
	}
	_, _ = fmt.Fprintf(w, `{"apiVersion":"services.k8s.aws/v1alpha1","kind":"IAMRoleSelectorList","metadata":{"resourceVersion":"%d"},"items":[%s]}`,
		a.version, strings.Join(items, ","))
}

// endOf is when a watch is to end.
func endOf(r *http.Request) <-chan time.Time {
	seconds, err := time.ParseDuration(r.URL.Query().Get("timeoutSeconds") + "s")
	if err != nil {
		panic(err)
	}
	return time.After(seconds)
}

// watch tells the changes since the version that is asked for. A deaf one does not
// end either.
func (a *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	var since int
	_, _ = fmt.Sscan(r.URL.Query().Get("resourceVersion"), &since)
	a.mu.Lock()
	a.watches++
	deaf := a.deaf
	a.mu.Unlock()
	end := endOf(r)
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		a.mu.Lock()
		events, changed := a.events[since-1:], a.changed
		a.mu.Unlock()
		if deaf {
			events, changed, end = nil, nil, nil
		}
		for _, event := range events {
			_, _ = fmt.Fprintln(w, event)
			since++
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// counted are the lists and watches of selectors so far.
func (a *apiServer) counted() (lists, watches int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lists, a.watches
}

// decided is the outcome for a resource, and the selector.
func decided(s *Selectors) (roleselector.Outcome, string) {
	d := s.index.Decide(roleselector.Query{
		Namespace: "prod", NamespaceKnown: true, Group: bucketKind.Group, Version: bucketKind.Version, Kind: bucketKind.Kind,
	})
	return d.Outcome, d.Selector.Name
}
