package sts

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// session is one set of temporary credentials.
type session struct {
	keyID, secret, token string
	accountID, role      string
	partition            partition.Partition
	// roleID ends the session when the role is made anew under its name.
	roleID  string
	name    string
	issued  time.Time
	expires time.Time
	// policies are nil for a session that is limited by none; texts are those of
	// the policies.
	policies []*iampolicy.Policy
	texts    []string
	attributes
	// provider is the ARN of the OIDC provider that vouched, empty for others.
	provider string
}

func (s *session) arn() string {
	return s.partition.ARN("sts", "", s.accountID, "assumed-role/"+s.role+"/"+s.name)
}

func (s *session) userID() string { return s.roleID + ":" + s.name }

// sessions has their key IDs as keys. Expired ones are kept for a day, so that
// their users are told that they have expired, then they are forgotten.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
	// swept is when the old ones were last looked for, which costs a look at all.
	swept time.Time
}

const (
	remember   = 24 * time.Hour
	sweepEvery = time.Hour
)

func (s *sessions) add(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*session{}
	}
	if since := one.issued.Sub(s.swept); since > sweepEvery || since < 0 {
		s.sweep(one.issued)
	}
	s.all[one.keyID] = one
}

func (s *sessions) sweep(now time.Time) {
	s.swept = now
	for id, old := range s.all {
		if old.expires.Add(remember).Before(now) {
			delete(s.all, id)
		}
	}
}

func (s *sessions) get(keyID string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[keyID]
}

// list has all sessions, which are never changed, in no order.
func (s *sessions) list() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.all))
}

func (s *sessions) replace(all map[string]*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.swept = all, time.Time{}
}

// Lookup finds a temporary access key. The key of a session whose role is gone
// is not found.
func (s *Service) Lookup(keyID string) (call.Credential, bool) {
	one := s.sessions.get(keyID)
	if one == nil {
		return call.Credential{}, false
	}
	return s.credential(one)
}

// credential is what a session proves; nothing where its role is gone.
func (s *Service) credential(one *session) (call.Credential, bool) {
	role, known := s.options.Directory.Role(one.accountID, one.role)
	if !known || role.ID != one.roleID {
		return call.Credential{}, false
	}
	credential := call.Credential{
		Secret: one.secret, Token: one.token, Expires: one.expires,
		Caller: call.Caller{
			Principal: iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: one.arn(), RoleARN: role.ARN, AccountID: one.accountID},
			UserID:    one.userID(),
		},
		Context:  one.context(role),
		Policies: iampolicy.Policies{Identity: role.Identity, Boundary: role.Boundary, Session: one.policies},
		Names:    role.Names,
		Used: func(_, region string, at time.Time) {
			s.options.Directory.RoleUsed(one.accountID, one.role, one.roleID, region, at)
		},
	}
	return credential, true
}

// attributesOf are those of the session that signed a call, none for other
// callers.
func (s *Service) attributesOf(c *call.Call) attributes {
	if one := s.sessions.get(c.Entry.AccessKeyID); one != nil {
		return one.attributes
	}
	return attributes{}
}

// context has the session's condition keys. Its own tags win over the role's.
func (s *session) context(role iam.Role) iampolicy.Context {
	context := iampolicy.Context{}
	context.Set("aws:PrincipalType", "AssumedRole")
	context.Set("aws:TokenIssueTime", query.Time(s.issued))
	context.Set("aws:MultiFactorAuthPresent", "false")
	if s.provider != "" {
		context.Set("aws:FederatedProvider", s.provider)
	}
	if s.source != "" {
		context.Set("aws:SourceIdentity", s.source)
	}
	for _, tag := range slices.Concat(role.Tags, s.tags) {
		context.Set("aws:PrincipalTag/"+tag.Key, tag.Value)
	}
	return context
}

type credentialsElement struct {
	AccessKeyId     string //nolint:revive // the name is the wire's
	SecretAccessKey string
	SessionToken    string
	Expiration      string
}

type assumedRole struct {
	AssumedRoleId string //nolint:revive // the name is the wire's
	Arn           string
}

type assumeRoleResult struct {
	Credentials                 credentialsElement
	SubjectFromWebIdentityToken string `xml:",omitempty"`
	AssumedRoleUser             assumedRole
	PackedPolicySize            string `xml:",omitempty"`
	Provider                    string `xml:",omitempty"`
	Audience                    string `xml:",omitempty"`
	SourceIdentity              string `xml:",omitempty"`
}

// newSession makes a session of a role. Its key opens nothing until it is added.
func (s *Service) newSession(role iam.Role, want wanted, provider string) *session {
	now := s.options.Now()
	made := &session{
		keyID: s.options.Identifiers.Unique(identifier.TemporaryKey), secret: s.options.Identifiers.Secret(), token: s.options.Identifiers.Token(),
		accountID: role.AccountID, partition: s.options.Partition, role: role.Name, roleID: role.ID, name: want.session,
		issued: now, expires: now.Add(want.duration).Truncate(time.Second), attributes: want.carried, provider: provider,
	}
	made.limit(want.documents)
	return made
}

// limit gives a session its session policies.
func (s *session) limit(documents []iam.Document) {
	for _, one := range documents {
		s.policies, s.texts = append(s.policies, one.Policy), append(s.texts, one.Text)
	}
}

// grant makes a session of a role and writes down what its holder gets.
func (s *Service) grant(role iam.Role, want wanted, provider string) assumeRoleResult {
	one := s.newSession(role, want, provider)
	s.sessions.add(one)
	result := assumeRoleResult{
		Credentials:     credentialsElement{one.keyID, one.secret, one.token, query.Time(one.expires)},
		AssumedRoleUser: assumedRole{one.userID(), one.arn()},
		SourceIdentity:  one.source,
	}
	if want.packed > 0 {
		result.PackedPolicySize = strconv.Itoa(want.packed)
	}
	return result
}
