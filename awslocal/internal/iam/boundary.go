package iam

import (
	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// boundaryARN reads PermissionsBoundary, which must have the form of a managed
// policy's ARN.
func (r *request) boundaryARN(required bool) (string, *call.Fault) {
	if !required && !r.form.Has("PermissionsBoundary") {
		return "", nil
	}
	var v query.Validation
	arn := v.Text(r.form, "PermissionsBoundary", 20, 2048, nil)
	if fault := v.Fault(); fault != nil {
		return "", fault
	}
	if !policyPattern.MatchString(arn) {
		return "", badBoundary(arn)
	}
	return arn, nil
}

func withBoundary(context iampolicy.Context, arn string) iampolicy.Context {
	if arn != "" {
		context.Set("iam:PermissionsBoundary", arn)
	}
	return context
}

func (find search) putBoundary(r *request) (any, *call.Fault) {
	arn, fault := r.boundaryARN(true)
	if fault != nil {
		return nil, fault
	}
	found, fault := find(r, func(context iampolicy.Context) iampolicy.Context { return withBoundary(context, arn) })
	if fault != nil {
		return nil, fault
	}
	boundary, fault := r.attachable(arn)
	if fault != nil {
		return nil, fault
	}
	found.boundary = boundary
	return nil, nil
}

// deleteBoundary does nothing where there is none; AWS does not say what it
// answers then.
func (find search) deleteBoundary(r *request) (any, *call.Fault) {
	found, fault := find(r, nil)
	if fault != nil {
		return nil, fault
	}
	found.boundary = nil
	return nil, nil
}
