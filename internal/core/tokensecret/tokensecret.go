// Package tokensecret says what a Secret holds from which the SDK of a cloud learns which
// identity to become with the pod's token: nothing in it is secret. The formats are those
// of the Cloud Credential Operator, to the byte.
package tokensecret

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Keys of the Secrets' data.
const (
	KeyAWS    = "credentials"
	KeyGoogle = "service_account.json"
)

// StaticKeys are the keys of a Secret whose values do not expire, sorted.
var StaticKeys = []string{"aws_access_key_id", "aws_secret_access_key"}

// azureTokenFile is the key with the path of the token.
const azureTokenFile = "azure_federated_token_file"

// Keys are all keys that this package writes, sorted.
func Keys() []string {
	out := []string{KeyAWS, KeyGoogle, azureTokenFile}
	for _, field := range (Azure{}).fields() {
		out = append(out, field.key)
	}
	slices.Sort(out)
	return out
}

// CheckTokenPath says what is wrong with the path of a token: it stands in a file that
// SDKs read line by line, so that one with a newline would add settings to it.
func CheckTokenPath(text string) error {
	if !path.IsAbs(text) || path.Clean(text) != text || text == "/" || !isPlain(text) {
		return fmt.Errorf("the token's path is %q, expected an absolute path of a file, without blanks, control characters, # and ;", text)
	}
	return nil
}

// isPlain says that a text has neither blanks nor what means something in an INI file.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == '#' || r == ';'
	})
}

// AWS is the data of a Secret for AWS SDKs: four lines, without a newline at the end. The
// caller has checked that roleARN is the ARN of a role.
func AWS(roleARN, tokenPath string) (map[string]string, error) {
	if err := CheckTokenPath(tokenPath); err != nil {
		return nil, err
	}
	if !isPlain(roleARN) {
		return nil, fmt.Errorf("the role is %q, expected an ARN", roleARN)
	}
	lines := []string{"[default]", "sts_regional_endpoints = regional", "role_arn = " + roleARN, "web_identity_token_file = " + tokenPath}
	return map[string]string{KeyAWS: strings.Join(lines, "\n")}, nil
}

// Azure is an identity in Azure.
type Azure struct{ ClientID, TenantID, Region, SubscriptionID string }

type field struct{ key, name, value string }

func (a Azure) fields() []field {
	return []field{
		{"azure_client_id", "azureClientID", a.ClientID},
		{"azure_tenant_id", "azureTenantID", a.TenantID},
		{"azure_region", "azureRegion", a.Region},
		{"azure_subscription_id", "azureSubscriptionID", a.SubscriptionID},
	}
}

// Missing are the names of the fields that are empty: all of them where there is no
// identity.
func (a Azure) Missing() []string {
	var out []string
	for _, f := range a.fields() {
		if f.value == "" {
			out = append(out, f.name)
		}
	}
	return out
}

// IsZero says that there is no identity.
func (a Azure) IsZero() bool { return a == Azure{} }

// Data is the data of a Secret for Azure's SDKs: five keys.
func (a Azure) Data(tokenPath string) (map[string]string, error) {
	if err := CheckTokenPath(tokenPath); err != nil {
		return nil, err
	}
	if missing := a.Missing(); len(missing) > 0 {
		return nil, fmt.Errorf("these fields are empty: %s", strings.Join(missing, ", "))
	}
	out := map[string]string{azureTokenFile: tokenPath}
	for _, f := range a.fields() {
		if !isPlain(f.value) {
			return nil, fmt.Errorf("%s is %q, expected no blanks and no control characters", f.name, f.value)
		}
		out[f.key] = f.value
	}
	return out, nil
}

// Google is an identity in Google Cloud. Universe is the domain of its services, empty
// for googleapis.com.
type Google struct{ ServiceAccountEmail, Audience, Universe string }

// Missing are the names of the fields that are empty.
func (g Google) Missing() []string {
	var out []string
	for _, f := range []field{{name: "serviceAccountEmail", value: g.ServiceAccountEmail}, {name: "audience", value: g.Audience}} {
		if f.value == "" {
			out = append(out, f.name)
		}
	}
	return out
}

var (
	// provider is the name of a workload identity provider, as Google's STS takes it for an
	// audience.
	provider = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^//iam\.googleapis\.com/projects/[0-9]+/locations/global/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+$`)
	})
	email  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$`) })
	domain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`) })
)

// external is a file of the type external_account, in the order of its members.
type external struct {
	Type             string           `json:"type"`
	Audience         string           `json:"audience"`
	SubjectTokenType string           `json:"subject_token_type"`
	TokenURL         string           `json:"token_url"`
	ImpersonationURL string           `json:"service_account_impersonation_url"`
	CredentialSource credentialSource `json:"credential_source"`
	Universe         string           `json:"universe_domain,omitempty"`
}

type credentialSource struct {
	File   string `json:"file"`
	Format format `json:"format"`
}

type format struct {
	Type string `json:"type"`
}

// Data is the data of a Secret for Google's SDKs: a file of the type external_account.
func (g Google) Data(tokenPath string) (map[string]string, error) {
	if err := CheckTokenPath(tokenPath); err != nil {
		return nil, err
	}
	universe := g.Universe
	if universe == "" {
		universe = "googleapis.com"
	}
	switch {
	case len(g.Missing()) > 0:
		return nil, fmt.Errorf("these fields are empty: %s", strings.Join(g.Missing(), ", "))
	case !provider().MatchString(g.Audience):
		return nil, fmt.Errorf("audience is %q, expected //iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER, and no https: before it", g.Audience)
	case !email().MatchString(g.ServiceAccountEmail):
		return nil, fmt.Errorf("serviceAccountEmail is %q, expected NAME@PROJECT.iam.gserviceaccount.com", g.ServiceAccountEmail)
	case !domain().MatchString(universe):
		return nil, fmt.Errorf("the universe domain is %q, expected a domain such as googleapis.com", universe)
	}
	text, err := json.Marshal(external{
		Type: "external_account", Audience: g.Audience, SubjectTokenType: "urn:ietf:params:oauth:token-type:jwt",
		TokenURL:         "https://sts." + universe + "/v1/token",
		ImpersonationURL: "https://iamcredentials." + universe + "/v1/projects/-/serviceAccounts/" + g.ServiceAccountEmail + ":generateAccessToken",
		CredentialSource: credentialSource{File: tokenPath, Format: format{Type: "text"}},
		Universe:         g.Universe,
	})
	return map[string]string{KeyGoogle: string(text)}, err
}
