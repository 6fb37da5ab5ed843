package kube

import (
	"maps"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/roleselector"
)

// mostTurns is how many changes of its own a namespace may make at once; each
// tick gives one back. So who changes labels or choices in a loop wakes its
// resources twelve times a minute, and each time with all that has changed.
const (
	mostTurns = 10
	tick      = 5 * time.Second
)

// turns are what namespaces have left of their changes, and the resources whose
// turn is yet to come. It is no concern of decisions: those are always by what is
// known.
type turns struct {
	used map[string]int
	late map[string]map[roleselector.Object]struct{}
}

func newTurns() *turns {
	return &turns{used: map[string]int{}, late: map[string]map[roleselector.Object]struct{}{}}
}

// take uses a turn of a namespace; if there is none left the resources are kept
// for later. What is of no namespace needs no turn.
func (t *turns) take(namespace string, refs []roleselector.Object) bool {
	if namespace == "" {
		return true
	}
	if t.used[namespace] < mostTurns {
		t.used[namespace]++
		return true
	}
	if t.late[namespace] == nil {
		t.late[namespace] = map[roleselector.Object]struct{}{}
	}
	for _, ref := range refs {
		t.late[namespace][ref] = struct{}{}
	}
	return false
}

// refill gives each namespace a turn back, and returns what was kept for it.
func (t *turns) refill() [][]roleselector.Object {
	var due [][]roleselector.Object
	for namespace := range t.used {
		if late := t.late[namespace]; len(late) > 0 {
			due = append(due, slices.Collect(maps.Keys(late)))
			delete(t.late, namespace)
			continue // the turn is used by it
		}
		if t.used[namespace]--; t.used[namespace] == 0 {
			delete(t.used, namespace)
		}
	}
	return due
}
