package credentials

import (
	"cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
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

func awsContents(w World, arn string) map[string]string {
	return map[string]string{"credentials": "[default]\nsts_regional_endpoints = regional\nrole_arn = " + arn + "\nweb_identity_token_file = " + tokenPath(w)}
}

func azureContents(w World, bound v1alpha1.BoundIdentity) (data map[string]string, missing []string) {
	spec := w.Provider.Azure
	data = map[string]string{}
	for _, field := range []struct{ key, name, value string }{
		{"azure_client_id", "azureClientID", cmp.Or(bound.AzureClientID, spec.AzureClientID)},
		{"azure_tenant_id", "azureTenantID", cmp.Or(bound.AzureTenantID, spec.AzureTenantID)},
		{"azure_region", "azureRegion", cmp.Or(bound.AzureRegion, spec.AzureRegion)},
		{"azure_subscription_id", "azureSubscriptionID", cmp.Or(bound.AzureSubscriptionID, spec.AzureSubscriptionID)},
	} {
		if data[field.key] = field.value; field.value == "" {
			missing = append(missing, field.name)
		}
	}
	if data["azure_federated_token_file"] = tokenPath(w); len(missing) == 4 {
		return nil, missing
	}
	return data, missing
}

func gcpContents(w World, bound v1alpha1.BoundIdentity) (data map[string]string, missing []string) {
	email, audience := cmp.Or(bound.ServiceAccountEmail, w.Provider.GCP.ServiceAccountEmail), cmp.Or(bound.Audience, w.Provider.GCP.Audience)
	switch {
	case email == "":
		return nil, []string{"serviceAccountEmail"}
	case audience == "":
		return map[string]string{}, []string{"audience"}
	}
	return map[string]string{"service_account.json": encoded(map[string]string{"type": "external_account", "audience": audience})}, nil
}
