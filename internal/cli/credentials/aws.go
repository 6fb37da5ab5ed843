package credentials

import (
	"context"

	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// AWS is a person's own session.
type AWS interface {
	// Caller is who it is.
	Caller(ctx context.Context, region string) (account, arn string, err error)
	// Region is that of the session, empty for none.
	Region() string
	// EnsurePolicy makes a managed policy or gives it a new default version, and says
	// whether it changed anything. One that says the same already is left alone, whoever
	// made it; another one that is not the owner's is an error.
	EnsurePolicy(ctx context.Context, region, arn string, policy Policy) (changed bool, err error)
	// EnsureRole makes a role with its one policy, and says what it changed.
	EnsureRole(ctx context.Context, region string, role Role) (changed []string, err error)
	// ReadRole reads a role of the session's account with its policies, by its ARN.
	ReadRole(ctx context.Context, region, arn string) (core.ForeignRole, error)
}

// Policy is a managed policy as wanted.
type Policy struct{ Name, Path, Document, Owner string }

// Role is a role as wanted.
type Role struct{ Name, Description, Trust, PolicyName, Policy, Owner string }
