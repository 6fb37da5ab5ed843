package roleselector

import "sync"

// Object names one resource.
type Object struct{ Group, Version, Kind, Namespace, Name string }

// Objects are the resources of a controller and the namespaces they are in, with
// the last decision on each. It is safe for concurrent use. Maps that are handed
// in are kept and must not be changed.
type Objects struct {
	index *Index

	mu                 sync.RWMutex // taken before the index's
	byRef              map[Object]*object
	namespaces         map[string]*namespace // those that are known or hold objects
	unknown            set[*namespace]       // those whose labels are not known
	labelledNamespaces inverse[*namespace]
	labelled           inverse[*object]
	kinds              map[resourceType]*kind // those with objects
}

// object is one resource; decision is guarded by the lock of Objects.
type object struct {
	ref      Object
	labels   map[string]string
	choice   string
	home     *namespace
	kind     *kind
	at       int // in the lists of its kind
	decision Decision
}

// kind is what objects of one type have in common. The lists are in one order.
type kind struct {
	resourceType
	needGroup bool // only selectors that name the group apply
	objects   []*object
	refs      []Object // of these, so that all are copied at once
}

// query is the part of a query that is about the kind.
func (k *kind) query() Query { return Query{Group: k.group, Version: k.version, Kind: k.kind} }

func (k *kind) put(o *object) {
	o.kind, o.at = k, len(k.objects)
	k.objects, k.refs = append(k.objects, o), append(k.refs, o.ref)
}

// remove puts the last object in the place of another.
func (k *kind) remove(o *object) {
	last := len(k.objects) - 1
	k.objects[o.at], k.refs[o.at] = k.objects[last], k.refs[last]
	k.objects[o.at].at = o.at
	k.objects[last], k.refs[last] = nil, Object{}
	k.objects, k.refs = k.objects[:last], k.refs[:last]
}

type namespace struct {
	labels  map[string]string
	known   bool
	objects set[*object]
}

// query is what the index is asked about the object. Objects of the cluster have
// no namespace to wait for.
func (o *object) query() Query {
	return Query{
		Namespace: o.ref.Namespace, NamespaceLabels: o.home.labels, NamespaceKnown: o.home.known || o.ref.Namespace == "",
		Group: o.ref.Group, Version: o.ref.Version, Kind: o.ref.Kind,
		Labels: o.labels, Choice: o.choice,
	}
}

// NewObjects is a registry without objects, whose decisions are an index's. Without an
// index nothing is ever known.
func NewObjects(index *Index) *Objects {
	if index == nil {
		index = NewIndex(Options{})
	}
	return &Objects{
		index: index,
		byRef: map[Object]*object{}, namespaces: map[string]*namespace{}, unknown: set[*namespace]{},
		labelledNamespaces: newInverse[*namespace](), labelled: newInverse[*object](),
		kinds: map[resourceType]*kind{},
	}
}

// Put enters a resource with its labels and the value of its choice annotation,
// or what they have become. It returns the decision, and whether it is another
// than the last one on the resource.
func (o *Objects) Put(ref Object, labels map[string]string, choice string) (d Decision, changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	entered := o.byRef[ref]
	if entered == nil {
		entered = &object{ref: ref, home: o.home(ref.Namespace)}
		o.byRef[ref] = entered
		entered.home.objects[entered] = struct{}{}
		o.kindOf(ref).put(entered)
	}
	o.labelled.drop(entered.labels, entered)
	o.labelled.put(labels, entered)
	entered.labels, entered.choice = labels, choice
	return o.decide(entered)
}

// decide decides on an object anew and keeps the decision.
func (o *Objects) decide(object *object) (d Decision, changed bool) {
	d = o.index.Decide(object.query())
	changed = !d.Equal(object.decision)
	object.decision = d
	return d, changed
}

