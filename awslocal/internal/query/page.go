package query

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

const (
	defaultPage = 100
	maxPage     = 1000
	maxMarker   = 320
)

// A marker is the name of the last item shown, behind a letter: whether the page
// that it ended showed anything. Only a page that did may be followed by an
// empty one, so that every list comes to its end.
const (
	afterSome    = "s"
	afterNothing = "n"
)

// ShortPages makes lists end their pages early, which AWS may do at any time:
// fewer items than MaxItems, sometimes none, and IsTruncated still true. The
// zero value does not. It is safe for concurrent use.
type ShortPages struct {
	mu     sync.Mutex
	seed   uint64
	random *rand.Rand
}

// Set switches it on or off. The same seed makes the same lists end at the same
// items.
func (s *ShortPages) Set(on bool, seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.random, s.seed = nil, seed
	if on {
		s.random = rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it is to be repeatable, not secret
	}
}

// Get is what Set set.
func (s *ShortPages) Get() (on bool, seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random != nil, s.seed
}

// cut is how many of at most size items a page shows, at least minimum.
func (s *ShortPages) cut(size, minimum int) int {
	if s == nil {
		return size
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.random == nil || size <= minimum {
		return size
	}
	return minimum + s.random.IntN(size-minimum+1)
}

// Page is the part of a list that a call asks for.
type Page struct {
	size  int
	begun bool
	// after is the last name shown before, where the list has begun.
	after        string
	afterNothing bool
	short        *ShortPages
}

// PageEnd closes a paginated result.
type PageEnd struct {
	IsTruncated bool
	Marker      string `xml:",omitempty"`
}

// ReadPage reads MaxItems and Marker.
func ReadPage(form Form, short *ShortPages) (Page, *call.Fault) {
	size, fault := form.Int("MaxItems", defaultPage)
	if fault != nil {
		return Page{}, fault
	}
	var v Validation
	v.Number("MaxItems", size, 1, maxPage)
	marker := v.Optional(form, "Marker", 1, maxMarker, nil)
	if fault := v.Fault(); fault != nil {
		return Page{}, fault
	}
	page := Page{size: size, short: short}
	if !form.Has("Marker") {
		return page, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(marker)
	if err != nil {
		return Page{}, BadMarker()
	}
	after, some := strings.CutPrefix(string(plain), afterSome)
	if !some {
		after, page.afterNothing = strings.CutPrefix(after, afterNothing)
	}
	// An empty page at the very start has shown nothing to go on after.
	page.after, page.begun = after, after != ""
	if !page.afterNothing && (!some || !page.begun) {
		return Page{}, BadMarker()
	}
	return page, nil
}

// After is the last name that the pages before have shown; false at the start.
func (p *Page) After() (string, bool) { return p.after, p.begun }

// Size is how many items the page shows of those that are left.
func (p *Page) Size(left int) int {
	if left == 0 {
		return 0
	}
	minimum := 0
	if p.afterNothing {
		minimum = 1
	}
	return p.short.cut(min(left, p.size), minimum)
}

// End closes a page that shows some of the items that are left; last is the
// name of the last one shown, if any is.
func (p *Page) End(shown, left int, last string) PageEnd {
	switch {
	case shown == left:
		return PageEnd{}
	case shown == 0:
		return PageEnd{IsTruncated: true, Marker: encodeMarker(afterNothing + p.after)}
	}
	return PageEnd{IsTruncated: true, Marker: encodeMarker(afterSome + last)}
}

func encodeMarker(plain string) string { return base64.RawURLEncoding.EncodeToString([]byte(plain)) }

// Cut sorts items by name and cuts them to the page. Names go by their text, so
// that items that come and go between two pages do no harm. The items are
// changed.
func Cut[T any](p Page, items []T, name func(T) string) ([]T, PageEnd) {
	if after, begun := p.After(); begun {
		items = slices.DeleteFunc(items, func(item T) bool { return name(item) <= after })
	}
	slices.SortFunc(items, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	size, last := p.Size(len(items)), ""
	if size > 0 {
		last = name(items[size-1])
	}
	return items[:size], p.End(size, len(items), last)
}
