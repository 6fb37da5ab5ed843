package roleselector

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Options are what an administrator says of an Index. The zero value is usable.
type Options struct {
	// NoSelector is what is done where no selector applies; empty is
	// PolicyDefaultRole.
	NoSelector NoSelectorPolicy
	// CatchAll says whether a selector that names no group applies to the kinds of
	// a group; nil is IsServiceGroup. The kinds of other groups are selected only
	// by selectors that name the group. It must always say the same of a group.
	CatchAll func(group string) bool
}

// IsServiceGroup says whether a group is that of an AWS service's kinds, such as
// s3.services.k8s.aws.
func IsServiceGroup(group string) bool { return strings.HasSuffix(group, ".services.k8s.aws") }

// Source is what an Index is filled from. Sources are joined with |.
type Source uint8

// The sources.
const (
	// Selectors are the IAMRoleSelectors.
	Selectors Source = 1 << iota
	// Namespaces are the namespaces, by whose labels the callers ask.
	Namespaces
	// Choices are the IAMRoleChoices.
	Choices
	// Everything is all of them.
	Everything = Selectors | Namespaces | Choices
)

// Index holds the selectors and choices of a cluster and decides by them. It is
// safe for concurrent use. Decisions and matches see all of a change or nothing
// of it. A writer bars readers only while it enters one compiled selector, or
// exchanges a table that it has built beside.
type Index struct {
	options Options
	writers sync.Mutex // one writer at a time; taken before mu

	mu      sync.RWMutex
	table   *table
	choices map[string][]*Choice // by namespace, sorted by name; a list is never changed
	synced  Source
}

// NewIndex is an empty index that knows of nothing yet.
func NewIndex(options Options) *Index {
	if options.CatchAll == nil {
		options.CatchAll = IsServiceGroup
	}
	return &Index{options: options, table: newTable(0), choices: map[string][]*Choice{}}
}

// MarkSynced says that all that exists of the sources has been entered. Until
// that has been said of everything, each decision is NotYetKnown.
func (x *Index) MarkSynced(sources Source) { x.mark(func(s Source) Source { return s | sources }) }

// MarkStale takes MarkSynced back, for a source that cannot be read any more.
func (x *Index) MarkStale(sources Source) { x.mark(func(s Source) Source { return s &^ sources }) }

func (x *Index) mark(to func(Source) Source) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.synced = to(x.synced)
}

// Ready says that all sources have synced.
func (x *Index) Ready() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.synced == Everything
}

// Set enters a selector in place of the one with its name. Nil changes nothing.
func (x *Index) Set(s *Selector) Change {
	if s == nil {
		return Change{}
	}
	x.writers.Lock()
	defer x.writers.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	return Change{OldSelector: x.table.set(s), NewSelector: s}
}

// Delete removes the selector of a name, if there is one.
func (x *Index) Delete(name string) Change {
	x.writers.Lock()
	defer x.writers.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	return Change{OldSelector: x.table.remove(name)}
}

// Replace exchanges all selectors at once. Any resource may be concerned by it.
func (x *Index) Replace(selectors []*Selector) {
	x.writers.Lock()
	defer x.writers.Unlock()
	full := newFullTable(selectors)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.table = full
}

// SetChoice enters a choice in place of the one with its namespace and name. Nil
// changes nothing.
func (x *Index) SetChoice(c *Choice) Change {
	if c == nil {
		return Change{}
	}
	change := x.exchangeChoice(c.namespace, c.name, c)
	change.NewChoice = c
	return change
}

// DeleteChoice removes a choice, if there is one.
func (x *Index) DeleteChoice(namespace, name string) Change {
	return x.exchangeChoice(namespace, name, nil)
}

// ReplaceChoices exchanges all choices at once. Of two with one namespace and name
// the later counts. Any resource may be concerned by it.
func (x *Index) ReplaceChoices(choices []*Choice) {
	full := choicesByNamespace(choices)
	x.writers.Lock()
	defer x.writers.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.choices = full
}

