package roleselector

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// DefaultSessionLimit is how many distinct sessions one selector may have unless
// somebody says otherwise.
const DefaultSessionLimit = 1000

// Sessions keeps, for STS's sake, the number of distinct sessions of each selector
// within a limit: a template with a variable of the namespace or of the resource
// makes as many as there are of those, and people of the cluster make those. A
// session is counted from the first resource that is admitted with it to the last
// that is released; the same role with the same input is one session, whoever
// uses it. It holds one entry for each resource, and is safe for concurrent use.
type Sessions struct {
	limit int

	mu    sync.Mutex
	using map[Object]*session
	// open are the sessions by what makes them.
	open map[maker]map[identity.Chain]*session
	// distinct is how many of them there are.
	distinct int
	// waits are the resources that were refused, and wake is what OnRoom said; nil for nothing.
	waits waiting
	wake  func(Object)
}

// maker is a selector as it is said now. A change of it makes all its sessions
// anew, and the old ones are not held against those.
type maker struct {
	name       string
	uid        types.UID
	generation int64
}

type session struct {
	maker maker
	roles identity.Chain
	users int
}

// NewSessions counts none yet. A limit of 0 is DefaultSessionLimit.
func NewSessions(limit int) *Sessions {
	if limit == 0 {
		limit = DefaultSessionLimit
	}
	return &Sessions{limit: limit, using: map[Object]*session{}, open: map[maker]map[identity.Chain]*session{}}
}

// OnRoom says how a resource is woken that Admit has refused, once its selector has
// room for it: it is to be decided on again, and to ask Admit again. Sessions are given
// room in the order in which they were first asked for, and a resource may be woken in
// vain, since others ask meanwhile; then it is woken again later. It is called with no
// lock held, and may not wait. Call OnRoom before the first Admit.
func (s *Sessions) OnRoom(wake func(Object)) { s.wake = wake }

// Admit enters which session a resource uses: the roles that are assumed for it, by
// a selector. It gives up the one that it used before. A problem says that it would
// be one session too many: then the resource uses none, and the roles must not be
// assumed. Once there is room it has to ask again, and OnRoom says when.
func (s *Sessions) Admit(resource Object, used Reference, roles identity.Chain) *Problem {
	problem, woken := s.admit(resource, maker{used.Name, used.UID, used.Generation}, roles)
	s.wakeAll(woken)
	return problem
}

func (s *Sessions) admit(resource Object, by maker, roles identity.Chain) (problem *Problem, woken []Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.using[resource]; held != nil && held.maker == by && held.roles == roles {
		return nil, nil
	}
	if s.open[by][roles] == nil && s.isFull(by) && s.waits.isQueued(resource, by, roles) {
		return s.tooMany(by), nil // it keeps its place
	}
	left := s.leave(resource)
	joined := s.open[by][roles]
	switch {
	case joined == nil && s.isFull(by):
		s.waits.add(resource, by, roles)
		return s.tooMany(by), s.call(left...)
	case joined == nil:
		joined = s.begin(by, roles)
		woken = s.waits.take(by, roles)
	}
	joined.users++
	s.using[resource] = joined
	return nil, append(woken, s.call(append(left, by)...)...)
}

// begin counts one more session.
func (s *Sessions) begin(by maker, roles identity.Chain) *session {
	one := &session{maker: by, roles: roles}
	if s.open[by] == nil {
		s.open[by] = map[identity.Chain]*session{}
	}
	s.open[by][roles] = one
	s.distinct++
	return one
}

func (s *Sessions) isFull(by maker) bool { return len(s.open[by]) >= s.limit }

func (s *Sessions) tooMany(by maker) *Problem {
	return &Problem{"spec.assumeRole", fmt.Sprintf(
		"the selector %s has as many sessions as it may have, %d; take variables out of its templates, or raise --%s",
		by.name, s.limit, flagSessionLimit), ReasonTooManySessions}
}

// Open is how many distinct sessions there are, of all selectors: as many are worth
// keeping.
func (s *Sessions) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.distinct
}

// Release enters that a resource uses no selector's session any more, or is gone.
func (s *Sessions) Release(resource Object) {
	s.mu.Lock()
	woken := s.call(s.leave(resource)...)
	s.mu.Unlock()
	s.wakeAll(woken)
}

// leave makes a resource use nothing and wait for nothing. It returns the selectors that
// may have room for others by that.
func (s *Sessions) leave(resource Object) (left []maker) {
	if by, waited := s.waits.remove(resource); waited {
		left = append(left, by)
	}
	held := s.using[resource]
	if held == nil {
		return left
	}
	delete(s.using, resource)
	if held.users--; held.users > 0 {
		return left
	}
	delete(s.open[held.maker], held.roles)
	s.distinct--
	if len(s.open[held.maker]) == 0 {
		delete(s.open, held.maker)
	}
	return append(left, held.maker)
}

// call returns the resources whose turn it is, at selectors that may have room.
func (s *Sessions) call(at ...maker) (woken []Object) {
	for _, by := range at {
		woken = append(woken, s.waits.call(by, s.limit-len(s.open[by]))...)
	}
	return woken
}

func (s *Sessions) wakeAll(woken []Object) {
	if s.wake == nil {
		return
	}
	for _, one := range woken {
		s.wake(one)
	}
}
