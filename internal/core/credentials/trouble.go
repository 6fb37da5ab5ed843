package credentials

import (
	"cmp"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// awsTrouble explains a fault of AWS, in looking or in a step.
func awsTrouble(f fault.Fault) condition.Verdict {
	code := strings.TrimSpace(f.Service + " " + f.Operation + ": " + cmp.Or(f.Code, string(f.Class)))
	switch {
	case f.Passing() || f.Class == fault.Gone:
		return condition.Unknown(ReasonAWSUnavailable, "AWS did not answer as expected (%s): it is tried again by itself", code)
	case f.Class == fault.Unauthenticated:
		return condition.No(ReasonNotAuthenticated, "AWS does not accept the controller's token (%s): run tabard credentials bootstrap, it repairs the controller's role", code)
	case f.Class == fault.Denied:
		return condition.No(ReasonAccessDenied, "the controller may not do what it has to (%s): run tabard credentials bootstrap, it gives the controller's role its rights", code)
	case f.Class == fault.Exists:
		return condition.No(ReasonRoleNotOurs, "there is a role of the name that is not the request's (%s): it is left as it is; delete it, or give the request another name", f.Error())
	}
	return condition.No(ReasonAWSRefused, "AWS refused: %s%s", f.Error(), advice(f))
}

// advice is what to do about what no repetition mends (IAM API Reference, errors of
// CreateRole, PutRolePolicy and UpdateAssumeRolePolicy); empty where AWS's text must do.
func advice(f fault.Fault) string {
	switch {
	case f.Code == "LimitExceeded":
		return ": have the quota of IAM raised for the account, or delete what is not needed of the kind that AWS names"
	case f.Code == "MalformedPolicyDocument" && f.Operation == "PutRolePolicy": // else the trust, which is not the request's
		return ": correct the statement in spec.providerSpec.statementEntries that AWS names"
	}
	return ""
}

// missingBoundary is the permissions boundary that AWS says does not exist; empty where it
// says something else. A role is made out of nothing but that policy; where the boundary of
// a role is set, the role may be what is gone, and AWS's text alone tells which.
func missingBoundary(step Step, f fault.Fault) string {
	if f.Class != fault.Gone {
		return ""
	}
	switch s := step.(type) {
	case CreateRole:
		if f.Operation == "CreateRole" {
			return s.Want.Boundary
		}
	case SetBoundary:
		if strings.Contains(f.Message, "attachable") || s.Boundary != "" && strings.Contains(f.Message, s.Boundary) {
			return s.Boundary
		}
	}
	return ""
}

// isPassing says that a verdict is about something that goes by itself.
func isPassing(v condition.Verdict) bool {
	return v.Reason == ReasonAWSUnavailable || v.Reason == ReasonTargetUnreadable || v.Reason == ReasonTargetDeleting
}
