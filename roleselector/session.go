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

// Admit enters which session a resource uses: the roles that are assumed for it, by
// a selector. It gives up the one that it used before. A problem says that it would
// be one session too many: then the resource uses none, and the roles must not be
// assumed. Once there is room it has to ask again.
func (s *Sessions) Admit(resource Object, used Reference, roles identity.Chain) *Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := maker{used.Name, used.UID, used.Generation}
	if held := s.using[resource]; held != nil && held.maker == by && held.roles == roles {
		return nil
	}
	s.release(resource)
	joined := s.open[by][roles]
	if joined == nil {
		if len(s.open[by]) >= s.limit {
			return &Problem{"spec.assumeRole", fmt.Sprintf(
				"the selector %s has as many sessions as it may have, %d; take variables out of its templates, or raise --%s",
				used.Name, s.limit, flagSessionLimit), ReasonTooManySessions}
		}
		joined = &session{maker: by, roles: roles}
		if s.open[by] == nil {
			s.open[by] = map[identity.Chain]*session{}
		}
		s.open[by][roles] = joined
		s.distinct++
	}
	joined.users++
	s.using[resource] = joined
	return nil
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
	defer s.mu.Unlock()
	s.release(resource)
}

func (s *Sessions) release(resource Object) {
	held := s.using[resource]
	if held == nil {
		return
	}
	delete(s.using, resource)
	if held.users--; held.users > 0 {
		return
	}
	delete(s.open[held.maker], held.roles)
	s.distinct--
	if len(s.open[held.maker]) == 0 {
		delete(s.open, held.maker)
	}
}
