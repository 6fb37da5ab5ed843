package sts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

// Snapshot is all that the service keeps, as plain data in a fixed order. It
// holds the secrets of sessions.
type Snapshot struct {
	Sessions []SessionSnapshot `json:"sessions,omitempty"`
}

// SessionSnapshot is a session of a role. The role may be gone, and another may
// have come under its name: RoleID tells.
type SessionSnapshot struct {
	AccessKeyID     string    `json:"accessKeyID"`
	SecretAccessKey string    `json:"secretAccessKey"`
	SessionToken    string    `json:"sessionToken"`
	Account         string    `json:"account"`
	Role            string    `json:"role"`
	RoleID          string    `json:"roleID"`
	Name            string    `json:"name"`
	Issued          time.Time `json:"issued"`
	Expires         time.Time `json:"expires"`
	// Policies are the texts of the session policies.
	Policies   []string    `json:"sessionPolicies,omitempty"`
	Tags       []query.Tag `json:"tags,omitempty"`
	Transitive []string    `json:"transitiveTagKeys,omitempty"`
	Source     string      `json:"sourceIdentity,omitempty"`
	// Provider is the ARN of the OIDC provider that vouched.
	Provider string `json:"provider,omitempty"`
}

// Snapshot has the sessions, ordered by their keys.
func (s *Service) Snapshot() Snapshot {
	var out Snapshot
	for _, one := range s.sessions.list() {
		out.Sessions = append(out.Sessions, SessionSnapshot{
			AccessKeyID: one.keyID, SecretAccessKey: one.secret, SessionToken: one.token,
			Account: one.accountID, Role: one.role, RoleID: one.roleID, Name: one.name,
			Issued: one.issued, Expires: one.expires, Policies: one.texts,
			Tags: one.tags, Transitive: one.transitive, Source: one.source, Provider: one.provider,
		})
	}
	slices.SortFunc(out.Sessions, func(a, b SessionSnapshot) int { return cmp.Compare(a.AccessKeyID, b.AccessKeyID) })
	return out
}

// Restore checks a snapshot and returns the function that replaces all sessions
// with it.
func (s *Service) Restore(from Snapshot, accounts []string) (replace func(), err error) {
	all := map[string]*session{}
	for _, one := range from.Sessions {
		switch {
		case one.AccessKeyID == "" || one.SecretAccessKey == "" || one.SessionToken == "" || one.RoleID == "":
			return nil, fmt.Errorf("the session %q lacks its secret, its token or the ID of its role", one.AccessKeyID)
		case all[one.AccessKeyID] != nil:
			return nil, fmt.Errorf("the session %s is there twice", one.AccessKeyID)
		case !slices.Contains(accounts, one.Account):
			return nil, fmt.Errorf("the session %s is one of account %q, which does not exist", one.AccessKeyID, one.Account)
		}
		made := &session{
			keyID: one.AccessKeyID, secret: one.SecretAccessKey, token: one.SessionToken,
			accountID: one.Account, partition: s.options.Partition, role: one.Role, roleID: one.RoleID, name: one.Name,
			issued: one.Issued, expires: one.Expires, provider: one.Provider,
			attributes: attributes{tags: one.Tags, transitive: one.Transitive, source: one.Source},
		}
		documents, err := parseAll(one.Policies)
		if err != nil {
			return nil, fmt.Errorf("a policy of the session %s: %w", one.AccessKeyID, err)
		}
		made.limit(documents)
		all[made.keyID] = made
	}
	return func() { s.sessions.replace(all) }, nil
}

func parseAll(texts []string) ([]iam.Document, error) {
	var out []iam.Document
	for _, text := range texts {
		one, err := parse(text)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}
