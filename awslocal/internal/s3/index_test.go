package s3

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// TestAnIndexIsASortedMap does the same to an index and to a map, and compares
// after each round.
func TestAnIndexIsASortedMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var x index
	model := map[string]*object{}
	for round := range 40 {
		for range 400 {
			key := fmt.Sprintf("%c/%03d", 'a'+random.IntN(4), random.IntN(600))
			if random.IntN(100) < 40+round%3*20 {
				o := &object{key: key}
				x.put(o)
				model[key] = o
			} else {
				x.remove(key)
				delete(model, key)
			}
		}
		compareIndex(t, &x, model)
	}
	for key := range model {
		x.remove(key)
	}
	compareIndex(t, &x, nil)
}

func compareIndex(t *testing.T, x *index, model map[string]*object) {
	t.Helper()
	keys := make([]string, 0, len(model))
	for key, o := range model {
		if x.get(key) != o {
			t.Fatalf("%s is not found", key)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var got []string
	for at := x.from(""); x.object(at) != nil; at = x.next(at) {
		got = append(got, x.object(at).key)
	}
	if !slices.Equal(got, keys) || x.size != len(keys) {
		t.Fatalf("the index holds %d keys (says %d), want %d in order", len(got), x.size, len(keys))
	}
	for _, block := range x.blocks {
		if len(block) == 0 || len(block) > maxBlock {
			t.Fatalf("a block holds %d objects", len(block))
		}
	}
	if o := x.object(x.afterPrefix("b/")); o != nil && o.key < "c" {
		t.Fatalf("%s comes after all of b/", o.key)
	}
	if x.get("b/") != nil {
		t.Fatal("a key is found that nobody put")
	}
}

// BenchmarkListPage answers pages of 1,000 of a small and of a large bucket: the
// cost must not grow with the bucket.
func BenchmarkListPage(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		s := New(Options{})
		s.buckets["docs"] = &bucket{name: "docs", accountID: ours, region: "us-east-1"}
		for i := range size {
			s.buckets["docs"].objects.put(&object{key: fmt.Sprintf("key-%07d", i)})
		}
		line := fmt.Sprintf("/docs?list-type=2&start-after=key-%07d", (size-maxPage)/2-1)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, line, http.NoBody)
				c := &call.Call{HTTP: r, Now: noon, Region: "us-east-1", Caller: call.Caller{Principal: alice}, Authorize: allowAll}
				if s.Serve(httptest.NewRecorder(), c); c.Entry.Error != "" {
					b.Fatal(c.Entry.Error)
				}
			}
		})
	}
}
