package s3

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// maxOverhead is what an object may take besides its body and key, on average:
// itself, its place in the index, its sums, and what the allocator rounds up.
const maxOverhead = 256

// TestManySmallObjectsTakeLittleMoreThanTheirBodies puts objects as a client
// does, and weighs them. It measures bytes that are in use, which do not depend
// on the collector's mood.
func TestManySmallObjectsTakeLittleMoreThanTheirBodies(t *testing.T) {
	const objects, size = 20_000, 1024
	s := New(Options{})
	must(t, s, "PUT /docs", ask{})
	body := strings.Repeat("x", size)
	before, keys := heap(), 0
	for i := range objects {
		key := fmt.Sprintf("folder/%03d/object-%06d", i%100, i)
		keys += len(key)
		must(t, s, "PUT /docs/"+key, ask{body: body, header: map[string]string{"Content-Type": "application/octet-stream"}})
	}
	each := (int(heap()-before) - keys) / objects
	runtime.KeepAlive(s)
	t.Logf("%d bytes an object besides its body and key", each-size)
	if each-size > maxOverhead {
		t.Errorf("an object takes %d bytes besides its body and key, want at most %d", each-size, maxOverhead)
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
