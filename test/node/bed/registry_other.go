//go:build !linux

package bed

// Registry is on Linux alone, as the node is.
func (b *Bed) Registry() string {
	b.t.Helper()
	b.t.Fatal("the lab's node runs on Linux")
	return ""
}
