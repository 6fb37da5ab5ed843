package credentials

import (
	"context"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// AWS is what the controller asks of the cloud.
type AWS struct {
	Accounts  Accounts
	Providers Providers
	Roles     Roles
}

// Accounts tells who an identity is.
type Accounts interface {
	Caller(ctx context.Context, id identity.Identity) (account, arn string, err error)
}

// Providers are IAM OIDC providers.
type Providers interface {
	Get(ctx context.Context, id identity.Identity, arn string) (cloud.Provider, error)
}

// Roles are IAM roles.
type Roles interface {
	Get(ctx context.Context, id identity.Identity, name string) (cloud.Role, error)
	All(ctx context.Context, id identity.Identity, each func(cloud.Role) error) error
	Usage(ctx context.Context, id identity.Identity) (cloud.RoleUsage, error)
	Create(ctx context.Context, id identity.Identity, want cloud.RoleWant, owner cloud.Tag) (arn string, err error)
	SetTrust(ctx context.Context, id identity.Identity, role, trust string) error
	PutPolicy(ctx context.Context, id identity.Identity, role, name, policy string) error
	RemovePolicy(ctx context.Context, id identity.Identity, role, name string) error
	Detach(ctx context.Context, id identity.Identity, role, policyARN string) error
	SetBoundary(ctx context.Context, id identity.Identity, role, policyARN string) error
	SetTags(ctx context.Context, id identity.Identity, role string, set map[string]string, remove []string) error
	SetSession(ctx context.Context, id identity.Identity, role string, longest time.Duration) error
	DeleteRole(ctx context.Context, id identity.Identity, name string, owner cloud.Tag) error
	Policy(ctx context.Context, id identity.Identity, arn string) (document string, exists bool, err error)
}

// description is what a role in AWS says of itself.
const description = "Made by Tabard for a CredentialsRequest"

// perform makes a step in AWS true.
func (a AWS) perform(ctx context.Context, id identity.Identity, step core.Step) error {
	switch s := step.(type) {
	case core.CreateRole:
		_, err := a.Roles.Create(ctx, id, cloud.RoleWant{
			Name: s.Want.Name, Path: s.Want.Path, Description: description, Trust: s.Want.Trust, Boundary: s.Want.Boundary,
			MaxSession: s.Want.MaxSession, Tags: s.Want.Tags.Map(),
		}, ownerTag(s.Want.Owner))
		return err
	case core.PutPolicy:
		return a.Roles.PutPolicy(ctx, id, s.Role, s.Name, s.Policy)
	case core.SetTrust:
		return a.Roles.SetTrust(ctx, id, s.Role, s.Trust)
	case core.SetBoundary:
		return a.Roles.SetBoundary(ctx, id, s.Role, s.Boundary)
	case core.SetTags:
		return a.Roles.SetTags(ctx, id, s.Role, s.Tags.Map(), nil)
	case core.SetSession:
		return a.Roles.SetSession(ctx, id, s.Role, s.MaxSession)
	case core.RemovePolicy:
		return a.Roles.RemovePolicy(ctx, id, s.Role, s.Name)
	case core.Detach:
		return a.Roles.Detach(ctx, id, s.Role, s.Policy)
	case core.DeleteRole:
		return a.Roles.DeleteRole(ctx, id, s.Role, ownerTag(s.Owner))
	}
	return controller.UnknownStep(step)
}

func ownerTag(owner string) cloud.Tag { return cloud.Tag{Key: core.OwnerTag, Value: owner} }

// roleOfStep is the role that a step changes; empty for none.
func roleOfStep(step core.Step) string {
	switch s := step.(type) {
	case core.CreateRole:
		return s.Want.Name
	case core.PutPolicy:
		return s.Role
	case core.SetTrust:
		return s.Role
	case core.SetBoundary:
		return s.Role
	case core.SetTags:
		return s.Role
	case core.SetSession:
		return s.Role
	case core.RemovePolicy:
		return s.Role
	case core.Detach:
		return s.Role
	case core.DeleteRole:
		return s.Role
	}
	return ""
}

// roleOf is the role in the words of the decision.
func roleOf(r cloud.Role) core.Role {
	return core.Role{
		Name: r.Name, Path: r.Path, ARN: r.ARN, Trust: r.Trust, Tags: r.Tags, Boundary: r.Boundary,
		MaxSession: r.MaxSession, Policies: r.Policies, Attached: r.Attached,
	}
}

const (
	// knownFor is how long an answer of AWS on who the controller is, or on a provider,
	// counts; unknownFor is how long a failure to get one does.
	knownFor, unknownFor = 10 * time.Minute, 5 * time.Second
)

// minter knows who the controller is in AWS. It is safe for concurrent use.
type minter struct {
	options Options

	mu           sync.Mutex
	account, arn string
	fault        *fault.Fault
	until        time.Time
}

// who is the account and the ARN, or why they are not known. However many ask, one call is
// made.
func (m *minter) who(ctx context.Context) (account, arn string, f *fault.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.options.Now(); now.After(m.until) {
		account, arn, err := m.options.AWS.Accounts.Caller(ctx, m.options.Operator)
		m.fault, m.until = controller.FaultOf(err), now.Add(unknownFor)
		if err == nil {
			m.account, m.arn, m.until = account, arn, now.Add(knownFor)
		}
	}
	return m.account, m.arn, m.fault
}
