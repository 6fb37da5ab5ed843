package roleselector

import (
	"container/list"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// waiting are the resources that Sessions have refused, in groups of those that would be
// the same session. A group is queued, or it has been called and has not asked yet. It
// holds one entry for each resource.
type waiting struct {
	queues map[maker]*queue
	groups map[Object]*group
}

// queue are the groups of one selector.
type queue struct {
	order   *list.List // of *group, first those that came first
	byRoles map[identity.Chain]*group
	// called is how many groups are no longer in order.
	called int
}

type group struct {
	maker     maker
	roles     identity.Chain
	resources map[Object]struct{}
	// at is its place in the order; nil once it has been called.
	at *list.Element
}

// isQueued says that a resource waits for that session already and has not been called.
func (w *waiting) isQueued(resource Object, by maker, roles identity.Chain) bool {
	g := w.groups[resource]
	return g != nil && g.maker == by && g.roles == roles && g.at != nil
}

// add puts a resource into its group, and the group at the end of the order if it has no
// place there.
func (w *waiting) add(resource Object, by maker, roles identity.Chain) {
	if w.groups == nil {
		w.queues, w.groups = map[maker]*queue{}, map[Object]*group{}
	}
	q := w.queues[by]
	if q == nil {
		q = &queue{order: list.New(), byRoles: map[identity.Chain]*group{}}
		w.queues[by] = q
	}
	g := q.byRoles[roles]
	switch {
	case g == nil:
		g = &group{maker: by, roles: roles, resources: map[Object]struct{}{}}
		q.byRoles[roles] = g
		g.at = q.order.PushBack(g)
	case g.at == nil:
		q.called--
		g.at = q.order.PushBack(g)
	}
	g.resources[resource] = struct{}{}
	w.groups[resource] = g
}

// remove lets a resource wait no longer, and returns for whom it did.
func (w *waiting) remove(resource Object) (by maker, waited bool) {
	g := w.groups[resource]
	if g == nil {
		return by, false
	}
	delete(w.groups, resource)
	delete(g.resources, resource)
	if len(g.resources) == 0 {
		w.drop(g)
	}
	return g.maker, true
}

// take returns all that wait for a session, and lets them wait no longer.
func (w *waiting) take(by maker, roles identity.Chain) (taken []Object) {
	q := w.queues[by]
	if q == nil || q.byRoles[roles] == nil {
		return nil
	}
	g := q.byRoles[roles]
	for resource := range g.resources {
		taken = append(taken, resource)
		delete(w.groups, resource)
	}
	w.drop(g)
	return taken
}

// call returns the resources of the groups that come next, as many groups as there is
// room for beside those that have been called before.
func (w *waiting) call(by maker, room int) (called []Object) {
	q := w.queues[by]
	for q != nil && q.called < room && q.order.Len() > 0 {
		g := q.order.Remove(q.order.Front()).(*group)
		g.at = nil
		q.called++
		for resource := range g.resources {
			called = append(called, resource)
		}
	}
	return called
}

// drop takes a group away.
func (w *waiting) drop(g *group) {
	q := w.queues[g.maker]
	if g.at != nil {
		q.order.Remove(g.at)
	} else {
		q.called--
	}
	if delete(q.byRoles, g.roles); len(q.byRoles) == 0 {
		delete(w.queues, g.maker)
	}
}
