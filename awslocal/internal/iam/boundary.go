package iam

import (
	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// boundaryARN reads PermissionsBoundary, which must have the form of a managed
// policy's ARN.
func (r *request) boundaryARN(required bool) string {
	if !required && !r.form.Has("PermissionsBoundary") {
		return ""
	}
	arn := r.text("PermissionsBoundary", 20, 2048, nil)
	if !policyPattern.MatchString(arn) {
		call.Refuse(badBoundary(arn))
	}
	return arn
}

func withBoundary(context iampolicy.Context, arn string) iampolicy.Context {
	if arn != "" {
		context.Set("iam:PermissionsBoundary", arn)
	}
	return context
}

func (find search) putBoundary(r *request) any {
	arn := r.boundaryARN(true)
	found := find(r, func(context iampolicy.Context) iampolicy.Context { return withBoundary(context, arn) })
	found.boundary = r.limiting(arn)
	return nil
}

// limiting finds a policy that may be a boundary. The caller needs no right on the
// policy itself.
func (r *request) limiting(arn string) *managed {
	found := r.policy(r.account, arn)
	if found == nil {
		call.Refuse(noBoundary(arn))
	}
	return found
}

// deleteBoundary does nothing where there is none; AWS does not say what it
// answers then.
func (find search) deleteBoundary(r *request) any {
	find(r, nil).boundary = nil
	return nil
}
