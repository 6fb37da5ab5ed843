package catalogd

import "time"

// Bound sets bounds that a test can reach.
func (r *Reader) Bound(packed, unpacked int64, stall time.Duration) {
	r.bounds = bounds{packed: packed, unpacked: unpacked, stall: stall}
}

// Kept is how many whole catalogues and packages are kept.
func (r *Reader) Kept() (whole, packages int) {
	return len(r.kept.whole.entries), len(r.kept.packages.entries)
}
