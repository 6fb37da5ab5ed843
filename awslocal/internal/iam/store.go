package iam

import (
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// home is the account, or "aws" for what is AWS's own, that has an entity.
type home struct {
	partition partition.Partition
	account   string
}

// entity is the ARN of a user, role or the like.
func (h home) entity(resource string) string { return h.partition.ARN("iam", "", h.account, resource) }

// account is one account's entities.
type account struct {
	home
	// roles, users and policies have folded names as keys.
	roles    map[string]*role
	users    map[string]*user
	policies map[string]*managed
	// providers have their URL without scheme as keys.
	providers map[string]*provider
}

type role struct {
	holder
	description string
	maxSession  int
	trust       trust
	// used and region tell of the last request that a session signed; used is
	// zero where none did.
	used   time.Time
	region string
}

type user struct {
	holder
	// keys are in the order in which they were made.
	keys []*accessKey
}

type accessKey struct {
	Key
	inactive bool
	created  time.Time
	// used, service and region tell of the last request that it signed; used
	// is zero for a key that signed none.
	used            time.Time
	service, region string
}

type provider struct {
	home
	url         string
	created     time.Time
	clients     []string
	thumbprints []string
	tags        tags
}

// providerPrefix is before a provider's URL in its ARN.
const providerPrefix = "oidc-provider/"

func (p *provider) arn() string { return p.entity(providerPrefix + p.url) }

const administratorPolicy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`

// newAccount makes an account with its administrator. The key is known to the
// service from then on.
func (s *Service) newAccount(id string, key Key) *account {
	home, now := home{s.options.Partition, id}, s.options.Now()
	administrator := &user{
		holder: newHolder(home, userKind, "administrator", "/", s.options.Identifiers.Unique(identifier.User), now),
		keys:   []*accessKey{{Key: key, created: now}},
	}
	administrator.inline["administrator"] = constantPolicy(administratorPolicy)
	s.keys[key.ID] = keyOwner{administrator, administrator.keys[0]}
	return &account{
		home:      home,
		roles:     map[string]*role{},
		users:     map[string]*user{administrator.name: administrator},
		policies:  map[string]*managed{},
		providers: map[string]*provider{},
	}
}

// constantPolicy parses a policy that stands in this code.
func constantPolicy(text string) document {
	policy, fault := parseIdentity(text)
	if fault != nil {
		panic("awslocal: a policy that is a constant does not parse: " + fault.Error())
	}
	return policy
}
