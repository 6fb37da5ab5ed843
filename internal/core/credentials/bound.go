package credentials

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// AWSBound is what a CredentialsBoundary makes of a request's role.
type AWSBound struct {
	// Boundary is the name of the CredentialsBoundary.
	Boundary string
	// PermissionsBoundary is the ARN of the role's permissions boundary.
	PermissionsBoundary string
	// Path is the role's path.
	Path string
	// MaxSession is the role's longest session.
	MaxSession time.Duration
}

// Bound says what the world's request may get, or why nothing. Whoever may create a
// request must not thereby be able to become anybody: what cannot be decided is refused.
// A refusal says the same at each attempt.
func Bound(w World) (AWSBound, condition.Verdict) {
	boundary, v := choose(w)
	if !v.IsTrue() {
		return AWSBound{}, v
	}
	out := AWSBound{Boundary: boundary.Name}
	if v = unusable(boundary, judgeScope(boundary, w.Settings)); !v.IsTrue() {
		return out, v
	}
	if v = boundCount(w, boundary); !v.IsTrue() {
		return out, v
	}
	if v = boundTargets(w, boundary); !v.IsTrue() || w.Provider.AWS == nil {
		return out, v
	}
	if arn, bound := GivenRole(w); bound {
		return out, within(boundary.Name) // an administrator's decision: a grant is no team's to write
	} else if arn != "" {
		return out, boundGiven(w, boundary, arn)
	}
	if boundary.Spec.AWS != nil {
		if v = unusable(boundary, judgeMinting(boundary, w.Settings)); !v.IsTrue() {
			return out, v
		}
	}
	aws := cmp.Or(boundary.Spec.AWS, &v1alpha1.AWSBoundary{})
	out.Path = cmp.Or(aws.PathPrefix, w.Settings.Path, DefaultPath)
	out.PermissionsBoundary = cmp.Or(aws.PermissionsBoundary, w.Settings.PermissionsBoundary)
	out.MaxSession = max(time.Duration(aws.MaxSessionSeconds)*time.Second, time.Hour)
	if out.PermissionsBoundary == "" {
		return out, condition.No(ReasonNoPermissionsBoundary, "no role is made without a permissions boundary: run tabard credentials bootstrap and name its policy to the controller, or set spec.aws.permissionsBoundary of the CredentialsBoundary %s", boundary.Name)
	}
	return out, boundStatements(w, boundary.Name, aws.Ceiling, out.PermissionsBoundary)
}

// unusable names the boundary in a verdict on it.
func unusable(boundary *v1alpha1.CredentialsBoundary, v condition.Verdict) condition.Verdict {
	if !v.IsTrue() {
		v.Message = "the CredentialsBoundary " + boundary.Name + " of the request cannot be used: " + v.Message
	}
	return v
}

// boundCount says whether a request is one of as many as its namespace may have. Whoever may
// create requests could otherwise use up the roles of the account: IAM allows 1,000. One that
// has something keeps it.
func boundCount(w World, boundary *v1alpha1.CredentialsBoundary) condition.Verdict {
	most := cmp.Or(boundary.Spec.MaxRequests, v1alpha1.DefaultMaxRequests)
	if w.Ahead < int(most) || w.Grant != nil && Holds(w.Grant) {
		return within(boundary.Name)
	}
	return condition.No(ReasonTooManyRequests, "the CredentialsBoundary %s allows %d requests of a namespace, and as many of %s come before this one: delete some, or have an administrator raise spec.maxRequests", boundary.Name, most, w.Request.Namespace)
}

// within is the verdict of a request that keeps its boundary.
func within(boundary string) condition.Verdict {
	return condition.Yes(ReasonAccepted, "the request is within the CredentialsBoundary %s", boundary)
}

// boundGiven says whether a request may have a role that somebody else made.
func boundGiven(w World, boundary *v1alpha1.CredentialsBoundary, arn string) condition.Verdict {
	if !isRoleARN(arn, w.Settings.Partition) {
		return condition.No(ReasonRoleARNInvalid, "the role is %q, expected arn:%s:iam::ACCOUNT:role/NAME", arn, partition(w))
	}
	var patterns []string
	if boundary.Spec.AWS != nil {
		patterns = boundary.Spec.AWS.RoleARNPatterns
	}
	if slices.ContainsFunc(patterns, func(pattern string) bool { return matchesARN(pattern, arn) }) {
		return within(boundary.Name)
	}
	return condition.No(ReasonRoleARNNotAllowed, "the role %s is none of those that the CredentialsBoundary %s allows, expected one of %q: name another role, or have an administrator add it to spec.aws.roleARNPatterns", arn, boundary.Name, patterns)
}

// matchesARN says whether an ARN fits a pattern, in which * counts in the path and name
// only: partition and account are the same.
func matchesARN(pattern, arn string) bool {
	p, ok := identity.ParseARN(pattern)
	a, valid := identity.ParseARN(arn)
	return ok && valid && p.Partition == a.Partition && p.Service == a.Service && p.Region == a.Region && p.Account == a.Account && matches(p.Resource, a.Resource)
}

// matches says whether a text fits a pattern in which * is any text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}
