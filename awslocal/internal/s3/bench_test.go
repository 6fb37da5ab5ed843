package s3

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// BenchmarkGetObject reads an object of a kilobyte from all cores at once.
func BenchmarkGetObject(b *testing.B) {
	s := New(Options{})
	s.buckets["docs"] = &bucket{name: "docs", accountID: ours, region: "us-east-1"}
	s.buckets["docs"].objects.put(&object{key: "a", body: []byte(strings.Repeat("x", 1024)), sums: sumUp(nil, defaultAlgorithm)})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/docs/a", http.NoBody)
			s.Serve(httptest.NewRecorder(), &call.Call{
				HTTP: r, Now: noon, Region: "us-east-1", Caller: call.Caller{Principal: alice}, Authorize: allowAll,
			})
		}
	})
}
