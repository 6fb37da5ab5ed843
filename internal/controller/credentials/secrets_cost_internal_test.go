package credentials

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// noSecrets answers as an API server does that has no Secrets. It counts the watches that are
// open.
type noSecrets struct{ watches atomic.Int64 }

func (n *noSecrets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		_, _ = fmt.Fprint(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":[]}`)
		return
	}
	n.watches.Add(1)
	defer n.watches.Add(-1)
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// memory is what is in use.
func memory() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}

// TestAThousandNamespacesCostAThousandWatches, and nothing when their requests are gone. What
// is logged has the test's API server in it, which is about half.
func TestAThousandNamespacesCostAThousandWatches(t *testing.T) {
	const namespaces, each = 1000, 12
	api := &noSecrets{}
	server := httptest.NewUnstartedServer(api)
	server.EnableHTTP2 = true
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: namespaces}
	server.StartTLS()
	defer server.Close()
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	k := newKnown(must.Get(FollowedBy(config))(t), nil)
	s := k.secrets
	go s.run(ctx)
	before, bytes := runtime.NumGoroutine(), memory()
	target := func(i int) core.Target { return secretIn(fmt.Sprint("team-", i), i) }
	// All others use the connection of the first, in place of a handshake each.
	s.note(target(0), nil)
	awaitWatches(t, api, 1)
	for i := range namespaces {
		s.note(target(i), nil)
	}
	awaitWatches(t, api, namespaces)
	goroutines, used := runtime.NumGoroutine()-before, int64(memory())-int64(bytes) //nolint:gosec // neither is large
	t.Logf("%d namespaces: %d goroutines, %d kB each", namespaces, goroutines, used/namespaces/1024)
	if goroutines > namespaces*each {
		t.Errorf("%d namespaces take %d goroutines, want %d each at most", namespaces, goroutines, each)
	}
	for i := range namespaces {
		s.forget(target(i))
	}
	awaitWatches(t, api, 0)
}

func awaitWatches(t *testing.T, api *noSecrets, want int64) {
	t.Helper()
	testkit.Await(t, func() error {
		if open := api.watches.Load(); open != want {
			return fmt.Errorf("%d watches are open, want %d", open, want)
		}
		return nil
	})
}
