package gcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	provider = "projects/123456/locations/global/workloadIdentityPools/tabard/providers/cluster"
	email    = "app@shop.iam.gserviceaccount.com"
	bare     = `{"metadata":{"name":"app"},"spec":{"serviceAccountName":"app","containers":[{"name":"app"}]}}`
)

func injected(t *testing.T, settings gcp.Settings, pod string, annotations map[string]string) inject.Result {
	t.Helper()
	injector := must.Get(gcp.New(settings))(t)
	object := must.Get(raw.Parse([]byte(pod)))(t)
	read := must.Get(inject.Read(object))(t)
	result := must.Get(injector.Inject(read, inject.Subject{Namespace: "shop", Account: &inject.ServiceAccount{Annotations: annotations}}))(t)
	return result
}

func TestNewRefusesSettings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*gcp.Settings)
		want   string // empty for settings that are right
	}{
		"the defaults":                  {func(*gcp.Settings) {}, ""},
		"without a prefix":              {func(s *gcp.Settings) { s.AnnotationPrefix = "" }, `--gcp-annotation-prefix is ""`},
		"with a prefix that is none":    {func(s *gcp.Settings) { s.AnnotationPrefix = "a/b" }, `--gcp-annotation-prefix is "a/b"`},
		"without an audience":           {func(s *gcp.Settings) { s.Audience = "" }, "--gcp-token-audience is empty"},
		"with a short life":             {func(s *gcp.Settings) { s.TokenExpiration = 599 }, "--gcp-token-expiration is 599"},
		"with a long life":              {func(s *gcp.Settings) { s.TokenExpiration = 86401 }, "--gcp-token-expiration is 86401"},
		"with a mode that is none":      {func(s *gcp.Settings) { s.TokenFileMode = 0o1000 }, "--gcp-token-default-mode is 01000"},
		"with a negative mode":          {func(s *gcp.Settings) { s.TokenFileMode = -1 }, "--gcp-token-default-mode is -01"},
		"with an unknown mode":          {func(s *gcp.Settings) { s.Mode = "sidecar" }, `--gcp-default-injection-mode is "sidecar"`},
		"without a mode":                {func(s *gcp.Settings) { s.Mode = "" }, `--gcp-default-injection-mode is ""`},
		"without a universe":            {func(s *gcp.Settings) { s.UniverseDomain = "" }, `--gcp-universe-domain is ""`},
		"with a path in the universe":   {func(s *gcp.Settings) { s.UniverseDomain = "a.com/x" }, `--gcp-universe-domain is "a.com/x"`},
		"with short access tokens":      {func(s *gcp.Settings) { s.AccessTokenLifetime = 599 }, "--gcp-access-token-lifetime is 599"},
		"with long access tokens":       {func(s *gcp.Settings) { s.AccessTokenLifetime = 43201 }, "--gcp-access-token-lifetime is 43201"},
		"with the longest access token": {func(s *gcp.Settings) { s.AccessTokenLifetime = 43200 }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := gcp.Defaults()
			test.change(&settings)
			switch _, err := gcp.New(settings); {
			case test.want == "" && err != nil:
				t.Errorf("error %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name string
		want bool
	}{
		"a provider":                     {provider, true},
		"of the longest IDs":             {"projects/1/locations/global/workloadIdentityPools/" + strings.Repeat("a", 32) + "/providers/" + strings.Repeat("0", 32), true},
		"a project by its name":          {strings.Replace(provider, "123456", "shop", 1), false},
		"no project":                     {strings.Replace(provider, "123456", "", 1), false},
		"another location":               {strings.Replace(provider, "global", "europe-west1", 1), false},
		"a pool of three letters":        {strings.Replace(provider, "tabard", "tab", 1), false},
		"a pool of capitals":             {strings.Replace(provider, "tabard", "TABARD", 1), false},
		"a provider of 33 letters":       {strings.Replace(provider, "cluster", strings.Repeat("a", 33), 1), false},
		"a pool alone":                   {"projects/1/locations/global/workloadIdentityPools/tabard", false},
		"the audience of the provider":   {"//iam.googleapis.com/" + provider, false},
		"a slash more":                   {provider + "/", false},
		"a quote":                        {provider + `"`, false},
		"a workforce pool":               {"locations/global/workforcePools/tabard/providers/cluster", false},
		"another kind beside a provider": {strings.Replace(provider, "workloadIdentityPools", "pools", 1), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := injected(t, gcp.Defaults(), bare, map[string]string{"cloud.google.com/workload-identity-provider": test.name})
			checkIdentity(t, result, test.want)
		})
	}
}

func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	const sovereign = "apis.example.cloud"
	tests := map[string]struct {
		email, universe string
		want            bool
	}{
		"none":                         {"", "", true},
		"of a project":                 {email, "", true},
		"of Compute Engine":            {"123456-compute@developer.gserviceaccount.com", "", true},
		"of a project of a domain":     {"app@shop.example.com.iam.gserviceaccount.com", "", true},
		"of a person":                  {"app@example.com", "", false},
		"of a sovereign cloud":         {"app@shop.eu0.iam.example", sovereign, true},
		"without a name":               {"@shop.iam.gserviceaccount.com", "", false},
		"without a domain":             {"app", sovereign, false},
		"of two addresses":             {email + "," + email, "", false},
		"with a path":                  {"a/../b@shop.iam.gserviceaccount.com", "", false},
		"with a query after it":        {email + "?x=.gserviceaccount.com", "", false},
		"with a query, sovereign":      {"app@shop.example?x", sovereign, false},
		"with a blank":                 {" " + email, "", false},
		"with a percent sign":          {"a%2Fb@shop.iam.gserviceaccount.com", "", false},
		"of a domain that looks alike": {"app@shop.evilgserviceaccount.com", "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := gcp.Defaults()
			if test.universe != "" {
				settings.UniverseDomain = test.universe
			}
			checkIdentity(t, injected(t, settings, bare, map[string]string{
				"cloud.google.com/workload-identity-provider": provider,
				"cloud.google.com/service-account-email":      test.email,
			}), test.want)
		})
	}
}

