package consistency

import "time"

// Past keeps what things were before they changed, for as long as that still
// counts. It knows nothing of the present: what it has no word on is as it is.
// The zero value is empty. Its user guards it against concurrent use.
type Past[K comparable, V any] struct{ all map[K][]former[V] }

// former is what a thing was, and until when that counts.
type former[V any] struct {
	value V
	until time.Time
}

// Keep notes what a thing was before a change at now, and that this counts until
// another instant. A change is never seen before one that was made earlier.
func (p *Past[K, V]) Keep(key K, value V, now, until time.Time) {
	if p.all == nil {
		p.all = map[K][]former[V]{}
	}
	kept := []former[V]{}
	for _, one := range p.all[key] {
		if now.Before(one.until) {
			kept = append(kept, one)
		}
	}
	if n := len(kept); n > 0 && until.Before(kept[n-1].until) {
		until = kept[n-1].until
	}
	p.all[key] = append(kept, former[V]{value, until})
}

// At is what a thing counts as at an instant; false where that is the present.
func (p *Past[K, V]) At(key K, now time.Time) (V, bool) {
	for _, one := range p.all[key] {
		if now.Before(one.until) {
			return one.value, true
		}
	}
	var none V
	return none, false
}

// IsEmpty says that nothing was ever kept, or all was forgotten.
func (p *Past[K, V]) IsEmpty() bool { return len(p.all) == 0 }

// Forget makes the present count at once, for all things.
func (p *Past[K, V]) Forget() { p.all = nil }
