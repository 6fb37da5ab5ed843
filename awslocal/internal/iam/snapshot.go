package iam

import (
	"maps"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/awslocal/internal/snapshot"
)

// Snapshot is all that the service keeps, as plain data in a fixed order. It
// holds the secrets of access keys. Policies are in it as their texts.
type Snapshot struct {
	// AWSPolicyIDs has the unique IDs of AWS's own policies by their names.
	AWSPolicyIDs map[string]string `json:"awsPolicyIDs,omitempty"`
	Accounts     []AccountSnapshot `json:"accounts"`
}

// AccountSnapshot is an account.
type AccountSnapshot struct {
	ID string `json:"id"`
	// Administrator is the key that the administrator had when the account was
	// made, and has again after a reset.
	Administrator Key                `json:"administrator"`
	Policies      []ManagedSnapshot  `json:"policies,omitempty"`
	Roles         []RoleSnapshot     `json:"roles,omitempty"`
	Users         []UserSnapshot     `json:"users,omitempty"`
	Providers     []ProviderSnapshot `json:"oidcProviders,omitempty"`
}

// HolderSnapshot is what roles and users have in common.
type HolderSnapshot struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"`
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	// Inline has the texts of inline policies by their names.
	Inline map[string]string `json:"inlinePolicies,omitempty"`
	// Attached and Boundary are ARNs of managed policies.
	Attached []string    `json:"attachedPolicies,omitempty"`
	Boundary string      `json:"permissionsBoundary,omitempty"`
	Tags     []query.Tag `json:"tags,omitempty"`
}

// RoleSnapshot is a role.
type RoleSnapshot struct {
	HolderSnapshot
	Description string `json:"description,omitempty"`
	MaxSession  int    `json:"maxSessionSeconds"`
	Trust       string `json:"trustPolicy"`
	// Trusted has the unique ID of each user and role that the trust policy
	// names, as of when it was written.
	Trusted  map[string]string `json:"trustedIDs,omitempty"`
	LastUsed time.Time         `json:"lastUsed,omitzero"`
	Region   snapshot.Text     `json:"lastUsedRegion,omitempty"`
}

// UserSnapshot is a user.
type UserSnapshot struct {
	HolderSnapshot
	Keys []KeySnapshot `json:"accessKeys,omitempty"`
}

// KeySnapshot is a user's access key.
type KeySnapshot struct {
	Key
	Inactive bool          `json:"inactive,omitempty"`
	Created  time.Time     `json:"created"`
	LastUsed time.Time     `json:"lastUsed,omitzero"`
	Service  string        `json:"lastUsedService,omitempty"`
	Region   snapshot.Text `json:"lastUsedRegion,omitempty"`
}

// ManagedSnapshot is a managed policy.
type ManagedSnapshot struct {
	Name        string        `json:"name"`
	Path        string        `json:"path"`
	ID          string        `json:"id"`
	Description snapshot.Text `json:"description,omitempty"`
	Created     time.Time     `json:"created"`
	Updated     time.Time     `json:"updated"`
	// Default is the number of the version that counts, Last the highest number
	// that was given.
	Default  int               `json:"defaultVersion"`
	Last     int               `json:"lastVersion"`
	Versions []VersionSnapshot `json:"versions"`
	Tags     []query.Tag       `json:"tags,omitempty"`
}

// VersionSnapshot is one version of a managed policy.
type VersionSnapshot struct {
	Number  int       `json:"number"`
	Created time.Time `json:"created"`
	Text    string    `json:"document"`
}

// ProviderSnapshot is an OIDC provider.
type ProviderSnapshot struct {
	// URL has no scheme.
	URL         snapshot.Text   `json:"url"`
	Created     time.Time       `json:"created"`
	Clients     []snapshot.Text `json:"clientIDs,omitempty"`
	Thumbprints []string        `json:"thumbprints,omitempty"`
	Tags        []query.Tag     `json:"tags,omitempty"`
}

// Snapshot is the service's present: changes that authorisation does not see yet
// are in it.
func (s *Service) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Snapshot{AWSPolicyIDs: map[string]string{}}
	for _, one := range s.catalog {
		out.AWSPolicyIDs[one.name] = one.id
	}
	for _, id := range slices.Sorted(maps.Keys(s.accounts)) {
		out.Accounts = append(out.Accounts, s.accounts[id].snapshot(s.options.Administrators[id]))
	}
	return out
}

func (a *account) snapshot(administrator Key) AccountSnapshot {
	return AccountSnapshot{
		ID: a.account, Administrator: administrator,
		Policies:  inOrder(a.policies, (*managed).snapshot),
		Roles:     inOrder(a.roles, (*role).snapshot),
		Users:     inOrder(a.users, (*user).snapshot),
		Providers: inOrder(a.providers, (*provider).snapshot),
	}
}

// inOrder converts what a map has, sorted by its keys.
func inOrder[T, S any](all map[string]T, convert func(T) S) []S {
	out := make([]S, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, convert(all[key]))
	}
	return out
}

func (h *holder) snapshot() HolderSnapshot {
	out := HolderSnapshot{
		Name: h.name, Path: h.path, ID: h.id, Created: h.created, Tags: slices.Clone(h.tags),
		Inline: make(map[string]string, len(h.inline)), Attached: slices.Sorted(maps.Keys(h.attached)),
	}
	for name, policy := range h.inline {
		out.Inline[name] = policy.text
	}
	if h.boundary != nil {
		out.Boundary = h.boundary.arn()
	}
	return out
}

func (r *role) snapshot() RoleSnapshot {
	return RoleSnapshot{
		HolderSnapshot: r.holder.snapshot(), Description: r.description, MaxSession: r.maxSession,
		Trust: r.trust.text, Trusted: maps.Clone(r.trust.bound), LastUsed: r.used, Region: snapshot.Text(r.region),
	}
}

func (u *user) snapshot() UserSnapshot {
	out := UserSnapshot{HolderSnapshot: u.holder.snapshot()}
	for _, key := range u.keys {
		out.Keys = append(out.Keys, KeySnapshot{
			Key: key.Key, Inactive: key.inactive, Created: key.created, LastUsed: key.used, Service: key.service, Region: snapshot.Text(key.region),
		})
	}
	return out
}

func (m *managed) snapshot() ManagedSnapshot {
	out := ManagedSnapshot{
		Name: m.name, Path: m.path, ID: m.id, Description: snapshot.Text(m.description), Created: m.created, Updated: m.updated,
		Default: m.standard, Last: m.last, Tags: slices.Clone(m.tags),
	}
	for _, one := range m.versions {
		out.Versions = append(out.Versions, VersionSnapshot{one.number, one.created, one.text})
	}
	return out
}

func (p *provider) snapshot() ProviderSnapshot {
	return ProviderSnapshot{
		URL: snapshot.Text(p.url), Created: p.created, Clients: texts[snapshot.Text](p.clients),
		Thumbprints: slices.Clone(p.thumbprints), Tags: slices.Clone(p.tags),
	}
}

// texts converts a list of one kind of string to another.
func texts[To, From ~string](all []From) []To {
	var out []To
	for _, one := range all {
		out = append(out, To(one))
	}
	return out
}
