package app

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/credentials"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// credentialsSession is a person's own session in AWS.
type credentialsSession struct {
	auth     *awsauth.Auth
	accounts *caller.Accounts
	roles    *iamrole.Roles
}

func newCredentialsSession() (cli.AWS, error) {
	auth, err := newAuth()
	if err != nil {
		return nil, err
	}
	return &credentialsSession{auth: auth, accounts: caller.New(auth), roles: iamrole.New(auth)}, nil
}

func session(region string) identity.Identity {
	return identity.Identity{Base: identity.Session}.In(region)
}

// waitingForAWS tells a person of a slow answer, or of a slow search for credentials.
func waitingForAWS() (done func()) {
	return command.Waiting(program.StandardStreams().Err, "AWS, or for credentials for it")
}

// Caller is who it is.
func (s *credentialsSession) Caller(ctx context.Context, region string) (account, arn string, err error) {
	defer waitingForAWS()()
	return s.accounts.Caller(ctx, session(region))
}

// Region is that of the session.
func (s *credentialsSession) Region() string { return s.auth.Region() }

// ReadRole reads a role of the session's account.
func (s *credentialsSession) ReadRole(ctx context.Context, region, arn string) (core.ForeignRole, error) {
	account, _, err := s.Caller(ctx, region)
	if err != nil {
		return core.ForeignRole{}, err
	}
	return credentials.ReadForeign(ctx, s.roles, session(region), arn, account)
}

// EnsurePolicy makes a managed policy as wanted.
func (s *credentialsSession) EnsurePolicy(ctx context.Context, region, arn string, policy cli.Policy) (changed bool, err error) {
	defer waitingForAWS()()
	stored, exists, err := s.roles.Policy(ctx, session(region), arn)
	if err != nil || exists && sameJSON(stored, policy.Document) {
		return false, err
	}
	_, changed, err = s.roles.EnsurePolicy(ctx, session(region), policy.Name, policy.Path, policy.Document, cloud.Tag{Key: core.MinterTag, Value: policy.Owner})
	return changed, err
}

// EnsureRole makes a role as wanted.
func (s *credentialsSession) EnsureRole(ctx context.Context, region string, role cli.Role) (changed []string, err error) {
	defer waitingForAWS()()
	_, changed, err = s.roles.Ensure(ctx, session(region), iamrole.Want{
		RoleWant: cloud.RoleWant{Name: role.Name, Trust: role.Trust, Description: role.Description},
		Owner:    cloud.Tag{Key: core.MinterTag, Value: role.Owner}, PolicyName: role.PolicyName, Policy: role.Policy,
	})
	return changed, err
}

// sameJSON says that two documents hold the same values.
func sameJSON(a, b string) bool {
	var one, other any
	return json.Unmarshal([]byte(a), &one) == nil && json.Unmarshal([]byte(b), &other) == nil && reflect.DeepEqual(one, other)
}
