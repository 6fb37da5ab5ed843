package azure_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func settings() azure.Settings {
	s := azure.Defaults()
	s.TenantID = "22222222-0000-0000-0000-000000000000"
	return s
}

// read is an injector and a pod of metadata and spec.
func read(t *testing.T, text string) (*azure.Injector, inject.Pod) {
	t.Helper()
	injector := must.Get(azure.New(settings()))(t)
	object := must.Get(raw.Parse([]byte(text)))(t)
	pod := must.Get(inject.Read(object))(t)
	return injector, pod
}

func TestNewRefusesSettings(t *testing.T) {
	t.Parallel()
	endpoint := func(change func(*azure.CustomTokenEndpoint)) func(*azure.Settings) {
		return func(s *azure.Settings) {
			s.CustomTokenEndpoint = &azure.CustomTokenEndpoint{
				AnnotationSuffix: "binding", Audience: "api://binding", TokenProxy: "https://10.0.0.1", CAConfigMap: "ca",
			}
			change(s.CustomTokenEndpoint)
		}
	}
	tests := map[string]struct {
		change func(*azure.Settings)
		want   string // empty for settings that are right
	}{
		"the defaults with a tenant":     {func(*azure.Settings) {}, ""},
		"without a tenant":               {func(s *azure.Settings) { s.TenantID = " " }, "--azure-tenant-id is empty"},
		"without an environment":         {func(s *azure.Settings) { s.Environment = "" }, `--azure-environment is ""`},
		"with an unknown environment":    {func(s *azure.Settings) { s.Environment = "AzureGermanCloud" }, `--azure-environment is "AzureGermanCloud"`},
		"without an audience":            {func(s *azure.Settings) { s.Audience = "" }, "--azure-audience is empty"},
		"with an endpoint":               {endpoint(func(*azure.CustomTokenEndpoint) {}), ""},
		"with an endpoint without CA":    {endpoint(func(e *azure.CustomTokenEndpoint) { e.CAConfigMap = "" }), ""},
		"without an annotation suffix":   {endpoint(func(e *azure.CustomTokenEndpoint) { e.AnnotationSuffix = "" }), `--custom-token-endpoint-annotation-suffix is ""`},
		"with a suffix that is none":     {endpoint(func(e *azure.CustomTokenEndpoint) { e.AnnotationSuffix = "a b" }), `--custom-token-endpoint-annotation-suffix is "a b"`},
		"without the endpoint's":         {endpoint(func(e *azure.CustomTokenEndpoint) { e.Audience = "" }), "--custom-token-endpoint-audience is empty"},
		"without a token proxy":          {endpoint(func(e *azure.CustomTokenEndpoint) { e.TokenProxy = "" }), `--custom-token-endpoint-token-proxy is ""`},
		"with a proxy in the clear":      {endpoint(func(e *azure.CustomTokenEndpoint) { e.TokenProxy = "http://a" }), "--custom-token-endpoint-token-proxy is"},
		"with a proxy without a host":    {endpoint(func(e *azure.CustomTokenEndpoint) { e.TokenProxy = "https://:1" }), "--custom-token-endpoint-token-proxy is"},
		"with a user at the proxy":       {endpoint(func(e *azure.CustomTokenEndpoint) { e.TokenProxy = "https://u:p@a" }), "--custom-token-endpoint-token-proxy is"},
		"with a query to the proxy":      {endpoint(func(e *azure.CustomTokenEndpoint) { e.TokenProxy = "https://a?" }), "--custom-token-endpoint-token-proxy is"},
		"with a name that is none":       {endpoint(func(e *azure.CustomTokenEndpoint) { e.SNIName = "a_b" }), "--custom-token-endpoint-sni-name is"},
		"with two authorities":           {endpoint(func(e *azure.CustomTokenEndpoint) { e.CATrustBundle = "b" }), "several of --custom-token-endpoint-ca-data"},
		"with a config map that is none": {endpoint(func(e *azure.CustomTokenEndpoint) { e.CAConfigMap = "a/b" }), "--custom-token-endpoint-ca-config-map is"},
		"with a bundle that is none": {endpoint(func(e *azure.CustomTokenEndpoint) {
			e.CAConfigMap, e.CATrustBundle = "", "a:"
		}), "--custom-token-endpoint-ca-trust-bundle is"},
		"with CA data that is none": {endpoint(func(e *azure.CustomTokenEndpoint) {
			e.CAConfigMap, e.CAData = "", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
		}), "--custom-token-endpoint-ca-data is not made of certificates"},
		"with a key as CA data": {endpoint(func(e *azure.CustomTokenEndpoint) {
			e.CAConfigMap, e.CAData = "", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
		}), "--custom-token-endpoint-ca-data is not made of certificates"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := settings()
			test.change(&changed)
			switch _, err := azure.New(changed); {
			case test.want == "" && err != nil:
				t.Errorf("error %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestDefaultsNeedATenant(t *testing.T) {
	t.Parallel()
	if _, err := azure.New(azure.Defaults()); err == nil {
		t.Error("no error")
	}
}

func TestAccountName(t *testing.T) {
	t.Parallel()
	const labels = `"metadata":{"labels":{"azure.workload.identity/use":"true"}}`
	for name, test := range map[string]struct{ pod, want string }{
		"of a pod that has not opted in": {`{"spec":{"serviceAccountName":"app"}}`, ""},
		"of a pod that says no":          {`{"metadata":{"labels":{"azure.workload.identity/use":"false"}},"spec":{"serviceAccountName":"app"}}`, ""},
		"of a pod that has":              {`{` + labels + `,"spec":{"serviceAccountName":"app"}}`, "app"},
		"of a pod that names none":       {`{` + labels + `,"spec":{}}`, "default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			injector, pod := read(t, test.pod)
			if got := injector.AccountName(pod); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestRefusals are the cases in which a pod must not run: without its identity, or
// with a token of another life than it asks for.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const expiration = "azure.workload.identity/service-account-token-expiration"
	account := func(seconds string) *inject.ServiceAccount {
		return &inject.ServiceAccount{Annotations: map[string]string{expiration: seconds}}
	}
	tests := map[string]struct {
		account *inject.ServiceAccount
		pod     string // the expiration that the pod asks for
		want    inject.Reason
	}{
		"the ServiceAccount is missing": {nil, "", inject.UnknownServiceAccount},
		"too short by one second":       {account(""), "3599", inject.BadAnnotation},
		"too long by one second":        {account(""), "86401", inject.BadAnnotation},
		"negative":                      {account(""), "-3600", inject.BadAnnotation},
		"a fraction":                    {account(""), "3600.5", inject.BadAnnotation},
		"with a blank":                  {account(""), " 3600", inject.BadAnnotation},
		"larger than any number":        {account(""), "99999999999999999999", inject.BadAnnotation},
		"a text":                        {account(""), "an hour\\nor two", inject.BadAnnotation},
		"the ServiceAccount's":          {account("0"), "", inject.BadAnnotation},
		"the shortest":                  {account("0"), "3600", ""},
		"the longest":                   {account("0"), "86400", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			injector, pod := read(t, `{"metadata":{"labels":{"azure.workload.identity/use":"true"},"annotations":{"`+expiration+`":"`+test.pod+`"}},"spec":{"containers":[{}]}}`)
			result, err := injector.Inject(pod, inject.Subject{Account: test.account})
			refusal, refused := errors.AsType[*inject.Refusal](err)
			switch {
			case test.want == "":
				if err != nil || result.Patch == nil {
					t.Errorf("error %v, patch %s", err, result.Patch)
				}
			case !refused || refusal.Reason != test.want:
				t.Errorf("error %v, want the reason %s", err, test.want)
			case result.Patch != nil || strings.ContainsAny(refusal.Message, "\n"):
				t.Errorf("patch %s, message %q", result.Patch, refusal.Message)
			}
		})
	}
}

func TestWhatIsNoPodIsNotRefusedByThePolicy(t *testing.T) {
	t.Parallel()
	injector, pod := read(t, `{"metadata":{"labels":{"azure.workload.identity/use":"true"}},"spec":{"containers":[1]}}`)
	_, err := injector.Inject(pod, inject.Subject{Account: &inject.ServiceAccount{}})
	if _, refused := errors.AsType[*inject.Refusal](err); err == nil || refused {
		t.Errorf("error %v, want that of a pod that is none", err)
	}
}

// TestNothingIsIgnoredInSilence: of what the webhook reads, a warning says what does not
// count as it is written.
func TestNothingIsIgnoredInSilence(t *testing.T) {
	t.Parallel()
	const prefix = "azure.workload.identity/"
	const optedIn = `"labels":{"azure.workload.identity/use":"true"}`
	annotated := func(name string) string { return optedIn + `,"annotations":{"` + prefix + name + `":"x"}` }
	tests := map[string]struct {
		metadata, account, says string
	}{
		"a client ID on the pod":             {annotated("client-id"), "", "annotation azure.workload.identity/client-id of the pod does not count: write it on the ServiceAccount"},
		"a misspelt annotation of the pod":   {annotated("skip-container"), "", "did you mean azure.workload.identity/skip-containers?"},
		"no container to skip":               {annotated("skip-containers"), "", `annotation azure.workload.identity/skip-containers names "x", which is no container of the pod`},
		"a port of no proxy":                 {annotated("proxy-sidecar-port"), "", "annotation azure.workload.identity/proxy-sidecar-port does not count"},
		"an endpoint that there is not":      {annotated("use-binding"), "", "annotation azure.workload.identity/use-binding of the pod does not count: the webhook has no token endpoint of that name"},
		"a misspelt one of the account":      {optedIn, "clientid", `ServiceAccount "default" has the annotation azure.workload.identity/clientid, which does not count: did you mean azure.workload.identity/client-id?`},
		"the pod's one on the account":       {optedIn, "skip-containers", "which counts on pods only"},
		"an annotation instead of the label": {`"annotations":{"azure.workload.identity/use":"true"}`, "", "annotation azure.workload.identity/use of the pod does not count: it is a label"},
		"a label that says no":               {`"labels":{"azure.workload.identity/use":"false"}`, "", ""},
		"no label":                           {`"labels":{"app":"x"}`, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			injector, pod := read(t, `{"metadata":{`+test.metadata+`},"spec":{"containers":[{"name":"a"}]}}`)
			account := &inject.ServiceAccount{Annotations: map[string]string{prefix + "client-id": "11111111-0000-0000-0000-000000000000"}}
			if test.account != "" {
				account.Annotations[prefix+test.account] = "x"
			}
			warnings := must.Get(injector.Inject(pod, inject.Subject{Account: account}))(t).Warnings
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, test.says) || test.says == "" && got != "" {
				t.Errorf("the warnings are %q, want %q", got, test.says)
			}
		})
	}
}
