package iampolicy

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// want is what a condition wants of one value: one of the patterns, or none of them if the condition
// is negated. Those of folded fit without regard to case.
type want struct {
	condition     *condition
	plain, folded []string
}

// universe are the texts that a value may be, read letter by letter. Its implementations compare
// with ==.
type universe interface {
	// step is the place after one more letter, false where no text goes on so.
	step(at place, letter rune) (place, bool)
	// ends says whether a text may end at the place.
	ends(at place) bool
}

// place is what a universe knows of the letters that it has read.
type place struct {
	// part is a part of the text, count the letters in it.
	part, count int
	// last is what was read of a label last.
	last labelPart
}

// labelPart is what a label of DNS is made of.
type labelPart int

const (
	beginning labelPart = iota
	alphanumeric
	hyphen
)

// everyText are all texts.
type everyText struct{}

func (everyText) step(at place, _ rune) (place, bool) { return at, true }
func (everyText) ends(place) bool                     { return true }

// otherSubjects are the texts that do not begin as the subject of a ServiceAccount does.
type otherSubjects struct{}

func (otherSubjects) step(at place, letter rune) (place, bool) {
	if at.part == 1 {
		return at, true
	}
	if at.count < len(serviceAccountPrefix) && rune(serviceAccountPrefix[at.count]) == letter {
		at.count++
		return at, at.count < len(serviceAccountPrefix)
	}
	return place{part: 1}, true
}

func (otherSubjects) ends(place) bool { return true }

// serviceAccounts are the subjects of ServiceAccounts: the namespace is a label of DNS, the name a
// subdomain (Kubernetes: object names and IDs).
type serviceAccounts struct{ ofAnyLength bool }

const (
	longestNamespace = 63
	longestName      = 253
)

func (u serviceAccounts) step(at place, letter rune) (place, bool) {
	if at.part == 0 {
		if rune(serviceAccountPrefix[at.count]) != letter {
			return at, false
		}
		if at.count++; at.count == len(serviceAccountPrefix) {
			return place{part: 1}, true
		}
		return at, true
	}
	longest := longestNamespace
	if at.part == 2 {
		longest = longestName
	}
	next := place{part: at.part, count: at.count + 1}
	if u.ofAnyLength {
		next.count = 0
	}
	switch {
	case letter == ':' && at.part == 1:
		return place{part: 2}, at.last == alphanumeric
	case letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9':
		next.last = alphanumeric
		return next, at.count < longest
	case letter == '-':
		next.last = hyphen
		return next, at.count < longest && at.last != beginning
	default:
		return next, letter == '.' && at.part == 2 && at.count < longest && at.last == alphanumeric
	}
}

func (serviceAccounts) ends(at place) bool { return at.part == 2 && at.last == alphanumeric }

// sessionNames are the names that a caller may give its session (AWS STS: AssumeRole,
// RoleSessionName).
type sessionNames struct{ ofAnyLength bool }

const longestSessionName = 64

func (u sessionNames) step(at place, letter rune) (place, bool) {
	fits := letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || strings.ContainsRune("_+=,.@-", letter)
	if u.ofAnyLength && at.count == 2 {
		return at, fits
	}
	return place{count: at.count + 1}, fits && at.count < longestSessionName
}

func (sessionNames) ends(at place) bool { return at.count >= 2 }

// followed are the patterns of wants and the places where they are.
type followed struct {
	wants         []want
	plain, folded *bundle
	// owners are the wants of the patterns.
	plainOwners, foldedOwners []int
}

// situation is what is known after some letters of a text.
type situation struct {
	length        int
	at            place
	plain, folded []int32
}

// endurance bounds the work on a statement. When none is left, the answer is that a text fits.
type endurance int

const mostEffort endurance = 2_000_000

// shortEnough is a length that no limit forbids.
const shortEnough = longestNamespace

// meets says whether a text of the universe meets all wants. Lengths are counted only where that can
// make a difference, since that takes long.
func (e *endurance) meets(in universe, wants []want) bool {
	wider := in
	switch in.(type) {
	case serviceAccounts:
		wider = serviceAccounts{ofAnyLength: true}
	case sessionNames:
		wider = sessionNames{ofAnyLength: true}
	}
	length, found := e.shortest(wider, wants)
	if found && length > shortEnough && wider != in {
		_, found = e.shortest(in, wants)
	}
	return found
}

