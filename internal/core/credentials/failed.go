package credentials

import (
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Failed is the plan to report after a step of it has failed: with the condition of the
// step's link telling why, and the time to look next. What another writer changed in
// between needs no telling: the next look sees it.
func Failed(plan Plan, step Step, f fault.Fault, w World) Plan {
	if f.Class == fault.Changed {
		plan.Again = lookSoon // somebody wrote in between
		return plan
	}
	plan.Again = retryAgain
	v := verdictsOf(plan)
	trouble := awsTrouble(f)
	switch step.(type) {
	case CreateRole, SetBoundary:
		if arn := missingBoundary(step, f); arn != "" {
			trouble = condition.No(ReasonPermissionsBoundaryMissing, "the permissions boundary %s does not exist in the account, or is not attachable: run tabard credentials bootstrap, it makes the boundary policy; or correct the ARN in spec.aws.permissionsBoundary of the CredentialsBoundary", arn)
		}
	case PutPolicy, SetTrust, SetTags, SetSession, RemovePolicy, Detach, DeleteRole:
	case WriteServiceAccount, WriteSecret, ClearServiceAccount, ClearSecret:
		if trouble = condition.No(ReasonTargetRefused, "the API server refused: %s", f.Error()); f.Passing() {
			trouble = condition.Unknown(ReasonTargetUnreadable, "the API server did not answer as expected: %s", f.Error())
		}
	default:
		return plan
	}
	switch step.(type) {
	case WriteServiceAccount, WriteSecret:
		v.delivered = trouble
		if (v.role.Reason == ReasonRoleMissing || v.role.Reason == ReasonRoleDiffers) && plan.Grant.Role != nil {
			v.role = condition.Yes(ReasonRolePresent, "the role %s is as wanted", plan.Grant.Role.ARN) // by the steps before
		}
	case ClearServiceAccount, ClearSecret, DeleteRole:
		v.left = "what the request had before is not yet taken back: " + trouble.Message
	default:
		v.role, v.delivered = trouble, condition.Verdict{}
	}
	if v.blocked != nil {
		v = dying(blocked(trouble))
		plan.Grant.Conditions = v.conditions(w)
		if plan.Project != nil {
			plan.Project = projectDying(w, *v.blocked)
		}
	} else {
		plan.Grant.Conditions = v.conditions(w)
		if plan.Project != nil {
			plan.Project = project(w, plan.Grant, v)
		}
	}
	if !isPassing(trouble) {
		plan.Again = patience(plan.Grant.Conditions, failing(v), w.Now)
	}
	return plan
}

// failing is the type of the condition that waits for a person.
func failing(v verdicts) string {
	if v.blocked != nil {
		return TypeDeletionBlocked
	}
	return TypeReady
}

// verdictsOf reads verdicts back from a plan.
func verdictsOf(plan Plan) verdicts {
	var out verdicts
	for kind, v := range map[string]*condition.Verdict{TypeAccepted: &out.accepted, TypeRolePresent: &out.role, TypeDelivered: &out.delivered} {
		if read, ok := condition.Read(plan.Grant.Conditions, kind); ok {
			*v = read
		}
	}
	if static, ok := condition.Read(plan.Grant.Conditions, TypeStaticKeysPresent); ok {
		out.static = &static
	}
	if foreign, ok := condition.Read(plan.Grant.Conditions, TypeRoleOutOfSync); ok {
		out.foreign = &foreign
	}
	if block, ok := condition.Read(plan.Grant.Conditions, TypeDeletionBlocked); ok {
		out.blocked = &block
	}
	return out
}
