package gcp

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Characters of names at Google Cloud.
const (
	digits  = "0123456789"
	idRunes = "abcdefghijklmnopqrstuvwxyz-" + digits
)

// Limits of the ID of a workload identity pool or provider. Google Cloud: IAM API,
// projects.locations.workloadIdentityPools.create.
const minID, maxID = 4, 32

// isProvider says whether a text is the resource name of a workload identity
// provider:
// projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER.
func isProvider(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) == 8 &&
		parts[0] == "projects" && parts[1] != "" && consistsOf(parts[1], digits) &&
		parts[2] == "locations" && parts[3] == "global" &&
		parts[4] == "workloadIdentityPools" && isID(parts[5]) &&
		parts[6] == "providers" && isID(parts[7])
}

func isID(text string) bool {
	return len(text) >= minID && len(text) <= maxID && consistsOf(text, idRunes)
}

// isServiceAccount says whether a text is the e-mail address of a service account
// of the universe.
func isServiceAccount(email, universe string) bool {
	name, domain, ok := strings.Cut(email, "@")
	return ok && name != "" && consistsOf(name, idRunes) &&
		len(validation.IsDNS1123Subdomain(domain)) == 0 &&
		(universe != defaultUniverse || strings.HasSuffix(domain, ".gserviceaccount.com"))
}

// consistsOf says that a text has no other characters than these.
func consistsOf(text, runes string) bool { return strings.Trim(text, runes) == "" }

// credential is a credential file of Google's client libraries. It holds no
// secret. Google Cloud: AIP-4117, "External Account Credentials".
type credential struct {
	Type             string         `json:"type"`
	Audience         string         `json:"audience"`
	SubjectTokenType string         `json:"subject_token_type"`
	TokenURL         string         `json:"token_url"`
	Source           source         `json:"credential_source"`
	ImpersonationURL string         `json:"service_account_impersonation_url,omitempty"`
	Impersonation    *impersonation `json:"service_account_impersonation,omitempty"`
	UniverseDomain   string         `json:"universe_domain,omitempty"`
}

// source is where the client libraries find the token.
type source struct {
	File   string `json:"file"`
	Format format `json:"format"`
}

type format struct {
	Type string `json:"type"`
}

// impersonation is about the access tokens of a service account.
type impersonation struct {
	LifetimeSeconds int64 `json:"token_lifetime_seconds"`
}

// credentialText is the credential file of a pod, for a service account if there
// is one, else for the pod's own principal.
func (in *Injector) credentialText(provider, email string) (string, error) {
	universe := in.settings.UniverseDomain
	file := credential{
		Type:             "external_account",
		Audience:         "//iam.googleapis.com/" + provider,
		SubjectTokenType: "urn:ietf:params:oauth:token-type:jwt",
		TokenURL:         "https://sts." + universe + "/v1/token",
		Source:           source{File: tokenMount + "/" + tokenFile, Format: format{"text"}},
	}
	if email != "" {
		file.ImpersonationURL = "https://iamcredentials." + universe + "/v1/projects/-/serviceAccounts/" + email + ":generateAccessToken"
		if in.settings.AccessTokenLifetime != 0 {
			file.Impersonation = &impersonation{in.settings.AccessTokenLifetime}
		}
	}
	if universe != defaultUniverse {
		file.UniverseDomain = universe
	}
	text, err := json.Marshal(file)
	return string(text), err
}
