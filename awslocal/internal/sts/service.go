// Package sts is the local AWS's Security Token Service: it turns tokens and
// callers into sessions of roles, and says who a caller is.
package sts

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	namespace = "https://sts.amazonaws.com/doc/2011-06-15/"
	version   = "2011-06-15"
)

// Directory is what STS asks IAM.
type Directory interface {
	Role(accountID, name string) (iam.Role, bool)
	Provider(accountID, url string) (iam.Provider, bool)
	ManagedPolicy(accountID, arn string) (iam.Document, bool)
	RoleUsed(accountID, name, id, region string, at time.Time)
}

// Verifier verifies a token's signature with its issuer's published keys.
type Verifier interface {
	Verify(ctx context.Context, token *oidc.Token, thumbprints []string) error
}

// Options is what the service needs.
type Options struct {
	Directory   Directory
	Verifier    Verifier
	Identifiers *identifier.Source
	// Partition is that of all accounts; default Commercial.
	Partition partition.Partition
	// Regions knows what accounts have disabled; nil: nothing.
	Regions *region.Book
	// Now judges credentials, TokenNow judges tokens.
	Now, TokenNow func() time.Time
	// Log takes the reasons that AWS does not tell its callers.
	Log *slog.Logger
}

// Service is safe for concurrent use.
type Service struct {
	options  Options
	sessions sessions
}

// New returns a service without sessions.
func New(options Options) *Service {
	if options.Partition == "" {
		options.Partition = partition.Commercial
	}
	return &Service{options: options}
}

// Reset ends all sessions.
func (s *Service) Reset() { s.sessions.replace(nil) }

var operations = map[string]func(*Service, *call.Call, query.Form) any{
	"AssumeRole":                (*Service).assumeRole,
	"AssumeRoleWithWebIdentity": (*Service).assumeRoleWithWebIdentity,
	"GetCallerIdentity":         (*Service).getCallerIdentity,
}

// ofUsersOnly are operations that AWS refuses to sessions of roles, and that are
// not here for users either.
var ofUsersOnly = []string{"GetFederationToken", "GetSessionToken"}

// Unsigned says whether an operation takes its caller's word from its
// parameters, so that a signature is neither needed nor looked at. The one with
// SAML is not here, and is refused by its name.
func Unsigned(operation string) bool {
	return operation == "AssumeRoleWithWebIdentity" || operation == "AssumeRoleWithSAML"
}

// Serve answers one call.
func (s *Service) Serve(w http.ResponseWriter, c *call.Call) {
	query.Serve(w, c, namespace, func(name string, form query.Form) (any, *call.Fault) {
		run, known := operations[name]
		switch {
		case c.Caller.Principal.Kind == iampolicy.RoleSession && slices.Contains(ofUsersOnly, name):
			return nil, notBySession(name)
		case !known:
			return nil, query.UnknownOperation(name, version)
		}
		return call.Answer(func() any { return run(s, c, form) })
	})
}

type identityResult struct {
	Arn     string
	UserId  string //nolint:revive // the name is the wire's
	Account string
}

// getCallerIdentity asks no policy, not even one that denies it.
func (s *Service) getCallerIdentity(c *call.Call, _ query.Form) any {
	return identityResult{Arn: c.Caller.Principal.ARN, UserId: c.Caller.UserID, Account: c.Caller.Principal.AccountID}
}
