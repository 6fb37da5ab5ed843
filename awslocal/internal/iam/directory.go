package iam

import (
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Role is a copy of what STS needs to know of a role.
type Role struct {
	AccountID, Name, ID, ARN string
	MaxSession               time.Duration
	Trust                    *iampolicy.Policy
	// Identity are its inline and attached policies.
	Identity []*iampolicy.Policy
	// Boundary is nil for a role without permissions boundary.
	Boundary *iampolicy.Policy
	// Names are those of Identity and Boundary.
	Names call.PolicyNames
	Tags  []query.Tag
}

// Role finds a role by account and name. The name's case does not matter.
func (s *Service) Role(accountID, name string) (Role, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account, known := s.accounts[accountID]
	if !known {
		return Role{}, false
	}
	found := s.seenRole(account, fold(name))
	if found == nil {
		return Role{}, false
	}
	return Role{
		AccountID: accountID, Name: found.name, ID: found.id, ARN: found.arn(),
		MaxSession: time.Duration(found.maxSession) * time.Second,
		Trust:      found.trust.effective(s.seenID, s.newARN).policy,
		Identity:   found.policies(s.seenPolicy),
		Boundary:   found.limit(s.seenPolicy),
		Names:      found.names(),
		Tags:       found.tags,
	}, true
}

// RoleUsed notes that a session of a role has signed a request.
func (s *Service) RoleUsed(accountID, name, id, region string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if account, known := s.accounts[accountID]; known {
		if found := account.roles[fold(name)]; found != nil && found.id == id {
			found.used, found.region = at, region
		}
	}
}

// Provider is a copy of what STS needs to know of an OIDC provider.
type Provider struct {
	ARN         string
	Clients     []string
	Thumbprints []string
}

// Provider finds an OIDC provider by its URL without scheme, compared byte for
// byte.
func (s *Service) Provider(accountID, url string) (Provider, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account, known := s.accounts[accountID]
	if !known {
		return Provider{}, false
	}
	found := seen(s, &s.past.providers, nameKey{accountID, url}, account.providers[url])
	if found == nil {
		return Provider{}, false
	}
	return Provider{ARN: found.arn(), Clients: slices.Clone(found.clients), Thumbprints: slices.Clone(found.thumbprints)}, true
}

// Document is a policy as it was written and as it is evaluated.
type Document struct {
	Text   string
	Policy *iampolicy.Policy
}

// ManagedPolicy finds the default version of a managed policy that is an
// account's own or AWS's.
func (s *Service) ManagedPolicy(accountID, arn string) (Document, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account, known := s.accounts[accountID]
	if !known {
		return Document{}, false
	}
	var present *document
	if found := s.policy(account, arn); found != nil {
		text := found.current()
		present = &text
	}
	found := seen(s, &s.past.policies, arn, present)
	if found == nil {
		return Document{}, false
	}
	return Document{found.text, found.policy}, true
}

// keyOwner is an access key and whose it is.
type keyOwner struct {
	user *user
	key  *accessKey
}

// Lookup finds a long-lived access key. One that is inactive is not found: AWS
// answers the same to both.
func (s *Service) Lookup(keyID string) (call.Credential, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var present *keyOwner
	if owner, known := s.keys[keyID]; known {
		present = &owner
	}
	owner := seen(s, &s.past.keys, keyID, present)
	if owner == nil || owner.key.inactive {
		return call.Credential{}, false
	}
	holder := s.seenUser(s.accounts[owner.user.account], fold(owner.user.name))
	if holder == nil || holder.id != owner.user.id {
		return call.Credential{}, false
	}
	credential := s.credential(holder, owner.key.Secret)
	credential.Used = func(service, region string, at time.Time) { s.used(keyID, service, region, at) }
	return credential, true
}

func (s *Service) used(keyID, service, region string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner, known := s.keys[keyID]; known {
		owner.key.used, owner.key.service, owner.key.region = at, service, region
	}
}

func (s *Service) credential(u *user, secret string) call.Credential {
	context := iampolicy.Context{}
	context.Set("aws:PrincipalType", "User")
	context.Set("aws:username", u.name)
	for _, tag := range u.tags {
		context.Set("aws:PrincipalTag/"+tag.Key, tag.Value)
	}
	return call.Credential{
		Secret: secret,
		Caller: call.Caller{
			Principal: iampolicy.Principal{Kind: iampolicy.User, ARN: u.arn(), AccountID: u.account},
			UserID:    u.id,
		},
		Context:  context,
		Policies: iampolicy.Policies{Identity: u.policies(s.seenPolicy), Boundary: u.limit(s.seenPolicy)},
		Names:    u.names(),
	}
}

// PrincipalExists says whether a user, role, or account of that ARN may stand in
// a policy. The kind is the principal's key in the policy: AWS, Federated or
// Service; only AWS principals are looked up.
func (s *Service) PrincipalExists(kind, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.resolve(kind, name)
	return ok
}

// UniqueID finds the ID, such as AROA…, of the user or role that has an ARN now;
// empty for none. It tells who came later under the same name.
func (s *Service) UniqueID(arn string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uniqueID(arn)
}
