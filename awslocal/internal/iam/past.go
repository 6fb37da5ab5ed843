package iam

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/consistency"
	"github.com/tabard-dev/tabard/iampolicy"
)

// past is what authorisation and STS still see of what was changed, while the
// dial of consistency delays changes. IAM itself shows the present. Values are
// copies, nil for what did not exist.
type past struct {
	roles     consistency.Past[nameKey, *role]
	users     consistency.Past[nameKey, *user]
	keys      consistency.Past[string, *keyOwner]
	providers consistency.Past[nameKey, *provider]
	// policies has the ARNs of managed policies.
	policies consistency.Past[string, *document]
}

// nameKey is an account and a folded name, or a provider's URL.
type nameKey struct{ account, name string }

// ForgetPast makes authorisation see all changes at once.
func (s *Service) ForgetPast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = past{}
}

// seen is a thing as authorisation sees it.
func seen[K comparable, V any](s *Service, p *consistency.Past[K, V], key K, present V) V {
	if p.IsEmpty() {
		return present
	}
	if old, was := p.At(key, s.options.Now()); was {
		return old
	}
	return present
}

func (s *Service) seenRole(of *account, name string) *role {
	return seen(s, &s.past.roles, nameKey{of.home.account, name}, of.roles[name])
}

func (s *Service) seenUser(of *account, name string) *user {
	return seen(s, &s.past.users, nameKey{of.home.account, name}, of.users[name])
}

// seenPolicy is the version of a policy that counts for those who hold it. One
// that was just made is seen with them.
func (s *Service) seenPolicy(held *managed) *iampolicy.Policy {
	if s.past.policies.IsEmpty() {
		return held.current().policy
	}
	if old := seen(s, &s.past.policies, held.arn(), nil); old != nil {
		return old.policy
	}
	return held.current().policy
}

// change is what a call is about to change, as it was; keep notes it.
type change func(keep *past, now, until time.Time)

// isChange tells the operations that change something by their names.
func isChange(operation string) bool {
	return !slices.ContainsFunc([]string{"Get", "List", "Simulate"}, func(verb string) bool {
		return strings.HasPrefix(operation, verb)
	})
}

// publish makes the call's changes be seen later.
func (r *request) publish() {
	if len(r.changes) == 0 {
		return
	}
	now := r.call.Now
	until := now.Add(r.options.Dial.Draw())
	for _, keep := range r.changes {
		keep(&r.past, now, until)
	}
}

// The functions below tell of a change that the call may make. They come before
// it, and cost nothing while changes are seen at once.

func (r *request) changesRole(name string, was *role) {
	if !r.delayed {
		return
	}
	key, old := nameKey{r.account.home.account, fold(name)}, was.clone()
	r.changes = append(r.changes, func(p *past, now, until time.Time) { p.roles.Keep(key, old, now, until) })
}

func (r *request) changesUser(name string, was *user) {
	if !r.delayed {
		return
	}
	key, old := nameKey{r.account.home.account, fold(name)}, was.clone()
	r.changes = append(r.changes, func(p *past, now, until time.Time) { p.users.Keep(key, old, now, until) })
}

func (r *request) changesKey(id string, was *keyOwner) {
	if !r.delayed {
		return
	}
	var old *keyOwner
	if was != nil {
		key := *was.key
		old = &keyOwner{was.user, &key}
	}
	r.changes = append(r.changes, func(p *past, now, until time.Time) { p.keys.Keep(id, old, now, until) })
}

func (r *request) changesProvider(url string, was *provider) {
	if !r.delayed {
		return
	}
	var old *provider
	if was != nil {
		one := *was
		one.clients = slices.Clone(was.clients)
		old = &one
	}
	key := nameKey{r.account.home.account, url}
	r.changes = append(r.changes, func(p *past, now, until time.Time) { p.providers.Keep(key, old, now, until) })
}

func (r *request) changesPolicy(arn string, was *managed) {
	if !r.delayed {
		return
	}
	var old *document
	if was != nil {
		text := was.current()
		old = &text
	}
	r.changes = append(r.changes, func(p *past, now, until time.Time) { p.policies.Keep(arn, old, now, until) })
}

func (r *role) clone() *role {
	if r == nil {
		return nil
	}
	old := *r
	old.holder = r.holder.clone()
	return &old
}

func (u *user) clone() *user {
	if u == nil {
		return nil
	}
	old := *u
	old.holder = u.holder.clone()
	return &old
}

// clone shares what is never changed in place: documents and lists of tags.
func (h *holder) clone() holder {
	old := *h
	old.inline, old.attached = maps.Clone(h.inline), maps.Clone(h.attached)
	return old
}