// kindOf is the kind of a resource, made unless it is there.
func (o *Objects) kindOf(ref Object) *kind {
	written := resourceType{ref.Group, ref.Version, ref.Kind}
	k := o.kinds[written]
	if k == nil {
		k = &kind{resourceType: written, needGroup: !o.index.options.CatchAll(ref.Group)}
		o.kinds[written] = k
	}
	return k
}

// home is the namespace of a name, made unless it is there.
func (o *Objects) home(name string) *namespace {
	home := o.namespaces[name]
	if home == nil {
		home = &namespace{objects: set[*object]{}}
		o.namespaces[name] = home
		o.unknown[home] = struct{}{}
	}
	return home
}

// Delete removes a resource, if it is there.
func (o *Objects) Delete(ref Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	gone := o.byRef[ref]
	if gone == nil {
		return
	}
	delete(o.byRef, ref)
	o.labelled.drop(gone.labels, gone)
	gone.kind.remove(gone)
	if len(gone.kind.objects) == 0 {
		delete(o.kinds, gone.kind.resourceType)
	}
	gone.home.objects.remove(gone)
	o.forget(ref.Namespace)
}

// forget drops a namespace of which nothing is known and that holds nothing.
func (o *Objects) forget(name string) {
	if home := o.namespaces[name]; !home.known && len(home.objects) == 0 {
		delete(o.namespaces, name)
		o.unknown.remove(home)
	}
}

// PutNamespace enters a namespace's labels, or what they have become.
func (o *Objects) PutNamespace(name string, labels map[string]string) Change {
	return o.changeNamespace(name, labels, true)
}

// DeleteNamespace makes a namespace's labels unknown again.
func (o *Objects) DeleteNamespace(name string) Change {
	return o.changeNamespace(name, nil, false)
}

func (o *Objects) changeNamespace(name string, labels map[string]string, known bool) Change {
	o.mu.Lock()
	defer o.mu.Unlock()
	home := o.home(name)
	change := &NamespaceChange{Name: name, Old: home.labels, New: labels, OldKnown: home.known, NewKnown: known}
	o.labelledNamespaces.drop(home.labels, home)
	o.labelledNamespaces.put(labels, home)
	home.labels, home.known = labels, known
	if known {
		o.unknown.remove(home)
	} else {
		o.unknown[home] = struct{}{}
	}
	o.forget(name)
	return Change{Namespace: change}
}

// Query is what the index is asked about a resource; false if it is not there.
func (o *Objects) Query(ref Object) (Query, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	object := o.byRef[ref]
	if object == nil {
		return Query{}, false
	}
	return object.query(), true
}

// Decision is the last decision on a resource; false if it is not there.
func (o *Objects) Decision(ref Object) (Decision, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	object := o.byRef[ref]
	if object == nil {
		return Decision{}, false
	}
	return object.decision, true
}

// All are the resources, in no order.
func (o *Objects) All() []Object {
	o.mu.RLock()
	defer o.mu.RUnlock()
	refs := make([]Object, 0, len(o.byRef))
	for _, kind := range o.kinds {
		refs = append(refs, kind.refs...)
	}
	return refs
}

// Reconsidered is a resource whose decision has become another.
type Reconsidered struct {
	Object   Object
	Old, New Decision
}

// Reconsider decides on resources anew, and returns those whose decision is
// another than before: the ones to reconcile. Those that are not there are left
// out. It holds no lock from one resource to the next.
func (o *Objects) Reconsider(refs []Object) []Reconsidered {
	var different []Reconsidered
	for _, ref := range refs {
		if r, changed := o.reconsider(ref); changed {
			different = append(different, r)
		}
	}
	return different
}

func (o *Objects) reconsider(ref Object) (Reconsidered, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	object := o.byRef[ref]
	if object == nil {
		return Reconsidered{}, false
	}
	old := object.decision
	d, changed := o.decide(object)
	return Reconsidered{Object: ref, Old: old, New: d}, changed
}
