package webhook

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
)

// addAzure adds the flags of Azure.
func (o *Options) addAzure(flags *pflag.FlagSet) {
	o.Azure = azure.Defaults()
	flags.StringVar(&o.Azure.TenantID, "azure-tenant-id", "", "tenant of ServiceAccounts that name none; empty: $AZURE_TENANT_ID")
	flags.StringVar(&o.Azure.Environment, "azure-environment", "", "Azure cloud, such as AzurePublicCloud; empty: $AZURE_ENVIRONMENT, else "+o.Azure.Environment)
	flags.StringVar(&o.Azure.Audience, "azure-audience", o.Azure.Audience, "audience of the token for Azure")
}

// addTokenEndpoint adds the flags of Azure's custom token endpoint. The first two
// have the names of the azure-workload-identity webhook's.
func (o *Options) addTokenEndpoint(flags *pflag.FlagSet) {
	endpoint := &o.tokenEndpoint
	flags.StringVar(&endpoint.AnnotationSuffix, "custom-token-endpoint-annotation-suffix", "", "pods ask for the custom token endpoint of Azure by the annotation "+azure.AnnotationPrefix+"/use-SUFFIX; empty: there is none")
	flags.StringVar(&endpoint.Audience, "custom-token-endpoint-audience", "", "audience of the token of such pods")
	flags.StringVar(&endpoint.TokenProxy, "custom-token-endpoint-token-proxy", "", "https URL of the custom token endpoint")
	flags.StringVar(&endpoint.SNIName, "custom-token-endpoint-sni-name", "", "server name to ask for in TLS; empty: that of the URL")
	flags.StringVar(&endpoint.CAData, "custom-token-endpoint-ca-data", "", "certificates in PEM by which the endpoint's is signed")
	flags.StringVar(&endpoint.CAConfigMap, "custom-token-endpoint-ca-config-map", "", "config map of the pod's namespace that has them as ca.crt, instead")
	flags.StringVar(&endpoint.CATrustBundle, "custom-token-endpoint-ca-trust-bundle", "", "ClusterTrustBundle that has them, instead")
}

// addGoogle adds the flags of Google Cloud.
func (o *Options) addGoogle(flags *pflag.FlagSet) {
	o.Google = gcp.Defaults()
	google := &o.Google
	flags.StringVar(&google.AnnotationPrefix, "gcp-annotation-prefix", google.AnnotationPrefix, "prefix of Google Cloud's annotations, before the slash")
	flags.StringVar(&google.Audience, "gcp-token-audience", google.Audience, "audience of the token for Google Cloud, unless the ServiceAccount says otherwise")
	flags.Int64Var(&google.TokenExpiration, "gcp-token-expiration", google.TokenExpiration, "life of that token in seconds, unless ServiceAccount or pod say otherwise; 600 to 86400")
	flags.Var((*fileMode)(&google.TokenFileMode), "gcp-token-default-mode", "mode of that token's file in octal digits, such as 0440; 0: Kubernetes' default")
	flags.StringVar(&google.Region, "gcp-default-region", "", "region to put into CLOUDSDK_COMPUTE_REGION; empty: none")
	flags.StringVar((*string)(&google.Mode), "gcp-default-injection-mode", string(google.Mode), "direct, for client libraries, or gcloud, for the gcloud command as well, unless the ServiceAccount says otherwise")
	flags.StringVar(&google.UniverseDomain, "gcp-universe-domain", google.UniverseDomain, "domain of Google Cloud's services")
	flags.Int64Var(&google.AccessTokenLifetime, "gcp-access-token-lifetime", 0, "life of service accounts' access tokens in seconds, 600 to 43200; 0: Google's default")
}

// cloudNames is a flag for names of clouds with commas between them.
type cloudNames []string

// Set is for pflag.
func (c *cloudNames) Set(text string) error {
	*c = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	return checkClouds(*c)
}

// Type is for pflag.
func (c *cloudNames) Type() string { return "names" }

func (c *cloudNames) String() string { return strings.Join(*c, ",") }