func (x *Index) exchangeChoice(namespace, name string, by *Choice) Change {
	x.writers.Lock()
	defer x.writers.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	var change Change
	list := make([]*Choice, 0, len(x.choices[namespace])+1)
	for _, c := range x.choices[namespace] {
		if c.name == name {
			change.OldChoice = c
			continue
		}
		list = append(list, c)
	}
	if by != nil {
		list = append(list, by)
		slices.SortFunc(list, byChoiceName)
	}
	if len(list) == 0 {
		delete(x.choices, namespace)
	} else {
		x.choices[namespace] = list
	}
	return change
}

// Get is the selector of a name, nil for none.
func (x *Index) Get(name string) *Selector {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.table.filed[name].selector
}

// All are the selectors, sorted by name.
func (x *Index) All() []*Selector {
	x.mu.RLock()
	all := make([]*Selector, 0, len(x.table.filed))
	for _, f := range x.table.filed {
		all = append(all, f.selector)
	}
	x.mu.RUnlock()
	slices.SortFunc(all, byName)
	return all
}

func byName(a, b *Selector) int { return strings.Compare(a.reference.Name, b.reference.Name) }

// AllChoices are the choices, sorted by namespace and name.
func (x *Index) AllChoices() []*Choice {
	x.mu.RLock()
	var all []*Choice
	for _, list := range x.choices {
		all = append(all, list...)
	}
	x.mu.RUnlock()
	slices.SortFunc(all, func(a, b *Choice) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), byChoiceName(a, b))
	})
	return all
}

// Match appends the selectors that select the query to into, in no order, and
// returns it. It is not known whether those are all while the labels of the
// query's namespace are not, and a selector depends on them. With room in into it
// allocates nothing. It does not ask whether the index is ready.
func (x *Index) Match(q Query, into []*Selector) (matches []*Selector, known bool) {
	r := x.newReading(&q)
	x.mu.RLock()
	matches = x.table.read(&r, into)
	x.mu.RUnlock()
	return matches, !r.unknown
}

func (x *Index) newReading(q *Query) reading {
	return reading{query: q, group: groupKey(q.Group), needGroup: !x.options.CatchAll(q.Group)}
}

// Decide says with which role the resource is managed. Where one selector or none
// selects it, it allocates nothing.
func (x *Index) Decide(q Query) Decision {
	var room [4]*Selector
	r := x.newReading(&q)
	x.mu.RLock()
	synced := x.synced
	selecting := x.table.read(&r, room[:0])
	choices := x.choices[q.Namespace]
	x.mu.RUnlock()
	switch {
	case synced != Everything:
		return Decision{Outcome: NotYetKnown, Reason: ReasonNotSynced}
	case q.Group == "" || q.Version == "" || q.Kind == "":
		return Decision{Outcome: Invalid, Reason: ReasonTypeUnknown}
	case r.unknown:
		return Decision{Outcome: NotYetKnown, Reason: ReasonNamespaceUnknown}
	}
	return decide(&q, selecting, choices, x.options.NoSelector)
}

// LastUsed is the selector on record if it still selects the query and its role can
// still be used, else the first by name that does and has the role on record, such as
// one that was made anew: what Proceed wants to know of a resource that is to be deleted
// where it is. Nil is none.
func (x *Index) LastUsed(q Query, recorded Recorded) *Selector {
	if recorded.Selector == "" {
		return nil
	}
	var room [4]*Selector
	selecting, _ := x.Match(q, room[:0])
	var last *Selector
	for _, s := range selecting {
		switch {
		case s.deny || s.isBroken():
		case recorded.isOf(s.reference):
			return s
		case recorded.hasRole(s.reference) && (last == nil || s.reference.Name < last.reference.Name):
			last = s
		}
	}
	return last
}
