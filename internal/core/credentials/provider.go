package credentials

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
)

// DecodeProvider reads a request's providerSpec. The kind is read leniently: one that is
// missing or unknown is of another platform. A kind that is known is read with or
// without its apiVersion; an apiVersion of another group is an Error.
func DecodeProvider(request *cloudv1.CredentialsRequest) Provider {
	raw := request.Spec.ProviderSpec
	if raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return Provider{Missing: true}
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(raw.Raw, &meta); err != nil {
		// Something else than an object, or a kind that is no text, has no kind.
		return Provider{Error: fmt.Sprintf("spec.providerSpec cannot be read: %v", err)}
	}
	out := Provider{Kind: meta.Kind}
	if _, known := kinds[meta.Kind]; !known {
		return out
	}
	if group := cloudv1.GroupVersion.String(); meta.APIVersion != "" && meta.APIVersion != group {
		out.Error = fmt.Sprintf("spec.providerSpec.apiVersion is %q, expected %s", meta.APIVersion, group)
		return out
	}
	var err error
	switch meta.Kind {
	case cloudv1.AWSProviderSpecKind:
		out.AWS, out.Unknown = &cloudv1.AWSProviderSpec{}, unknownFields(raw.Raw)
		err = json.Unmarshal(raw.Raw, out.AWS)
	case cloudv1.AzureProviderSpecKind:
		out.Azure = &cloudv1.AzureProviderSpec{}
		err = json.Unmarshal(raw.Raw, out.Azure)
	default:
		out.GCP = &cloudv1.GCPProviderSpec{}
		err = json.Unmarshal(raw.Raw, out.GCP)
	}
	if err != nil {
		return Provider{Kind: meta.Kind, Error: fmt.Sprintf("spec.providerSpec cannot be read: %v", err)}
	}
	return out
}