// checkIdentity demands the identity, or none and a warning.
func checkIdentity(t *testing.T, result inject.Result, want bool) {
	t.Helper()
	reason := inject.Injected
	if !want {
		reason = inject.BadAnnotation
	}
	if result.Reason != reason || (result.Patch != nil) != want || (len(result.Warnings) == 0) != want {
		t.Errorf("reason %s, warnings %q, patch %s, want %s", result.Reason, result.Warnings, result.Patch, reason)
	}
}

// TestCredentialFile reads the file as a client library does, from the annotation
// of the patched pod.
func TestCredentialFile(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*gcp.Settings)
		email  string
		want   string
	}{
		"of a service account": {
			func(*gcp.Settings) {}, email,
			`{"type":"external_account","audience":"//iam.googleapis.com/` + provider + `",
			  "subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"https://sts.googleapis.com/v1/token",
			  "credential_source":{"file":"/var/run/secrets/sts.googleapis.com/serviceaccount/token","format":{"type":"text"}},
			  "service_account_impersonation_url":"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/` + email + `:generateAccessToken"}`,
		},
		"of the pod's own principal": {
			func(s *gcp.Settings) { s.AccessTokenLifetime = 1800 }, "",
			`{"type":"external_account","audience":"//iam.googleapis.com/` + provider + `",
			  "subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"https://sts.googleapis.com/v1/token",
			  "credential_source":{"file":"/var/run/secrets/sts.googleapis.com/serviceaccount/token","format":{"type":"text"}}}`,
		},
		"with all that there is": {
			func(s *gcp.Settings) { s.AccessTokenLifetime, s.UniverseDomain = 1800, "apis.example.cloud" }, "app@shop.iam.example",
			`{"type":"external_account","audience":"//iam.googleapis.com/` + provider + `",
			  "subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"https://sts.apis.example.cloud/v1/token",
			  "credential_source":{"file":"/var/run/secrets/sts.googleapis.com/serviceaccount/token","format":{"type":"text"}},
			  "service_account_impersonation_url":"https://iamcredentials.apis.example.cloud/v1/projects/-/serviceAccounts/app@shop.iam.example:generateAccessToken",
			  "service_account_impersonation":{"token_lifetime_seconds":1800},"universe_domain":"apis.example.cloud"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := gcp.Defaults()
			test.change(&settings)
			result := injected(t, settings, bare, map[string]string{
				"cloud.google.com/workload-identity-provider": provider,
				"cloud.google.com/service-account-email":      test.email,
			})
			if diff := cmp.Diff(decode(t, test.want), decode(t, credentialFile(t, result.Patch))); diff != "" {
				t.Errorf("credential file (-want +got):\n%s", diff)
			}
		})
	}
}

// credentialFile is the file in the pod after a patch.
func credentialFile(t *testing.T, text []byte) string {
	t.Helper()
	patch := must.Get(jsonpatch.DecodePatch(text))(t)
	after := must.Get(patch.Apply([]byte(bare)))(t)
	var pod struct {
		Metadata struct{ Annotations map[string]string }
	}
	must.Do(t, json.Unmarshal(after, &pod))
	return pod.Metadata.Annotations["cloud.google.com/external-credentials-json"]
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// TestNothingIsIgnoredInSilence: of what the webhook reads, a warning says what does not
// count as it is written.
func TestNothingIsIgnoredInSilence(t *testing.T) {
	t.Parallel()
	const prefix = "cloud.google.com/"
	tests := map[string]struct {
		account, value, pod, says string
		noProvider                bool
	}{
		"hours":                          {account: "token-expiration", value: "1h", says: `ServiceAccount "app": annotation cloud.google.com/token-expiration is "1h", expected whole seconds, 600 or more: write "3600"; it does not count`},
		"too many seconds":               {account: "token-expiration", value: "90000", says: "at most 86400, which counts"},
		"too few seconds":                {account: "token-expiration", value: "5", says: "600 counts"},
		"a misspelt annotation":          {account: "service-account-mail", value: email, says: "did you mean cloud.google.com/service-account-email?"},
		"no provider":                    {account: "project", value: "shop", noProvider: true, says: "has the annotation cloud.google.com/project and no cloud.google.com/workload-identity-provider: the pod gets no Google Cloud identity"},
		"a user of no container":         {account: "gcloud-run-as-user", value: "1000", says: "annotation cloud.google.com/gcloud-run-as-user does not count"},
		"a mode that there is not":       {account: "injection-mode", value: "both", says: "expected direct or gcloud"},
		"hours of the pod":               {pod: "token-expiration", value: "2h", says: `annotation cloud.google.com/token-expiration is "2h", expected whole seconds, 600 or more: write "7200"`},
		"no container to skip":           {pod: "skip-containers", value: "sidecar", says: `names "sidecar", which is no container of the pod`},
		"the ServiceAccount's":           {pod: "workload-identity-provider", value: provider, says: "of the pod does not count: write it on the ServiceAccount"},
		"what means something elsewhere": {pod: "neg", value: "x"},
		"the same on the ServiceAccount": {account: "neg-status", value: "x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			annotations := map[string]string{prefix + "workload-identity-provider": provider}
			if test.noProvider {
				annotations = map[string]string{}
			}
			pod := bare
			if test.account != "" {
				annotations[prefix+test.account] = test.value
			} else {
				pod = strings.Replace(bare, `"name":"app"}`, `"name":"app","annotations":{"`+prefix+test.pod+`":"`+test.value+`"}}`, 1)
			}
			warnings := strings.Join(injected(t, gcp.Defaults(), pod, annotations).Warnings, "\n")
			if !strings.Contains(warnings, test.says) || test.says == "" && warnings != "" {
				t.Errorf("the warnings are %q, want %q", warnings, test.says)
			}
		})
	}
}
