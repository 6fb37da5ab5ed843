package issuer

import (
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// ProviderTargets lists the registrations to look at: one for each entry of the
// spec, in its order; then those that only status knows; then, for a dying
// issuer, the own account's, which may know the issuer whatever the object says.
// Only Want, Identity, AccountID and ARN are set, and the Fault of an account
// that cannot be asked. It needs to know the caller.
func ProviderTargets(world World) []ProviderState {
	base := world.Caller.Identity
	partition := identity.PartitionOfARN(world.Caller.ARN)
	var targets []ProviderState
	known := map[string]bool{}
	for i := range world.Issuer.Spec.Providers {
		want := &world.Issuer.Spec.Providers[i]
		account := world.Caller.AccountID
		if want.AssumeRoleARN != "" {
			account = arnAccount(want.AssumeRoleARN)
		}
		arn := ProviderARN(partition, account, world.Issuer.Spec.URL)
		known[arn] = true
		targets = append(targets, ProviderState{
			Want: want, Identity: base.Assuming(want.AssumeRoleARN), AccountID: account, ARN: arn,
		})
	}
	for _, remembered := range world.Issuer.Status.Providers {
		target := rememberedTarget(world, remembered)
		if known[target.ARN] {
			continue
		}
		known[target.ARN] = true
		targets = append(targets, target)
	}
	own := ProviderARN(partition, world.Caller.AccountID, world.Issuer.Spec.URL)
	if !world.Issuer.DeletionTimestamp.IsZero() && !known[own] {
		targets = append(targets, ProviderState{Identity: base, AccountID: world.Caller.AccountID, ARN: own})
	}
	return targets
}

// rememberedTarget is one that status tells of. The ARN follows from the URL:
// status may be written by others, and nothing else of IAM is ours to look at.
func rememberedTarget(w World, remembered v1alpha1.ProviderStatus) ProviderState {
	out := ProviderState{
		Identity:  w.Caller.Identity.Assuming(remembered.AssumeRoleARN),
		AccountID: remembered.AccountID,
		ARN:       ProviderARN(identity.PartitionOfARN(w.Caller.ARN), remembered.AccountID, w.Issuer.Spec.URL),
	}
	asked := w.Caller.AccountID
	if remembered.AssumeRoleARN != "" {
		asked = arnAccount(remembered.AssumeRoleARN)
	}
	if asked != remembered.AccountID {
		out.Fault = &fault.Fault{
			Class: fault.Invalid, Service: "IAM", Operation: "GetOpenIDConnectProvider", Code: "AnotherAccount",
			Message: "status tells of a provider in account " + remembered.AccountID + ", which the operator does not reach from account " + asked,
		}
	}
	return out
}

// NeedsTrust says whether the roles that mention the provider are to be looked
// up: for one that is to be removed, and before a name is given up also where
// the provider is gone, since it may be made again.
func (s ProviderState) NeedsTrust(issuer *v1alpha1.OIDCIssuer) bool {
	switch {
	case s.Fault != nil:
		return false
	case !issuer.DeletionTimestamp.IsZero():
		return s.Exists || issuer.Spec.Publication.S3.ReleaseName
	}
	return s.Exists && s.Want == nil && s.Owner == issuer.Spec.URL && issuer.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete
}
