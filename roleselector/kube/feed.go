package kube

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// feed enters what is read of one resource. Its follower alone writes it.
type feed interface {
	set(object client.Object) roleselector.Change
	remove(object client.Object) roleselector.Change
	// replace enters all that there is, in place of all that was.
	replace(objects []client.Object)
	// isEmpty says that nothing is entered.
	isEmpty() bool
}

type selectorFeed struct{ index *roleselector.Index }

func (f selectorFeed) set(object client.Object) roleselector.Change {
	return f.index.Set(roleselector.Compile(object.(*v1alpha1.IAMRoleSelector)))
}

func (f selectorFeed) remove(object client.Object) roleselector.Change {
	return f.index.Delete(object.GetName())
}

func (f selectorFeed) replace(objects []client.Object) {
	selectors := make([]*roleselector.Selector, len(objects))
	for i, object := range objects {
		selectors[i] = roleselector.Compile(object.(*v1alpha1.IAMRoleSelector))
	}
	f.index.Replace(selectors)
}

func (f selectorFeed) isEmpty() bool { return len(f.index.All()) == 0 }

type choiceFeed struct{ index *roleselector.Index }

func (f choiceFeed) set(object client.Object) roleselector.Change {
	return f.index.SetChoice(roleselector.CompileChoice(object.(*identityv1alpha1.IAMRoleChoice)))
}

func (f choiceFeed) remove(object client.Object) roleselector.Change {
	return f.index.DeleteChoice(object.GetNamespace(), object.GetName())
}

func (f choiceFeed) replace(objects []client.Object) {
	choices := make([]*roleselector.Choice, len(objects))
	for i, object := range objects {
		choices[i] = roleselector.CompileChoice(object.(*identityv1alpha1.IAMRoleChoice))
	}
	f.index.ReplaceChoices(choices)
}

func (f choiceFeed) isEmpty() bool { return len(f.index.AllChoices()) == 0 }

// namespaceFeed also keeps what a Subject tells of namespaces.
type namespaceFeed struct {
	objects *roleselector.Objects

	mu    sync.RWMutex
	known map[string]namespace
}

// namespace is what is known of one; its labels are never changed.
type namespace struct {
	uid    string
	labels map[string]string
}

func newNamespaceFeed(objects *roleselector.Objects) *namespaceFeed {
	return &namespaceFeed{objects: objects, known: map[string]namespace{}}
}

func (f *namespaceFeed) set(object client.Object) roleselector.Change {
	f.mu.Lock()
	f.known[object.GetName()] = namespace{uid: string(object.GetUID()), labels: object.GetLabels()}
	f.mu.Unlock()
	return f.objects.PutNamespace(object.GetName(), object.GetLabels())
}

func (f *namespaceFeed) remove(object client.Object) roleselector.Change {
	return f.drop(object.GetName())
}

func (f *namespaceFeed) drop(name string) roleselector.Change {
	f.mu.Lock()
	delete(f.known, name)
	f.mu.Unlock()
	return f.objects.DeleteNamespace(name)
}

// replace enters one namespace after the other: a decision asks about one only, so
// that none is made by half of what was read.
func (f *namespaceFeed) replace(objects []client.Object) {
	there := map[string]bool{}
	for _, object := range objects {
		there[object.GetName()] = true
		f.set(object)
	}
	for name := range f.known { // only this goroutine writes it
		if !there[name] {
			f.drop(name)
		}
	}
}

func (f *namespaceFeed) isEmpty() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.known) == 0
}

func (f *namespaceFeed) get(name string) (uid string, labels map[string]string) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.known[name].uid, f.known[name].labels
}
