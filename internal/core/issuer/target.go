package issuer

import (
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// ProviderTargets lists the registrations to look at: one for each entry of the
// spec, in its order, then those that only status knows. Only Want, Identity,
// AccountID and ARN are set. It needs to know the caller.
func ProviderTargets(world World) []ProviderState {
	base := world.Caller.Identity
	partition := arnPartition(world.Caller.ARN)
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
		if known[remembered.ARN] {
			continue
		}
		targets = append(targets, rememberedTarget(base.Assuming(remembered.AssumeRoleARN), remembered))
	}
	return targets
}

func rememberedTarget(id identity.Identity, remembered v1alpha1.ProviderStatus) ProviderState {
	return ProviderState{Identity: id, AccountID: remembered.AccountID, ARN: remembered.ARN}
}
