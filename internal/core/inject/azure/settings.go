package azure

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Settings are what holds for all pods of a cluster unless a ServiceAccount or a
// pod says otherwise. Defaults has those of the reference; what has none there is
// empty.
type Settings struct {
	// TenantID is the tenant of ServiceAccounts that name none. It is required.
	TenantID string
	// Environment is the name of an Azure cloud, such as AzurePublicCloud; case
	// does not count.
	Environment string
	// Audience is the "aud" of the token.
	Audience string
	// CustomTokenEndpoint is for pods that ask for it; nil is none.
	CustomTokenEndpoint *CustomTokenEndpoint
}

// CustomTokenEndpoint is a token endpoint within reach of the cluster that stands
// for Azure's own. The Azure SDKs send their token there.
type CustomTokenEndpoint struct {
	// AnnotationSuffix makes the annotation by which pods ask for it:
	// azure.workload.identity/use-SUFFIX.
	AnnotationSuffix string
	// Audience is the "aud" of the token of such pods.
	Audience string
	// TokenProxy is the https URL of the endpoint.
	TokenProxy string
	// SNIName is the server name to ask for in TLS; empty for that of the URL.
	SNIName string
	// CAData, CAConfigMap and CATrustBundle say by whom the endpoint's
	// certificate is signed, by at most one of them: certificates in PEM, the
	// name of a config map in the pod's namespace with the key ca.crt, or the
	// name of a ClusterTrustBundle, which an API server without the feature gate
	// ClusterTrustBundleProjection drops. None is for what the pod trusts anyway.
	CAData, CAConfigMap, CATrustBundle string
}

// Defaults are the settings without any flag. They lack a tenant.
func Defaults() Settings {
	return Settings{Environment: "AzurePublicCloud", Audience: "api://AzureADTokenExchange"}
}

// authorityHosts are where Microsoft Entra ID is, by the name of the environment in
// small letters. Microsoft: "National clouds", Microsoft Entra authentication
// endpoints. The short names are those of the Azure CLI.
var authorityHosts = map[string]string{
	"azurepubliccloud":       "https://login.microsoftonline.com/",
	"azurecloud":             "https://login.microsoftonline.com/",
	"azureusgovernmentcloud": "https://login.microsoftonline.us/",
	"azureusgovernment":      "https://login.microsoftonline.us/",
	"azurechinacloud":        "https://login.chinacloudapi.cn/",
}

// authorityHost is the one of the environment.
func (s Settings) authorityHost() string { return authorityHosts[strings.ToLower(s.Environment)] }

// check names the setting that is wrong, by the flag of tabard webhook.
func (s Settings) check() error {
	switch {
	case strings.TrimSpace(s.TenantID) == "":
		return errors.New("--azure-tenant-id is empty, and AZURE_TENANT_ID is not set: expected the ID of the tenant of ServiceAccounts that name none")
	case s.authorityHost() == "":
		return fmt.Errorf("--azure-environment is %q, expected AzurePublicCloud, AzureUSGovernmentCloud or AzureChinaCloud", s.Environment)
	case s.Audience == "":
		return errors.New("--azure-audience is empty, expected one such as api://AzureADTokenExchange: a token without an audience is one for the API server")
	case s.CustomTokenEndpoint == nil:
		return nil
	}
	return s.CustomTokenEndpoint.check()
}

func (e CustomTokenEndpoint) check() error {
	switch {
	case len(validation.IsQualifiedName(annotationPrefix+usePrefix+e.AnnotationSuffix)) > 0:
		return fmt.Errorf("--custom-token-endpoint-annotation-suffix is %q, expected what completes the name of an annotation", e.AnnotationSuffix)
	case e.Audience == "":
		return errors.New("--custom-token-endpoint-audience is empty, expected that of the tokens which it takes")
	case !isEndpoint(e.TokenProxy):
		return fmt.Errorf("--custom-token-endpoint-token-proxy is %q, expected an https URL without user, query and fragment", e.TokenProxy)
	case e.SNIName != "" && len(validation.IsDNS1123Subdomain(e.SNIName)) > 0:
		return fmt.Errorf("--custom-token-endpoint-sni-name is %q, expected a DNS name", e.SNIName)
	case e.authorities() > 1:
		return errors.New("several of --custom-token-endpoint-ca-data, --custom-token-endpoint-ca-config-map and --custom-token-endpoint-ca-trust-bundle are set, expected one")
	case e.CAData != "" && !areCertificates(e.CAData):
		return errors.New("--custom-token-endpoint-ca-data is not made of certificates in PEM")
	case e.CAConfigMap != "" && len(validation.IsDNS1123Subdomain(e.CAConfigMap)) > 0:
		return fmt.Errorf("--custom-token-endpoint-ca-config-map is %q, expected the name of one", e.CAConfigMap)
	case e.CATrustBundle != "" && !isTrustBundleName(e.CATrustBundle):
		return fmt.Errorf("--custom-token-endpoint-ca-trust-bundle is %q, expected the name of one", e.CATrustBundle)
	}
	return nil
}

// authorities is in how many ways the CA is given.
func (e CustomTokenEndpoint) authorities() int {
	count := 0
	for _, way := range []string{e.CAData, e.CAConfigMap, e.CATrustBundle} {
		if way != "" {
			count++
		}
	}
	return count
}

// isEndpoint says what the Azure SDKs accept as a token proxy.
func isEndpoint(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.Scheme == "https" && at.Hostname() != "" && at.User == nil &&
		at.RawQuery == "" && !at.ForceQuery && at.Fragment == ""
}

// areCertificates says that a text is one certificate or more, and nothing else.
func areCertificates(text string) bool {
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		if strings.TrimSpace(string(rest)) == "" {
			return true
		}
	}
}

// isTrustBundleName accepts the name of a ClusterTrustBundle: with a signer, its
// name and a colon come first, with a colon for each slash.
func isTrustBundleName(name string) bool {
	for part := range strings.SplitSeq(name, ":") {
		if len(validation.IsDNS1123Subdomain(part)) > 0 {
			return false
		}
	}
	return true
}
