package instancetype_test

import (
	"fmt"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

func BenchmarkCacheHit(b *testing.B) {
	l := newLab(b, "us-east-1")
	q := ask("m5.large", "us-east-1")
	if got, err := l.types.Get(b.Context(), person, q); err != nil || got != large {
		b.Fatal(got, err)
	}
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if got, _ := l.types.Get(b.Context(), person, q); got != large {
				b.Fatal(got)
			}
		}
	})
	b.Run("like", func(b *testing.B) {
		b.ReportAllocs()
		like := q
		like.Like = instancetype.Sizes{VCPUs: instancetype.Size{Said: true, Value: 2}, MemoryMiB: instancetype.Size{Said: true, Value: 7}}
		for b.Loop() {
			if got, _ := l.types.Get(b.Context(), person, like); got != large {
				b.Fatal(got)
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if got, _ := l.types.Get(b.Context(), person, q); got != large {
					b.Fatal(fmt.Sprint(got))
				}
			}
		})
	})
}
