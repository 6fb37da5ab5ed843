package iampolicy

import "encoding/binary"

// bundle is several patterns that are followed at once: their places in one row.
type bundle struct {
	tokens []token
	// first is the first place of the pattern to which a place belongs, owner that
	// pattern's number.
	first, owner []int32
	starts       []int32
	// mixed are the places that stay within a part of an ARN behind a star that does not:
	// what fits from that star need not fit from there.
	mixed map[int32]bool
}

// newBundle puts patterns in a row.
func newBundle(all []*pattern) *bundle {
	b := &bundle{mixed: map[int32]bool{}}
	for i, p := range all {
		first := int32(len(b.tokens)) //nolint:gosec // no document has so many characters
		b.starts = append(b.starts, first)
		b.tokens = append(b.tokens, p.tokens...)
		wide := false
		for k, t := range p.tokens {
			if wide && t.within {
				b.mixed[first+int32(k)] = true //nolint:gosec // the same
			}
			wide = wide || t.kind == takesMany && !t.within
			b.first, b.owner = append(b.first, first), append(b.owner, int32(i)) //nolint:gosec // the same
		}
	}
	return b
}

// start is the set of places before anything was read, sorted.
func (b *bundle) start() []int32 {
	var places []int32
	for _, at := range b.starts {
		places = b.add(places, at)
	}
	return places
}

// add adds a place, and the one behind it if the place is a star. The places of a
// pattern before a star that was reached are dropped: what fits from there fits from
// the star, too.
func (b *bundle) add(places []int32, at int32) []int32 {
	if len(places) > 0 && places[len(places)-1] >= at {
		return places
	}
	if b.tokens[at].kind != takesMany {
		return append(places, at)
	}
	for !b.mixed[at] && len(places) > 0 && places[len(places)-1] >= b.first[at] {
		places = places[:len(places)-1]
	}
	return append(places, at, at+1)
}

// step is the set of places after one more symbol.
func (b *bundle) step(places []int32, s symbol) []int32 {
	var next []int32
	for _, at := range places {
		switch t := b.tokens[at]; {
		case !t.takes(s):
		case t.kind == takesMany:
			next = b.add(next, at)
		default:
			next = b.add(next, at+1)
		}
	}
	return next
}

// ended visits the patterns that fit what was read.
func (b *bundle) ended(places []int32, visit func(owner int32)) {
	for _, at := range places {
		if b.tokens[at].kind == takesNone {
			visit(b.owner[at])
		}
	}
}

// certain visits the patterns that fit whatever follows.
func (b *bundle) certain(places []int32, visit func(owner int32)) {
	for _, at := range places {
		if t := b.tokens[at]; t.kind == takesMany && !t.within && b.tokens[at+1].kind == takesNone {
			visit(b.owner[at])
		}
	}
}

// walk reads every text that two patterns fit, one text for all that are alike, and
// follows a bundle of patterns along it: subset construction, one state at a time.
type walk struct {
	must  [2]*pattern
	watch *bundle
	// growing says that a text which more of the bundle's patterns fit is of no
	// interest where one that fewer of them fit was seen.
	growing bool
	// skip says that no text that goes on from here is of interest.
	skip func(places []int32) bool
	// visit gets the places of the bundle at the end of a text; false ends the walk.
	visit func(places []int32) bool

	seen   map[string]bool
	least  map[[2]int][][]int32
	states []state
}

// state is a place of each of the two patterns, and those of the bundle.
type state struct {
	at     [2]int
	places []int32
}

// run walks until nothing is left or visit has seen enough. It is false where the
// budget was too small.
func (w *walk) run(spend func(int) bool) bool {
	w.seen, w.least = map[string]bool{}, map[[2]int][][]int32{}
	w.push(state{places: w.watch.start()})
	for len(w.states) > 0 {
		s := w.states[len(w.states)-1]
		w.states = w.states[:len(w.states)-1]
		if !spend(stateEffort + 2*len(s.places)) {
			return false
		}
		if w.skip(s.places) {
			continue
		}
		a, b := w.must[0].tokens[s.at[0]], w.must[1].tokens[s.at[1]]
		if a.kind == takesNone && b.kind == takesNone && !w.visit(s.places) {
			return true
		}
		for _, next := range w.symbols(a, b, s.places) {
			if !spend(1 + 2*len(s.places)) {
				return false
			}
			if a.takes(next) && b.takes(next) {
				w.push(state{[2]int{after(a, s.at[0]), after(b, s.at[1])}, w.watch.step(s.places, next)})
			}
		}
		// A star may also be over. This is looked at first, so that the shortest
		// texts come first.
		if b.kind == takesMany {
			w.push(state{[2]int{s.at[0], s.at[1] + 1}, s.places})
		}
		if a.kind == takesMany {
			w.push(state{[2]int{s.at[0] + 1, s.at[1]}, s.places})
		}
	}
	return true
}

// stateEffort is what a state costs beside its places.
const stateEffort = 20

// after is the place behind one that took a symbol.
func after(t token, at int) int {
	if t.kind == takesMany {
		return at
	}
	return at + 1
}

// symbols are those that can make a difference: the one that a pattern asks for, or all
// that the bundle asks for, and any other one last, which is looked at first.
func (w *walk) symbols(a, b token, places []int32) []symbol {
	switch {
	case a.kind == takesNone || b.kind == takesNone || a.kind == fails || b.kind == fails:
		return nil
	case a.kind == takesOne:
		return []symbol{a.symbol}
	case b.kind == takesOne:
		return []symbol{b.symbol}
	}
	var named []symbol
	known := map[symbol]bool{}
	add := func(s symbol) {
		if !s.isVariable() && !known[s] {
			known[s] = true
			named = append(named, s)
		}
	}
	for _, at := range places {
		switch t := w.watch.tokens[at]; {
		case t.kind == takesOne:
			add(t.symbol)
		case t.within:
			add(':')
		}
	}
	return append(named, anyOther)
}

// push adds a state that is new.
func (w *walk) push(s state) {
	if w.growing {
		for _, less := range w.least[s.at] {
			if isSubset(less, s.places) {
				return
			}
		}
		if len(w.least[s.at]) < leastKept {
			w.least[s.at] = append(w.least[s.at], s.places)
		}
	}
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(s.at[0])), uint64(s.at[1])) //nolint:gosec // places are not negative
	for _, at := range s.places {
		key = binary.AppendUvarint(key, uint64(at)) //nolint:gosec // the same
	}
	if !w.seen[string(key)] {
		w.seen[string(key)] = true
		w.states = append(w.states, s)
	}
}

// leastKept is with how many earlier sets a new one is compared.
const leastKept = 16

// isSubset compares two sorted sets.
func isSubset(small, large []int32) bool {
	for _, at := range small {
		for len(large) > 0 && large[0] < at {
			large = large[1:]
		}
		if len(large) == 0 || large[0] != at {
			return false
		}
	}
	return true
}
