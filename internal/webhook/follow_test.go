package webhook

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// cluster is an API server of ServiceAccounts whose watch tells only what it is
// made to tell, however late.
type cluster struct {
	t testing.TB

	mu       sync.Mutex
	version  int
	accounts map[string]*corev1.ServiceAccount
	lists    int
	// expired makes watches from older versions end with 410.
	expired int
	down    bool
	// watches gets the stream of every watch that begins.
	watches chan *stream
}

// stream is one watch.
type stream struct {
	from   string
	events chan []byte
}

func newCluster(t testing.TB) (*cluster, *api) {
	t.Helper()
	c := &cluster{t: t, version: 100, accounts: map[string]*corev1.ServiceAccount{}, watches: make(chan *stream, 10)}
	server := httptest.NewServer(c)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	reader, err := newAPI(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c, reader
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	down := c.down
	c.mu.Unlock()
	switch query := r.URL.Query(); {
	case down:
		http.Error(w, "etcd is down", http.StatusInternalServerError)
	case r.URL.Path != "/api/v1/serviceaccounts":
		c.one(w, r)
	case query.Get("watch") == "":
		c.list(w)
	default:
		c.watch(w, r, query.Get("resourceVersion"))
	}
}

func (c *cluster) one(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	found := c.accounts[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/")]
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	if found == nil {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(encode(c.t, &metav1.Status{Code: 404, Message: "not found"}))
		return
	}
	_, _ = w.Write(encode(c.t, found))
}

func (c *cluster) list(w http.ResponseWriter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists++
	list := &corev1.ServiceAccountList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(c.version)}}
	for _, one := range c.accounts {
		list.Items = append(list.Items, *one)
	}
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	_, _ = w.Write(encode(c.t, list))
}

func (c *cluster) watch(w http.ResponseWriter, r *http.Request, from string) {
	c.mu.Lock()
	expired := from < fmt.Sprint(c.expired)
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch")
	if expired {
		_, _ = w.Write(frame(c.t, "ERROR", &metav1.Status{Code: 410, Message: "too old resource version"}))
		return
	}
	w.(http.Flusher).Flush() //nolint:forcetypeassert // net/http's can
	one := &stream{from: from, events: make(chan []byte)}
	c.watches <- one
	for {
		select {
		case <-r.Context().Done():
			return
		case text, more := <-one.events:
			if !more {
				return
			}
			_, _ = w.Write(text)
			w.(http.Flusher).Flush() //nolint:forcetypeassert // net/http's can
		}
	}
}

// set makes or changes a ServiceAccount. No watch tells it by itself.
func (c *cluster) set(namespace, name string, annotations map[string]string) *corev1.ServiceAccount {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	made := account(namespace, name, fmt.Sprint(c.version), annotations)
	c.accounts[namespace+"/serviceaccounts/"+name] = made
	return made
}

