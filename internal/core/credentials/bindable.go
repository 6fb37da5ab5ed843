package credentials

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// Bindable says why an identity cannot be bound to a request, and what is expected; empty
// if it can.
func Bindable(w World, b v1alpha1.BoundIdentity) (wrong string) {
	azure := map[string]string{
		"--azure-client-id": b.AzureClientID, "--azure-tenant-id": b.AzureTenantID, "--azure-subscription-id": b.AzureSubscriptionID, "--azure-region": b.AzureRegion,
	}
	google := map[string]string{"--gcp-service-account-email": b.ServiceAccountEmail, "--gcp-audience": b.Audience}
	var given []string
	for cloud, fields := range map[string]map[string]string{"AWS": {"--role-arn": b.RoleARN}, "Azure": azure, "Google Cloud": google} {
		if len(missing(fields)) < len(fields) {
			given = append(given, cloud)
		}
	}
	switch p := w.Provider; {
	case len(given) == 0:
		return "no identity is given: name a role with --role-arn, or the fields of an identity in Azure or Google Cloud"
	case len(given) > 1:
		return "identities of more than one cloud are given: name that of one"
	case p.AWS != nil && given[0] == "AWS":
		return notARole(b.RoleARN, w.Settings.Partition)
	case p.Azure != nil && given[0] == "Azure":
		return lacking(azure)
	case p.GCP != nil && given[0] == "Google Cloud":
		return lacking(google)
	}
	return fmt.Sprintf("the identity is of %s, and the kind of the request's providerSpec is %q", given[0], w.Provider.Kind)
}

// notARole says why an ARN is not that of a role in a partition; an empty partition is any.
func notARole(text, partition string) string {
	arn, ok := identity.ParseRoleARN(text)
	switch {
	case !ok:
		return fmt.Sprintf("--role-arn is %.200q, expected the ARN of a role, such as arn:aws:iam::123456789012:role/NAME", text)
	case !isRoleARN(text, arn.Partition):
		return fmt.Sprintf("--role-arn is %.200q, expected the ARN of one role, without wildcards", text)
	case partition != "" && arn.Partition != partition:
		return fmt.Sprintf("--role-arn is %.200q, a role of the partition %s; the cluster's is %s", text, arn.Partition, partition)
	}
	return ""
}

// missing are the names of the fields that are empty, in order.
func missing(fields map[string]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

func lacking(fields map[string]string) string {
	if names := missing(fields); len(names) > 0 {
		return "the identity is not whole: give " + strings.Join(names, ", ") + " too"
	}
	return ""
}

// Undeliverable says why a request as it stands gets nothing, whatever an administrator decides
// in its favour: by adopting it, or by binding it to an identity, as the grant of the world says.
// It is empty where nothing stands in the way, or only what others may still do, such as making
// the CredentialsBoundary.
func Undeliverable(w World) string {
	_, accepted := accept(w, Act(AskedOf(w)))
	_, bounded := Bound(w) // which accept does not ask where there is no identity yet
	for _, v := range []condition.Verdict{accepted, bounded} {
		switch v.Reason {
		case ReasonInvalidTarget, ReasonTargetNotAllowed, ReasonTokenPathInvalid, ReasonRoleARNInvalid,
			ReasonServiceAccountNotAWS, ReasonProviderSpecMissing, ReasonProviderSpecInvalid:
			return v.Message
		}
	}
	return ""
}
