package call

import (
	"maps"

	"github.com/tabard-dev/tabard/iampolicy"
)

// As returns the call as one of the caller whom a credential proves: Caller and
// Authorize are that caller's. Context must have been set.
func (c *Call) As(credential Credential) *Call {
	other := *c
	other.Caller = credential.Caller
	other.Authorize = authorizer(c, credential)
	return &other
}

// authorizer evaluates the policies of one caller for one request. An empty
// resource account means that the resource belongs to the caller's own.
func authorizer(c *Call, credential Credential) func(string, string, Side, iampolicy.Context) iampolicy.Decision {
	principal := credential.Caller.Principal
	base := maps.Clone(c.Context)
	maps.Copy(base, credential.Context)
	base.Set("aws:userid", credential.Caller.UserID)
	if principal.Kind != iampolicy.Anonymous {
		base.Set("aws:PrincipalAccount", principal.AccountID)
		base.Set("aws:PrincipalArn", principal.ARN)
		if principal.RoleARN != "" {
			base.Set("aws:PrincipalArn", principal.RoleARN)
		}
	}
	return func(action, resource string, side Side, extra iampolicy.Context) iampolicy.Decision {
		context := maps.Clone(base)
		maps.Copy(context, extra)
		if side.AccountID != "" {
			context.Set("aws:ResourceAccount", side.AccountID)
		}
		policies := credential.Policies
		policies.Resource = side.Policy
		policies.RestrictPublicBuckets = side.RestrictPublicBuckets
		return c.Evaluate(&iampolicy.Request{
			Principal: principal, Action: action, Resource: resource, ResourceAccountID: side.AccountID, Context: context,
		}, &policies, credential.Names)
	}
}
