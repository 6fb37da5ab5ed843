package credentials

import (
	"cmp"
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/tokensecret"
)

// partition is the AWS partition of the cluster's account.
func partition(w World) string { return cmp.Or(w.Settings.Partition, "aws") }

// tokenPath is where workloads of the request find their token.
func tokenPath(w World) string {
	return cmp.Or(w.Request.Spec.CloudTokenPath, w.Settings.TokenPath, DefaultTokenPath)
}

// boundIdentity is what an administrator bound the request to, or nothing.
func boundIdentity(w World) v1alpha1.BoundIdentity {
	if w.Grant != nil && w.Grant.Spec.Bound != nil {
		return *w.Grant.Spec.Bound
	}
	return v1alpha1.BoundIdentity{}
}

// awsContents are the data of a Secret by which AWS's SDKs become a role.
func awsContents(w World, arn string) (map[string]string, condition.Verdict) {
	data, err := tokensecret.AWS(arn, tokenPath(w))
	if err != nil {
		return nil, condition.No(ReasonProviderSpecInvalid, "%v", err)
	}
	return data, condition.Yes(ReasonAccepted, "")
}

// cloudContents are the data of a Secret by which the SDKs of Azure or Google Cloud
// become an identity that somebody else made.
func cloudContents(w World) (map[string]string, condition.Verdict) {
	bound := boundIdentity(w)
	var none bool
	var missing []string
	var contents func(tokenPath string) (map[string]string, error)
	if spec := w.Provider.Azure; spec != nil {
		azure := tokensecret.Azure{
			ClientID: cmp.Or(bound.AzureClientID, spec.AzureClientID), TenantID: cmp.Or(bound.AzureTenantID, spec.AzureTenantID),
			Region: cmp.Or(bound.AzureRegion, spec.AzureRegion), SubscriptionID: cmp.Or(bound.AzureSubscriptionID, spec.AzureSubscriptionID),
		}
		none, missing, contents = azure.IsZero(), azure.Missing(), azure.Data
	} else {
		google := tokensecret.Google{
			ServiceAccountEmail: cmp.Or(bound.ServiceAccountEmail, w.Provider.GCP.ServiceAccountEmail),
			Audience:            cmp.Or(bound.Audience, w.Provider.GCP.Audience), Universe: w.Platform.UniverseDomain,
		}
		none, missing, contents = google.ServiceAccountEmail == "", google.Missing(), google.Data
	}
	switch {
	case none:
		return nil, condition.No(ReasonNoIdentity, "spec.providerSpec names no identity: set %s, or run tabard credentials bind", strings.Join(missing, ", "))
	case len(missing) > 0:
		return nil, condition.No(ReasonTokenFieldsMissing, "of the identity in spec.providerSpec these are missing: %s", strings.Join(missing, ", "))
	}
	data, err := contents(tokenPath(w))
	if err != nil {
		return nil, condition.No(ReasonTokenFieldsMissing, "the identity in spec.providerSpec cannot be used: %v", err)
	}
	return data, condition.Yes(ReasonAccepted, "")
}
