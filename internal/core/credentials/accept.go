package credentials

import (
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// wanted is what a request that is accepted comes to.
type wanted struct {
	targets []Target
	// mint says that a role is to be made, else arn is the one that somebody made; empty
	// for other clouds.
	mint  bool
	arn   string
	role  RoleWant
	trust trust
	// secret is for targets that are Secrets.
	secret secretWant
}

// accept says what a request that Tabard fulfils comes to, or why nothing is given.
func accept(w World, acting Acting) (wanted, condition.Verdict) {
	var out wanted
	var invalid string
	out.targets, invalid = Targets(w.Request)
	switch {
	case acting.Reason == ReasonProviderSpecMissing:
		return out, condition.No(ReasonProviderSpecMissing, "%s", acting.Text)
	case w.Provider.Error != "":
		return out, condition.No(ReasonProviderSpecInvalid, "%s", w.Provider.Error)
	case invalid != "":
		return out, condition.No(ReasonInvalidTarget, "%s", invalid)
	case out.targets[0].Kind == KindServiceAccount && w.Provider.AWS == nil:
		return out, condition.No(ReasonServiceAccountNotAWS, "%s is the target and the provider is %s: ServiceAccounts are supported for AWS only, name a Secret", out.targets[0], w.Provider.Kind)
	}
	if len(out.targets) > 1 && w.Platform.Operator.Live && w.Provider.AWS.STSIAMRoleARN != "" {
		out.targets = out.targets[:1] // the operator makes the Secret of a request that names its role
	}
	out.secret.cco = !w.Platform.Operator.Live && len(out.targets) == 1
	given, v := acceptIdentity(w, &out)
	if !v.IsTrue() {
		return out, v
	}
	bound, v := Bound(w)
	if !v.IsTrue() || given {
		return out, v
	}
	return acceptRole(w, out, bound, v)
}

// acceptIdentity finds out whom workloads become: given says that somebody else made it.
func acceptIdentity(w World, out *wanted) (given bool, v condition.Verdict) {
	yes := condition.Yes(ReasonAccepted, "")
	if w.Provider.AWS == nil {
		out.secret.data, v = cloudContents(w)
		return true, v
	}
	arn, bound := GivenRole(w)
	switch {
	case arn != "" && !isRoleARN(arn, w.Settings.Partition):
		field := "spec.providerSpec.stsIAMRoleARN"
		if bound {
			field = "the role that the request is bound to"
		}
		return true, condition.No(ReasonRoleARNInvalid, "%s is %q, expected arn:%s:iam::ACCOUNT:role/NAME", field, arn, partition(w))
	case arn != "":
		out.arn = arn
		out.secret.data, v = awsContents(w, arn)
		return true, v
	case len(w.Provider.AWS.StatementEntries) == 0:
		return false, condition.No(ReasonNoStatements, "spec.providerSpec names neither a role (stsIAMRoleARN) nor statements (statementEntries): set one of the two, or run tabard credentials bind")
	case out.targets[0].Kind == KindSecret && len(w.Request.Spec.ServiceAccountNames) == 0:
		return false, condition.No(ReasonNoServiceAccountNames, "no key is ever stored in a Secret, and it is not said which ServiceAccounts shall become the role: set spec.serviceAccountNames to those of namespace %s that use the Secret, or make a role and name it (spec.providerSpec.stsIAMRoleARN, or tabard credentials bind)", out.targets[0].Namespace)
	case w.Platform.Infrastructure == "":
		return false, condition.No(ReasonPlatformUnknown, "the name of the cluster is not known, with which names of roles begin: set --infrastructure")
	}
	return false, yes
}

// acceptRole is the role to make.
func acceptRole(w World, out wanted, bound AWSBound, v condition.Verdict) (wanted, condition.Verdict) {
	if w.AccountFault != nil && len(w.Issuers) == 0 { // AWS did not say which issuers it knows
		return out, awsTrouble(*w.AccountFault)
	}
	trust, can := trustOf(w, out.targets[0])
	if !can.IsTrue() {
		return out, can
	}
	record := roleRecord(w, bound.Path)
	out.mint, out.trust, out.arn = true, trust, record.ARN
	if out.secret.data, can = awsContents(w, record.ARN); !can.IsTrue() {
		return out, can
	}
	out.role = RoleWant{
		Name: record.Name, Path: record.Path, ARN: record.ARN, Owner: Owner(requestRef(w)),
		Trust: trustPolicy(trust.issuers, Subjects(w)), PolicyName: record.PolicyName,
		Policy: PermissionPolicy(w.Provider.AWS.StatementEntries), Tags: ValuesOf(Tags(w)),
		Boundary: bound.PermissionsBoundary, MaxSession: bound.MaxSession,
	}
	return out, v
}
