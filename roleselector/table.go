package roleselector

import "slices"

// table files each selector where exactly one feature of a query leads to it:
//
//	it has                          it is filed by
//	names of namespaces             each of the names
//	else terms on namespace labels  the rarest term: In by each value, Exists by key
//	else terms on resource labels   the rarest of those
//	else                            its types alone
//
// and there by the groups of its types. Terms that hold for an absent label,
// NotIn and DoesNotExist, lead nowhere: selectors with no others are filed by
// type, and those with no group either are read for every query. A query has one
// namespace, one value a label and one group, so that no selector is found twice.
// The zero table cannot be used; newTable makes one.
type table struct {
	filed           map[string]filed
	names           map[string]posting
	namespaceLabels labels
	resourceLabels  labels
	types           posting
}

// filed is a selector and where it is filed.
type filed struct {
	selector *Selector
	by       dimension
	term     int // index of the term, for the two dimensions of labels
}

type dimension uint8

const (
	byNames dimension = iota
	byNamespaceLabels
	byResourceLabels
	byTypes
)

// labels files selectors by label key. Few keys are asked about in most clusters,
// so that a reader looks for those in a query rather than the other way round.
type labels struct {
	byKey map[string]*labelKey
	keys  []*labelKey // the same
}

// labelKey holds the selectors filed by a key, and by its values. Mentions are
// the terms of all selectors, wherever those are filed.
type labelKey struct {
	key      string
	mentions int
	entries  int // in all of its postings
	exists   posting
	values   map[string]*labelValue
}

type labelValue struct {
	mentions int
	posting  posting
}

func newTable(size int) *table {
	return &table{
		filed: make(map[string]filed, size), names: map[string]posting{},
		namespaceLabels: labels{byKey: map[string]*labelKey{}}, resourceLabels: labels{byKey: map[string]*labelKey{}},
	}
}

// newFullTable files many at once, with the rarity of all terms known. Of two
// with one name the later counts.
func newFullTable(selectors []*Selector) *table {
	last := make(map[string]*Selector, len(selectors))
	for _, s := range selectors {
		if s != nil {
			last[s.reference.Name] = s
		}
	}
	t := newTable(len(last))
	for _, s := range last {
		t.mention(s, 1)
	}
	for _, s := range last {
		t.file(s)
	}
	return t
}

// set files a selector in place of the one with its name, which it returns.
func (t *table) set(s *Selector) *Selector {
	old := t.remove(s.reference.Name)
	t.mention(s, 1)
	t.file(s)
	return old
}

// remove takes a selector out and returns it, nil if there is none.
func (t *table) remove(name string) *Selector {
	old, found := t.filed[name]
	if !found {
		return nil
	}
	delete(t.filed, name)
	for _, group := range groupsOf(old.selector) {
		t.change(old, func(p posting) posting { return p.without(group, old.selector) })
	}
	t.mention(old.selector, -1)
	return old.selector
}

func (t *table) file(s *Selector) {
	f := t.place(s)
	t.filed[s.reference.Name] = f
	for _, group := range groupsOf(s) {
		t.change(f, func(p posting) posting { return p.with(group, s) })
	}
}

func (t *table) place(s *Selector) filed {
	if len(s.names) > 0 {
		return filed{s, byNames, 0}
	}
	if term, found := t.namespaceLabels.rarest(s.namespaceTerms); found {
		return filed{s, byNamespaceLabels, term}
	}
	if term, found := t.resourceLabels.rarest(s.resourceTerms); found {
		return filed{s, byResourceLabels, term}
	}
	return filed{s, byTypes, 0}
}

// change changes each posting in which a selector is filed.
func (t *table) change(f filed, to func(posting) posting) {
	switch f.by {
	case byNames:
		for _, name := range f.selector.names {
			if p := to(t.names[name]); len(p) > 0 {
				t.names[name] = p
			} else {
				delete(t.names, name)
			}
		}
	case byNamespaceLabels:
		t.namespaceLabels.change(&f.selector.namespaceTerms[f.term], to)
	case byResourceLabels:
		t.resourceLabels.change(&f.selector.resourceTerms[f.term], to)
	case byTypes:
		t.types = to(t.types)
	}
}