// shortest looks for a text that meets all wants, letter by letter, all texts at once that are alike
// to the universe and to the patterns.
func (e *endurance) shortest(in universe, wants []want) (length int, found bool) {
	f := follow(wants)
	letters := f.letters()
	first := situation{plain: f.plain.start(), folded: f.folded.start()}
	seen := map[string]bool{first.key(): true}
	for queue := []situation{first}; len(queue) > 0; queue = queue[1:] {
		now := queue[0]
		if in.ends(now.at) && f.met(&now) || *e < 0 {
			return now.length, true
		}
		*e -= endurance(len(letters) + len(wants))
		for _, letter := range letters {
			at, ok := in.step(now.at, letter)
			if !ok {
				continue
			}
			*e -= endurance(10 + len(now.plain) + len(now.folded) + len(wants))
			next := situation{now.length + 1, at, f.plain.step(now.plain, symbol(letter)), f.folded.step(now.folded, symbol(foldRune(letter)))}
			if key := next.key(); !seen[key] && !f.hopeless(&next) {
				seen[key] = true
				queue = append(queue, next)
			}
		}
	}
	return 0, false
}

func follow(wants []want) *followed {
	f := &followed{wants: wants}
	var plain, folded []*pattern
	for i, w := range wants {
		for _, text := range w.plain {
			p := &pattern{}
			p.text(text, false)
			plain, f.plainOwners = append(plain, p.finish()), append(f.plainOwners, i)
		}
		for _, text := range w.folded {
			p := &pattern{}
			p.text(strings.Map(foldRune, text), false)
			folded, f.foldedOwners = append(folded, p.finish()), append(f.foldedOwners, i)
		}
	}
	f.plain, f.folded = newBundle(plain), newBundle(folded)
	return f
}

// foldRune is the first of the letters that differ from one in case only.
func foldRune(letter rune) rune {
	first := letter
	for next := unicode.SimpleFold(letter); next != letter; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return first
}

// letters are those that the patterns or the universes name, and others for all the rest.
func (f *followed) letters() []rune {
	named := map[rune]bool{}
	for _, letter := range serviceAccountPrefix + "-." {
		named[letter] = true
	}
	for _, b := range []*bundle{f.plain, f.folded} {
		for _, t := range b.tokens {
			if t.kind != takesOne {
				continue
			}
			letter := rune(t.symbol)
			named[letter] = true
			for next := unicode.SimpleFold(letter); next != letter; next = unicode.SimpleFold(next) {
				named[next] = true
			}
		}
	}
	for _, some := range []string{"0123456789abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "_+=,@"} {
		if at := strings.IndexFunc(some, func(letter rune) bool { return !named[letter] && !named[foldRune(letter)] }); at >= 0 {
			named[rune(some[at])] = true
		}
	}
	rest := rune(utf8.MaxRune)
	for named[rest] {
		rest--
	}
	named[rest] = true
	return slices.Sorted(maps.Keys(named))
}

// met says that the text that was read meets all wants.
func (f *followed) met(s *situation) bool {
	fitted := make([]bool, len(f.wants))
	f.plain.ended(s.plain, func(owner int32) { fitted[f.plainOwners[owner]] = true })
	f.folded.ended(s.folded, func(owner int32) { fitted[f.foldedOwners[owner]] = true })
	for i, w := range f.wants {
		if fitted[i] == w.condition.negated {
			return false
		}
	}
	return true
}

// hopeless says that one of the wants has no pattern left that could fit.
func (f *followed) hopeless(s *situation) bool {
	left := make([]bool, len(f.wants))
	for _, at := range s.plain {
		left[f.plainOwners[f.plain.owner[at]]] = true
	}
	for _, at := range s.folded {
		left[f.foldedOwners[f.folded.owner[at]]] = true
	}
	for i, w := range f.wants {
		if !left[i] && !w.condition.negated {
			return true
		}
	}
	return false
}

// key tells situations apart.
func (s *situation) key() string {
	raw := []byte{byte(s.at.part), byte(s.at.last), byte(s.at.count), byte(s.at.count >> 8)} //nolint:gosec // counts are below 256
	for _, places := range [][]int32{s.plain, {-1}, s.folded} {
		for _, at := range places {
			raw = binary.BigEndian.AppendUint32(raw, uint32(at)) //nolint:gosec // only compared
		}
	}
	return string(raw)
}
