package roleselector

import (
	"iter"
	"slices"
)

// Change is what a writer of an Index or of Objects has changed, for Affected: a
// selector, a choice, or a namespace. What is nil was not there before, or is
// there no more.
type Change struct {
	OldSelector, NewSelector *Selector
	OldChoice, NewChoice     *Choice
	// Namespace is the one whose labels have changed, nil for none.
	Namespace *NamespaceChange
}

// NamespaceChange is what has become of a namespace's labels.
type NamespaceChange struct {
	Name string
	// Old and New are the labels; they are known unless OldKnown or NewKnown is
	// false.
	Old, New           map[string]string
	OldKnown, NewKnown bool
}

// Affected are the resources whose decision may have become another by a change,
// each once, in no order. It errs on the side of too many; Reconsider says which
// they are. Call it after the change has been entered.
func (o *Objects) Affected(change Change) []Object {
	o.mu.RLock()
	defer o.mu.RUnlock()
	refs := o.selectedBy(change.NewSelector, nil, nil)
	refs = o.selectedBy(change.OldSelector, change.NewSelector, refs)
	found := o.affectedByChoice(change.OldChoice, change.NewChoice, nil)
	found = o.affectedByNamespace(change.Namespace, found)
	return appendRefs(refs, found)
}

func appendRefs(refs []Object, objects []*object) []Object {
	refs = slices.Grow(refs, len(objects))
	for _, object := range objects {
		refs = append(refs, object.ref)
	}
	return refs
}

// selectedBy appends what a selector may select and another one does not.
func (o *Objects) selectedBy(s, other *Selector, refs []Object) []Object {
	if s == nil {
		return refs
	}
	if s.selectsByTypeAlone() && (other == nil || other.selectsByTypeAlone()) {
		return o.ofKindsSelectedBy(s, other, refs)
	}
	var found []*object
	for object := range o.candidates(s) {
		q, needGroup := object.query(), object.kind.needGroup
		if s.selects(&q, needGroup) != No && (other == nil || other.selects(&q, needGroup) == No) {
			found = append(found, object)
		}
	}
	return appendRefs(refs, found)
}

// ofKindsSelectedBy is selectedBy where the type alone counts: no object is looked
// at, and a selector of all 50,000 costs the copy of their names.
func (o *Objects) ofKindsSelectedBy(s, other *Selector, refs []Object) []Object {
	var selected []*kind
	size := 0
	for _, k := range o.kinds {
		q := k.query()
		if anyTypeSelects(s.types, &q, k.needGroup) && (other == nil || !anyTypeSelects(other.types, &q, k.needGroup)) {
			selected = append(selected, k)
			size += len(k.refs)
		}
	}
	refs = slices.Grow(refs, size)
	for _, k := range selected {
		refs = append(refs, k.refs...)
	}
	return refs
}

func (o *Objects) affectedByChoice(before, after *Choice, found []*object) []*object {
	either := after
	if either == nil {
		either = before
	}
	if either == nil || o.namespaces[either.namespace] == nil {
		return found
	}
	for object := range o.namespaces[either.namespace].objects {
		q := object.query()
		if before != nil && before.selects(&q) || after != nil && after.selects(&q) {
			found = append(found, object)
		}
	}
	return found
}

func (o *Objects) affectedByNamespace(change *NamespaceChange, found []*object) []*object {
	if change == nil || o.namespaces[change.Name] == nil ||
		change.OldKnown == change.NewKnown && !o.index.asksAbout(change.Old, change.New) {
		return found
	}
	for object := range o.namespaces[change.Name].objects {
		found = append(found, object)
	}
	return found
}

// asksAbout says whether a selector has a term on a label of namespaces that
// differs between two sets.
func (x *Index) asksAbout(before, after map[string]string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.asksAboutLost(before, after) || x.asksAboutLost(after, before)
}

// asksAboutLost looks at the labels of one set that the other has not, or has
// with another value.
func (x *Index) asksAboutLost(set, other map[string]string) bool {
	for key, value := range set {
		if now, has := other[key]; (!has || now != value) && x.table.namespaceLabels.byKey[key] != nil {
			return true
		}
	}
	return false
}

// candidates are objects that include all that a selector may select, found by
// the part of it that leads to the fewest.
func (o *Objects) candidates(s *Selector) iter.Seq[*object] {
	best := o.all()
	better := func(c crowd) {
		if c.size < best.size {
			best = c
		}
	}
	if len(s.names) > 0 {
		better(o.inNamed(s.names))
	}
	if len(s.types) > 0 {
		better(o.ofTypes(s))
	}
	hasPositive := false
	for i := range s.namespaceTerms {
		if s.namespaceTerms[i].isPositive() {
			hasPositive = true
			better(o.inLabelled(&s.namespaceTerms[i]))
		}
	}
	if len(s.namespaceTerms) > 0 && !hasPositive {
		better(o.inAllowed(s))
	}
	for i := range s.resourceTerms {
		if s.resourceTerms[i].isPositive() {
			better(join(o.labelled.sets(&s.resourceTerms[i])))
		}
	}
	return best.each
}

// crowd is a number of objects, counted before they are looked at.
type crowd struct {
	size int
	each iter.Seq[*object]
}

func (o *Objects) all() crowd {
	return crowd{len(o.byRef), func(yield func(*object) bool) {
		for _, k := range o.kinds {
			if !k.each(yield) {
				return
			}
		}
	}}
}

// each says whether all have been given out.
func (k *kind) each(yield func(*object) bool) bool {
	for _, object := range k.objects {
		if !yield(object) {
			return false
		}
	}
	return true
}

// join makes one crowd of sets.
func join(sets []set[*object]) crowd {
	size := 0
	for _, s := range sets {
		size += len(s)
	}
	return crowd{size, func(yield func(*object) bool) {
		for _, s := range sets {
			for object := range s {
				if !yield(object) {
					return
				}
			}
		}
	}}
}

func (o *Objects) inNamed(names []string) crowd {
	var sets []set[*object]
	for _, name := range names {
		if home := o.namespaces[name]; home != nil {
			sets = append(sets, home.objects)
		}
	}
	return join(sets)
}

// inLabelled are the objects of the namespaces for which a term holds, and of
// those whose labels are not known.
func (o *Objects) inLabelled(t *term) crowd {
	var sets []set[*object]
	for _, homes := range append(o.labelledNamespaces.sets(t), o.unknown) {
		for home := range homes {
			sets = append(sets, home.objects)
		}
	}
	return join(sets)
}

// inAllowed are the objects of the namespaces that a selector selects, for one
// that no label leads to: there are fewer namespaces than objects.
func (o *Objects) inAllowed(s *Selector) crowd {
	var sets []set[*object]
	for _, home := range o.namespaces {
		q := Query{NamespaceLabels: home.labels, NamespaceKnown: home.known}
		if s.selectsNamespaceLabels(&q) != No {
			sets = append(sets, home.objects)
		}
	}
	return join(sets)
}

func (o *Objects) ofTypes(s *Selector) crowd {
	var selected []*kind
	size := 0
	for _, k := range o.kinds {
		q := k.query()
		if anyTypeSelects(s.types, &q, k.needGroup) {
			selected = append(selected, k)
			size += len(k.objects)
		}
	}
	return crowd{size, func(yield func(*object) bool) {
		for _, k := range selected {
			if !k.each(yield) {
				return
			}
		}
	}}
}
