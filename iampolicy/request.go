package iampolicy

import "strings"

// PrincipalKind is what sort of caller a request comes from.
type PrincipalKind int

// The kinds of callers.
const (
	// Anonymous is a caller that signed nothing.
	Anonymous PrincipalKind = iota
	// User is an IAM user.
	User
	// RoleSession is a session of an assumed role.
	RoleSession
	// Root is an account's root user.
	Root
	// Service is an AWS service, named like "pods.eks.amazonaws.com".
	Service
	// Federated is the holder of a token of an OIDC provider that has not yet
	// become a role session.
	Federated
)

// Principal is who makes a request.
type Principal struct {
	Kind PrincipalKind
	// ARN is the user's, session's or root's ARN, the service's name, or the
	// OIDC provider's ARN. Empty for Anonymous.
	ARN string
	// RoleARN is the ARN, with its path, of the role whose session the caller
	// is; a session's own ARN has no path.
	RoleARN string
	// AccountID is the account of the caller.
	AccountID string
}

// Context holds the condition keys of a request. Names compare without regard
// to case; make one with NewContext and Set, never by writing to the map.
type Context map[string][]string

// NewContext returns a context without keys.
func NewContext() Context { return Context{} }

// Set gives a key its values; no values make the key present and empty.
func (c Context) Set(key string, values ...string) { c[strings.ToLower(key)] = values }

// Get returns a key's values and whether the key is present.
func (c Context) Get(key string) ([]string, bool) {
	values, ok := c[strings.ToLower(key)]
	return values, ok
}

// Request is one action on one resource by one principal.
type Request struct {
	Principal Principal
	// Action is "service:Name".
	Action string
	// Resource is the resource's ARN, "*" for actions without resource types.
	Resource string
	// ResourceAccountID is the account that owns the resource.
	ResourceAccountID string
	Context           Context
}

// Kind is a policy's place in a decision.
type Kind string

// The kinds of policies.
const (
	IdentityPolicy Kind = "identity"
	ResourcePolicy Kind = "resource"
	TrustPolicy    Kind = "trust"
	BoundaryPolicy Kind = "boundary"
	SessionPolicy  Kind = "session"
	// ManagedPolicy is for Validate only: a policy with an ARN of its own,
	// which has rules that an inline policy does not have. In a decision it is
	// an identity, boundary or session policy.
	ManagedPolicy Kind = "managed"
)

// Policies are all the policies that bear on a request.
type Policies struct {
	// Identity are the caller's own: inline and attached.
	Identity []*Policy
	// Boundary is the caller's permissions boundary, nil for none.
	Boundary *Policy
	// Session are the policies passed when the session was made, nil for none;
	// their statements are united.
	Session []*Policy
	// Resource is the resource's policy, or the role's trust policy when a role
	// is assumed; nil for none.
	Resource *Policy
	// RestrictPublicBuckets is S3's switch of that name.
	RestrictPublicBuckets bool
}

// Effect is the outcome of an evaluation.
type Effect string

// The outcomes, written as users of IAM know them.
const (
	Allow        Effect = "allow"
	ImplicitDeny Effect = "implicitDeny"
	ExplicitDeny Effect = "explicitDeny"
)

// Decision is an outcome and the one kind of policy that it rests on.
type Decision struct {
	Effect Effect `json:"effect"`
	// Kind is the policy that allowed, that denied, or, for an implicit deny,
	// the one whose missing Allow decided.
	Kind Kind `json:"kind"`
	// Sid is the deciding statement's Sid, if it has one.
	Sid string `json:"sid,omitempty"`
}

// Allowed says whether the request may go on.
func (d Decision) Allowed() bool { return d.Effect == Allow }
