package credentials

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"

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

// awsContents are the data of a Secret by which AWS's SDKs become a role.
func awsContents(w World, arn string) map[string]string {
	return map[string]string{"credentials": "[default]\nsts_regional_endpoints = regional\nrole_arn = " + arn + "\nweb_identity_token_file = " + tokenPath(w)}
}

// azureContents are the data of a Secret by which Azure's SDKs become an identity. data
// is nil if not one of its fields is set.
func azureContents(w World, bound v1alpha1.BoundIdentity) (data map[string]string, missing []string) {
	spec := w.Provider.Azure
	data = map[string]string{"azure_federated_token_file": tokenPath(w)}
	fields := []struct{ key, name, value string }{
		{"azure_client_id", "azureClientID", cmp.Or(bound.AzureClientID, spec.AzureClientID)},
		{"azure_tenant_id", "azureTenantID", cmp.Or(bound.AzureTenantID, spec.AzureTenantID)},
		{"azure_region", "azureRegion", cmp.Or(bound.AzureRegion, spec.AzureRegion)},
		{"azure_subscription_id", "azureSubscriptionID", cmp.Or(bound.AzureSubscriptionID, spec.AzureSubscriptionID)},
	}
	for _, field := range fields {
		if data[field.key] = field.value; field.value == "" {
			missing = append(missing, field.name)
		}
	}
	if len(missing) == len(fields) {
		return nil, missing
	}
	return data, missing
}

// gcpAudience is the workload identity provider as Google writes it, without a scheme.
var gcpAudience = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^//iam\.googleapis\.com/projects/[0-9]+/locations/global/workloadIdentityPools/[^/\s]+/providers/[^/\s]+$`)
})

// gcpContents are the data of a Secret by which Google's SDKs become a service account:
// an external account document. data is nil if no account is named.
func gcpContents(w World, bound v1alpha1.BoundIdentity) (data map[string]string, missing []string) {
	email, audience := cmp.Or(bound.ServiceAccountEmail, w.Provider.GCP.ServiceAccountEmail), cmp.Or(bound.Audience, w.Provider.GCP.Audience)
	switch {
	case email == "":
		return nil, []string{"serviceAccountEmail"}
	case strings.ContainsAny(email, "/:?# \t\r\n"):
		return map[string]string{}, []string{fmt.Sprintf("serviceAccountEmail (it is %q, expected NAME@PROJECT.iam.gserviceaccount.com)", email)}
	case !gcpAudience().MatchString(audience):
		return map[string]string{}, []string{fmt.Sprintf("audience (it is %q, expected //iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER)", audience)}
	}
	domain := cmp.Or(w.Platform.UniverseDomain, googleDomain)
	type format struct {
		Type string `json:"type"`
	}
	type source struct {
		File   string `json:"file"`
		Format format `json:"format"`
	}
	universe := w.Platform.UniverseDomain
	if universe == googleDomain {
		universe = ""
	}
	return map[string]string{"service_account.json": encoded(struct {
		Type             string `json:"type"`
		Audience         string `json:"audience"`
		SubjectTokenType string `json:"subject_token_type"`
		TokenURL         string `json:"token_url"`
		ImpersonationURL string `json:"service_account_impersonation_url"`
		CredentialSource source `json:"credential_source"`
		UniverseDomain   string `json:"universe_domain,omitempty"`
	}{
		"external_account", audience, "urn:ietf:params:oauth:token-type:jwt", "https://sts." + domain + "/v1/token",
		"https://iamcredentials." + domain + "/v1/projects/-/serviceAccounts/" + email + ":generateAccessToken",
		source{tokenPath(w), format{"text"}}, universe,
	})}, nil
}

// googleDomain is Google Cloud's own.
const googleDomain = "googleapis.com"