func (c *cluster) change(change func(*cluster)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// send makes a watch tell of a ServiceAccount.
func (s *stream) send(t testing.TB, kind string, of *corev1.ServiceAccount) {
	t.Helper()
	select {
	case s.events <- frame(t, kind, of):
	case <-time.After(30 * time.Second):
		t.Fatal("the watch takes no events")
	}
}

func (c *cluster) nextWatch() *stream {
	c.t.Helper()
	select {
	case one := <-c.watches:
		return one
	case <-time.After(30 * time.Second):
		c.t.Fatal("no watch begins")
		return nil
	}
}

// follow runs a store on the cluster, until the end of the test.
func follow(t testing.TB, from *api) *cachedAccounts {
	t.Helper()
	known := newStore(newInterest("eks.amazonaws.com"))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	one := &follower{api: from, path: "/api/v1/serviceaccounts", sink: firstSync{known, logr.Discard()}, log: logr.Discard()}
	go func() { defer close(done); one.run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return newAccounts(known, from.readLive, 10*time.Second, newMetrics())
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for !is() {
		select {
		case <-limit:
			t.Fatalf("it never came to be that %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

func roleOf(t testing.TB, known *cachedAccounts) string {
	t.Helper()
	found, err := known.find(t.Context(), app)
	if err != nil {
		t.Fatal(err)
	}
	return (orNone(found)).Annotations["eks.amazonaws.com/role-arn"]
}

func orNone(found *inject.ServiceAccount) *inject.ServiceAccount {
	if found == nil {
		return &inject.ServiceAccount{}
	}
	return found
}

// TestADelayedWatchCostsNoRole: the ServiceAccount is made, annotated, and its
// pod comes, while the watch has told of nothing, of the first, or of both.
func TestADelayedWatchCostsNoRole(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	known := follow(t, reader)
	watch := c.nextWatch()
	eventually(t, "it is watched", func() bool { return known.holding().watched })

	made := c.set("shop", "app", nil)
	if got := roleOf(t, known); got != "" {
		t.Errorf("before it is annotated it has role %q", got)
	}
	watch.send(t, "ADDED", made)
	eventually(t, "it is known", func() bool { return known.holding().accounts == 1 })
	annotated := c.set("shop", "app", withRole)
	if got := roleOf(t, known); got != role {
		t.Errorf("annotated, with only the making told, it has role %q", got)
	}
	c.change(func(c *cluster) { c.down = true }) // what is known now needs no look
	watch.send(t, "MODIFIED", account("shop", "app", made.ResourceVersion, map[string]string{"x": "y"}))
	watch.send(t, "BOOKMARK", account("", "", made.ResourceVersion, nil))
	if got := roleOf(t, known); got != role {
		t.Errorf("after an event from before the look it has role %q", got)
	}
	watch.send(t, "MODIFIED", annotated)
	eventually(t, "it has opted in", func() bool { return known.holding().optedIn == 1 })
	if got := roleOf(t, known); got != role {
		t.Errorf("with all told it has role %q", got)
	}
}

// TestWatchesGoOnWhereTheyEnded, and what is too old is read anew.
func TestWatchesGoOnWhereTheyEnded(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "app", withRole)
	c.set("shop", "old", withRole)
	known := follow(t, reader)
	first := c.nextWatch()
	if first.from != "102" {
		t.Errorf("the first watch begins at %s, want the list's version 102", first.from)
	}
	first.send(t, "BOOKMARK", account("", "", "150", nil))
	close(first.events)
	second := c.nextWatch()
	if second.from != "150" {
		t.Errorf("the second watch begins at %s, want the bookmark's version 150", second.from)
	}
	c.change(func(c *cluster) {
		delete(c.accounts, "shop/serviceaccounts/old")
		c.version, c.expired, c.down = 200, 200, true
	})
	close(second.events)
	eventually(t, "nothing is watched", func() bool { return !known.holding().watched })
	if got := roleOf(t, known); got != role {
		t.Errorf("while the API server is down it has role %q", got)
	}
	c.change(func(c *cluster) { c.down = false })
	if third := c.nextWatch(); third.from != "200" {
		t.Errorf("the third watch begins at %s, want the second list's version 200", third.from)
	}
	if got := known.holding(); got.accounts != 1 || c.lists != 2 {
		t.Errorf("%d ServiceAccounts after %d lists, want 1 after 2: the other was removed while nothing was watched", got.accounts, c.lists)
	}
}

// TestAnswersThatCannotBeReadAreNamed: the log must tell what is in the way.
func TestAnswersThatCannotBeReadAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		code       int
		kind, text string
		want       string
	}{
		"JSON":           {200, "application/json", "{}", "answers in \"application/json\", expected application/vnd.kubernetes.protobuf"},
		"no object":      {200, "application/vnd.kubernetes.protobuf", "xyz1", "expected an object in Kubernetes' protobuf"},
		"a refusal":      {403, "application/vnd.kubernetes.protobuf", string(encode(t, &metav1.Status{Code: 403, Message: "may not list"})), "answers 403: may not list"},
		"a proxy's page": {502, "text/html", "<html>", "answers 502: \"<html>\""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(test.code)
				_, _ = w.Write([]byte(test.text))
			}))
			defer server.Close()
			reader, err := newAPI(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			_, err = reader.readLive(t.Context(), app)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
