package webhook

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	accountsPath   = "/api/v1/serviceaccounts"
	namespacesPath = "/api/v1/namespaces"
	configMapsPath = "/api/v1/namespaces/eks/configmaps"
)

// kept is what a cluster keeps: ServiceAccounts, namespaces and config maps.
type kept interface {
	runtime.Object
	metav1.Object
}

// cluster is an API server whose watches tell only what they are made to tell,
// however late.
type cluster struct {
	t testing.TB

	mu      sync.Mutex
	version int
	// objects are by the path of each.
	objects map[string]kept
	// lists and reads count those of a path.
	lists, reads map[string]int
	// expired makes watches from older versions end with 410.
	expired int
	down    bool
	// unlisted is a path that cannot be listed.
	unlisted string
	// forbidden is a path that nobody may read.
	forbidden string
	// watches get the stream of every watch of a path that begins.
	watches map[string]chan *stream
}

// stream is one watch.
type stream struct {
	from   string
	events chan []byte
}

func newCluster(t testing.TB) (*cluster, *api) {
	t.Helper()
	c := &cluster{t: t, version: 100, objects: map[string]kept{}, lists: map[string]int{}, reads: map[string]int{}, watches: map[string]chan *stream{}}
	for _, each := range []string{accountsPath, namespacesPath, configMapsPath} {
		c.watches[each] = make(chan *stream, 10)
	}
	server := httptest.NewServer(c)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	reader := must.Get(newAPI(&rest.Config{Host: server.URL}))(t)
	return c, reader
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	down, forbidden := c.down || c.unlisted == r.URL.Path, c.forbidden != "" && strings.HasPrefix(r.URL.Path, c.forbidden)
	c.mu.Unlock()
	_, isList := c.watches[r.URL.Path]
	switch query := r.URL.Query(); {
	case down:
		http.Error(w, "etcd is down", http.StatusInternalServerError)
	case forbidden:
		http.Error(w, "you may not", http.StatusForbidden)
	case !isList:
		c.one(w, r)
	case query.Get("watch") == "":
		c.list(w, r.URL.Path)
	default:
		c.watch(w, r, query.Get("resourceVersion"))
	}
}

func (c *cluster) one(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	found := c.objects[r.URL.Path]
	c.reads[r.URL.Path]++
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	if found == nil {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(encode(c.t, &metav1.Status{Code: 404, Message: "not found"}))
		return
	}
	_, _ = w.Write(encode(c.t, found))
}

func (c *cluster) list(w http.ResponseWriter, of string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists[of]++
	meta := metav1.ListMeta{ResourceVersion: fmt.Sprint(c.version)}
	lists := map[string]runtime.Object{
		accountsPath:   &corev1.ServiceAccountList{ListMeta: meta},
		namespacesPath: &corev1.NamespaceList{ListMeta: meta},
		configMapsPath: &corev1.ConfigMapList{ListMeta: meta},
	}
	for _, each := range c.objects {
		switch list := lists[of].(type) {
		case *corev1.ServiceAccountList:
			if one, ok := each.(*corev1.ServiceAccount); ok {
				list.Items = append(list.Items, *one)
			}
		case *corev1.NamespaceList:
			if one, ok := each.(*corev1.Namespace); ok {
				list.Items = append(list.Items, *one)
			}
		case *corev1.ConfigMapList:
			if one, ok := each.(*corev1.ConfigMap); ok {
				list.Items = append(list.Items, *one)
			}
		}
	}
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	_, _ = w.Write(encode(c.t, lists[of]))
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
	select {
	case c.watches[r.URL.Path] <- one:
	case <-r.Context().Done(): // nobody takes it
		return
	}
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

// keep makes or changes an object. No watch tells it by itself.
func keep[T kept](c *cluster, made T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	made.SetResourceVersion(fmt.Sprint(c.version))
	switch any(made).(type) {
	case *corev1.Namespace:
		c.objects[path.Join(namespacesPath, made.GetName())] = made
	case *corev1.ConfigMap:
		c.objects[path.Join(configMapsPath, made.GetName())] = made
	default:
		c.objects[path.Join(namespacesPath, made.GetNamespace(), "serviceaccounts", made.GetName())] = made
	}
	return made
}

// set makes or changes a ServiceAccount.
func (c *cluster) set(namespace, name string, annotations map[string]string) *corev1.ServiceAccount {
	return keep(c, account(namespace, name, "", annotations))
}

// asked is how often one path was read, and another listed.
func (c *cluster) asked(read, listed string) (reads, lists int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads[read], c.lists[listed]
}

func (c *cluster) change(change func(*cluster)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// send makes a watch tell of an object.
func (s *stream) send(t testing.TB, kind string, of kept) {
	t.Helper()
	select {
	case s.events <- frame(t, kind, of):
	case <-time.After(30 * time.Second):
		t.Fatal("the watch takes no events")
	}
}

func (c *cluster) nextWatch(of string) *stream {
	c.t.Helper()
	select {
	case one := <-c.watches[of]:
		return one
	case <-time.After(30 * time.Second):
		c.t.Fatal("no watch begins: " + strings.TrimPrefix(of, "/api/v1/"))
		return nil
	}
}
