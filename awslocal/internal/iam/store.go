package iam

import (
	"maps"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// account is one account's entities.
type account struct {
	id string
	// roles and users have folded names as keys.
	roles map[string]*role
	users map[string]*user
	// providers have their URL without scheme as keys.
	providers map[string]*provider
}

type role struct {
	account, name, path, id, description string
	created                              time.Time
	maxSession                           int
	trust                                trust
	// inline has the policies' names as keys.
	inline map[string]document
	tags   tags
}

func (r *role) arn() string { return "arn:aws:iam::" + r.account + ":role" + r.path + r.name }

type user struct {
	account, name, path, id string
	created                 time.Time
	key                     Key
	inline                  map[string]document
}

func (u *user) arn() string { return "arn:aws:iam::" + u.account + ":user" + u.path + u.name }

type provider struct {
	account, url string
	created      time.Time
	clients      []string
	thumbprints  []string
	tags         tags
}

func (p *provider) arn() string { return providerARN(p.account, p.url) }

func providerARN(account, url string) string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + url
}

const administratorPolicy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`

func (s *Service) newAccount(id string, key Key) *account {
	policy, fault := parseIdentity(administratorPolicy)
	if fault != nil {
		panic("awslocal: the administrator's policy, which is a constant, does not parse: " + fault.Error())
	}
	administrator := &user{
		account: id, name: "administrator", path: "/", id: s.options.Identifiers.Unique(identifier.User),
		created: s.options.Now(), key: key, inline: map[string]document{"administrator": policy},
	}
	return &account{
		id:        id,
		roles:     map[string]*role{},
		users:     map[string]*user{administrator.name: administrator},
		providers: map[string]*provider{},
	}
}

// Role is a copy of what STS needs to know of a role.
type Role struct {
	AccountID, Name, ID, ARN string
	MaxSession               time.Duration
	Trust                    *iampolicy.Policy
	Identity                 []*iampolicy.Policy
	Tags                     []query.Tag
}

// Role finds a role by account and name. The name's case does not matter.
func (s *Service) Role(accountID, name string) (Role, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account, known := s.accounts[accountID]
	if !known {
		return Role{}, false
	}
	found, known := account.roles[fold(name)]
	if !known {
		return Role{}, false
	}
	return Role{
		AccountID: accountID, Name: found.name, ID: found.id, ARN: found.arn(),
		MaxSession: time.Duration(found.maxSession) * time.Second,
		Trust:      found.trust.effective(s.uniqueID).policy,
		Identity:   policies(found.inline),
		Tags:       slices.Clone(found.tags),
	}, true
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
	found, known := account.providers[url]
	if !known {
		return Provider{}, false
	}
	return Provider{ARN: found.arn(), Clients: slices.Clone(found.clients), Thumbprints: slices.Clone(found.thumbprints)}, true
}

// Lookup finds a long-lived access key.
func (s *Service) Lookup(keyID string) (call.Credential, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, account := range s.accounts {
		for _, u := range account.users {
			if u.key.ID == keyID {
				return u.credential(), true
			}
		}
	}
	return call.Credential{}, false
}

func (u *user) credential() call.Credential {
	context := iampolicy.Context{}
	context.Set("aws:PrincipalType", "User")
	context.Set("aws:username", u.name)
	return call.Credential{
		Secret: u.key.Secret,
		Caller: call.Caller{
			Principal: iampolicy.Principal{Kind: iampolicy.User, ARN: u.arn(), AccountID: u.account},
			UserID:    u.id,
		},
		Context:  context,
		Policies: iampolicy.Policies{Identity: policies(u.inline)},
	}
}

func policies(inline map[string]document) []*iampolicy.Policy {
	list := make([]*iampolicy.Policy, 0, len(inline))
	for _, name := range slices.Sorted(maps.Keys(inline)) {
		list = append(list, inline[name].policy)
	}
	return list
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
