package credentials

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// foreignFor is how long a role of somebody else counts as read.
const foreignFor = time.Hour

// foreignRoles are the roles that requests name and that others made. It is safe for
// concurrent use; one role is read at a time, and each once an hour.
type foreignRoles struct {
	options Options

	mu    sync.Mutex
	known map[string]foreignRole
}

// foreignRole is what was read of a role: at is when, and until how long it counts.
type foreignRole struct {
	role      core.ForeignRole
	at, until time.Time
}

// ReadsRoles reads roles and managed policies.
type ReadsRoles interface {
	Get(ctx context.Context, id identity.Identity, name string) (cloud.Role, error)
	Policy(ctx context.Context, id identity.Identity, arn string) (document string, exists bool, err error)
}

// get reads a role, unless it was read within the hour, and since a person asked for a look.
// It never changes one.
func (f *foreignRoles) get(ctx context.Context, arn, account string, since time.Time) *core.ForeignRole {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.options.Now()
	if known, has := f.known[arn]; has && now.Before(known.until) && !isOutdated(known.at, since, now) {
		return &known.role
	}
	maps.DeleteFunc(f.known, func(_ string, known foreignRole) bool { return !now.Before(known.until) })
	read, err := ReadForeign(ctx, f.options.AWS.Roles, f.options.Operator, arn, account)
	known := foreignRole{read, now, now.Add(foreignFor)}
	if known.role.Fault = controller.FaultOf(err); err != nil {
		known.until = now.Add(knownFor)
	}
	f.known[arn] = known
	return &known.role
}

// ReadForeign reads a role of an account with its policies, by somebody's rights.
func ReadForeign(ctx context.Context, roles ReadsRoles, as identity.Identity, arn, account string) (core.ForeignRole, error) {
	out := core.ForeignRole{ARN: arn}
	parsed, ok := identity.ParseRoleARN(arn)
	if !ok || parsed.Account != account {
		return out, fault.Fault{Class: fault.Denied, Message: fmt.Sprintf("it is no role of account %s, whose roles are read", account)}
	}
	role, err := roles.Get(ctx, as, parsed.Name)
	if err != nil || !role.Exists || role.ARN != arn {
		return out, err
	}
	out.Exists, out.Trust = true, role.Trust
	for _, name := range slices.Sorted(maps.Keys(role.Policies)) {
		out.Policies = append(out.Policies, role.Policies[name])
	}
	for _, attached := range role.Attached {
		document, err := managed(ctx, roles, as, attached)
		if err != nil {
			return out, err
		}
		out.Policies = append(out.Policies, document)
	}
	if role.Boundary != "" {
		document, err := managed(ctx, roles, as, role.Boundary)
		if err != nil {
			return out, err
		}
		out.Boundaries = []string{document}
	}
	return out, nil
}

// managed reads a managed policy of a role.
func managed(ctx context.Context, roles ReadsRoles, as identity.Identity, arn string) (string, error) {
	document, exists, err := roles.Policy(ctx, as, arn)
	if err == nil && !exists {
		err = fault.Fault{Class: fault.Gone, Service: "IAM", Operation: "GetPolicy", Message: "there is no policy " + arn}
	}
	return document, err
}
