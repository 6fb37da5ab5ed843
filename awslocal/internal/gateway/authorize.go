package gateway

import (
	"maps"
	"net"
	"strconv"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// requestContext has the global condition keys that do not depend on the caller.
// IAM: "AWS global condition context keys".
func requestContext(c *call.Call) iampolicy.Context {
	context := iampolicy.Context{}
	context.Set("aws:CurrentTime", c.Now.Format("2006-01-02T15:04:05Z"))
	context.Set("aws:EpochTime", strconv.FormatInt(c.Now.Unix(), 10))
	context.Set("aws:SecureTransport", strconv.FormatBool(c.HTTP.TLS != nil))
	context.Set("aws:RequestedRegion", c.Region)
	context.Set("aws:PrincipalIsAWSService", "false")
	if host, _, err := net.SplitHostPort(c.HTTP.RemoteAddr); err == nil {
		context.Set("aws:SourceIp", host)
	}
	if agent := c.HTTP.UserAgent(); agent != "" {
		context.Set("aws:UserAgent", agent)
	}
	return context
}

// authorizer evaluates the policies of one caller for one request. An empty
// resource account means that the resource belongs to the caller's own.
func authorizer(c *call.Call, credential call.Credential) func(string, string, call.Side, iampolicy.Context) iampolicy.Decision {
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
	return func(action, resource string, side call.Side, extra iampolicy.Context) iampolicy.Decision {
		context := maps.Clone(base)
		maps.Copy(context, extra)
		if side.AccountID != "" {
			context.Set("aws:ResourceAccount", side.AccountID)
		}
		policies := credential.Policies
		policies.Resource = side.Policy
		policies.RestrictPublicBuckets = side.RestrictPublicBuckets
		return iampolicy.Evaluate(&iampolicy.Request{
			Principal: principal, Action: action, Resource: resource, ResourceAccountID: side.AccountID, Context: context,
		}, &policies)
	}
}
