package roleselector

import (
	"fmt"
	"runtime"
	"testing"
)

var sizes = []int{10, 100, 1_000, 10_000}

// BenchmarkMatch finds the selectors of one resource.
func BenchmarkMatch(b *testing.B) {
	for _, shape := range shapes {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s/%d", shape, size), func(b *testing.B) {
				objects, queries := population(b, shape, size)
				index := fullIndex(Options{}, compileAll(objects)...)
				room := make([]*Selector, 0, size)
				found := 0
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					matches, _ := index.Match(queries[i%shapeQueries], room)
					found += len(matches)
				}
				b.ReportMetric(float64(found)/float64(b.N), "found/op")
			})
		}
	}
}

// BenchmarkDecide goes on from there to the decision.
func BenchmarkDecide(b *testing.B) {
	for _, shape := range []string{"mixed", "names", "labels"} {
		b.Run(shape+"/10000", func(b *testing.B) {
			objects, queries := population(b, shape, 10_000)
			index := fullIndex(Options{}, compileAll(objects)...)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				index.Decide(queries[i%shapeQueries])
			}
		})
	}
}

// BenchmarkMatchBesideWriters is the same while selectors are set in a loop.
func BenchmarkMatchBesideWriters(b *testing.B) {
	for _, writers := range []int{0, 1, 4} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			objects, queries := population(b, "mixed", 10_000)
			compiled := compileAll(objects)
			index := fullIndex(Options{}, compiled...)
			stop, stopped := make(chan struct{}), make(chan int)
			for w := range writers {
				go func() {
					sets := 0
					for i := w; ; i += writers {
						select {
						case <-stop:
							stopped <- sets
							return
						default:
							index.Set(compiled[i%len(compiled)])
							sets++
						}
					}
				}()
			}
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				var room [64]*Selector
				for i := 0; pb.Next(); i++ {
					index.Match(queries[i%shapeQueries], room[:0])
				}
			})
			close(stop)
			sets := 0
			for range writers {
				sets += <-stopped
			}
			b.ReportMetric(float64(sets)/b.Elapsed().Seconds(), "sets/s")
		})
	}
}

// BenchmarkLoad compiles and files 10,000 selectors at once.
func BenchmarkLoad(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape+"/10000", func(b *testing.B) {
			objects, _ := population(b, shape, 10_000)
			for b.Loop() {
				fullIndex(Options{}, compileAll(objects)...)
			}
		})
	}
}

// BenchmarkSet files one of 10,000 anew.
func BenchmarkSet(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape+"/10000", func(b *testing.B) {
			objects, _ := population(b, shape, 10_000)
			compiled := compileAll(objects)
			index := fullIndex(Options{}, compiled...)
			for i := 0; b.Loop(); i++ {
				index.Set(compiled[i%len(compiled)])
			}
		})
	}
}

// BenchmarkAffected finds the resources, of 50,000, whose decision a changed
// selector has changed.
func BenchmarkAffected(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape+"/50000", func(b *testing.B) {
			objects, _ := population(b, shape, 1_000)
			compiled := compileAll(objects)
			index := fullIndex(Options{}, compiled...)
			resources := fill(index, 50_000)
			found := 0
			for i := 0; b.Loop(); i++ {
				found += len(resources.Affected(index.Set(compiled[i%len(compiled)])))
			}
			b.ReportMetric(float64(found)/float64(b.N), "found/op")
		})
	}
}

// fill makes n resources in a cluster's namespaces.
func fill(index *Index, n int) *Objects {
	c := newCluster(1)
	resources := NewObjects(index)
	for i, labels := range c.namespaces {
		resources.PutNamespace(namespaceName(i), labels)
	}
	for i := range n {
		q := c.query(c.IntN(shapeNamespaces), c.IntN(shapeGroups), c.IntN(shapeKinds), c.IntN(500))
		resources.Put(Object{q.Group, q.Version, q.Kind, q.Namespace, fmt.Sprintf("r-%d", i)}, q.Labels, "")
	}
	return resources
}

// BenchmarkMemory says how much a filed selector holds once its object is gone.
func BenchmarkMemory(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape+"/10000", func(b *testing.B) {
			perSelector := 0.0
			for b.Loop() {
				perSelector = bytesPerSelector(b, shape, 10_000)
			}
			b.ReportMetric(perSelector, "B/selector")
		})
	}
}

// bytesPerSelector measures the heap of an index without the objects that it was
// made of.
func bytesPerSelector(tb testing.TB, shape string, n int) float64 {
	before := heap()
	objects, _ := population(tb, shape, n)
	index := fullIndex(Options{}, compileAll(objects)...)
	clear(objects)
	after := heap()
	runtime.KeepAlive(index)
	return (float64(after) - float64(before)) / float64(n)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