func (l *labels) change(t *term, to func(posting) posting) {
	key := l.byKey[t.key]
	counted := func(p posting) posting {
		changed := to(p)
		key.entries += len(changed) - len(p)
		return changed
	}
	if len(t.values) == 0 {
		key.exists = counted(key.exists)
	}
	for _, value := range t.values {
		key.values[value].posting = counted(key.values[value].posting)
	}
}

// mention counts the terms of a selector, which makes and removes the places
// where selectors can be filed by them.
func (t *table) mention(s *Selector, by int) {
	t.namespaceLabels.mention(s.namespaceTerms, by)
	t.resourceLabels.mention(s.resourceTerms, by)
}

func (l *labels) mention(terms []term, by int) {
	for i := range terms {
		t := &terms[i]
		key := l.byKey[t.key]
		if key == nil {
			key = &labelKey{key: t.key, values: map[string]*labelValue{}}
			l.byKey[t.key] = key
			l.keys = append(l.keys, key)
		}
		for _, value := range t.values {
			if key.values[value] == nil {
				key.values[value] = &labelValue{}
			}
			key.values[value].mentions += by
			if key.values[value].mentions == 0 {
				delete(key.values, value)
			}
		}
		key.mentions += by
		if key.mentions == 0 {
			delete(l.byKey, t.key)
			l.keys = slices.DeleteFunc(l.keys, func(k *labelKey) bool { return k == key })
		}
	}
}

// rarest is the index of the positive term that the fewest selectors have.
func (l *labels) rarest(terms []term) (index int, found bool) {
	fewest := 0
	for i := range terms {
		if !terms[i].isPositive() {
			continue
		}
		if n := l.mentionsOf(&terms[i]); !found || n < fewest {
			index, fewest, found = i, n, true
		}
	}
	return index, found
}

func (l *labels) mentionsOf(t *term) int {
	key := l.byKey[t.key]
	if len(t.values) == 0 {
		return key.mentions
	}
	n := 0
	for _, value := range t.values {
		n += key.values[value].mentions
	}
	return n
}

// mostEntries bounds in how many places one selector with many names and groups
// is filed; beyond it, the names alone lead to it.
const mostEntries = 512

// groupsOf are the groups by which a selector is filed, sorted.
func groupsOf(s *Selector) []uint64 {
	groups := make([]uint64, 0, len(s.types))
	for i := range s.types {
		if s.types[i].group == "" {
			return []uint64{anyGroup}
		}
		groups = append(groups, groupKey(s.types[i].group))
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if len(groups) == 0 || len(groups)*len(s.names) > mostEntries {
		return []uint64{anyGroup}
	}
	return groups
}

// read visits every posting in which a selector of the query may be filed.
func (t *table) read(r *reading, found []*Selector) []*Selector {
	q := r.query
	if q.Namespace != "" {
		found = r.visit(t.names[q.Namespace], found)
	}
	if q.NamespaceKnown {
		found = t.namespaceLabels.read(r, q.NamespaceLabels, found)
	} else {
		t.namespaceLabels.readAll(r)
	}
	found = t.resourceLabels.read(r, q.Labels, found)
	return r.visit(t.types, found)
}

func (l *labels) read(r *reading, has map[string]string, found []*Selector) []*Selector {
	if len(l.keys) > len(has) {
		for k, v := range has {
			if key := l.byKey[k]; key != nil {
				found = key.read(r, v, found)
			}
		}
		return found
	}
	for _, key := range l.keys {
		if key.entries == 0 {
			continue
		}
		if v, is := has[key.key]; is {
			found = key.read(r, v, found)
		}
	}
	return found
}

func (k *labelKey) read(r *reading, v string, found []*Selector) []*Selector {
	found = r.visit(k.exists, found)
	if value := k.values[v]; value != nil {
		found = r.visit(value.posting, found)
	}
	return found
}

// readAll looks for one selector that may select the query once its namespace's
// labels are known. All that are filed here depend on those, so that none is
// found for certain.
func (l *labels) readAll(r *reading) {
	for _, key := range l.keys {
		r.visit(key.exists, nil)
		for _, value := range key.values {
			r.visit(value.posting, nil)
		}
		if r.unknown {
			return
		}
	}
}
