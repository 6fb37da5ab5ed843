package inject_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Settings that FuzzInjectAzure turns on, one bit each.
const (
	fuzzUnknownAccount = 1 << iota
	fuzzEndpoint
	fuzzConfigMap
	fuzzTrustBundle
)

// FuzzInjectAzure demands of Azure's injector what FuzzInject demands of AWS's.
func FuzzInjectAzure(f *testing.F) {
	for _, text := range seeds(f) {
		for _, on := range []uint8{0, fuzzUnknownAccount, fuzzEndpoint, fuzzEndpoint | fuzzConfigMap} {
			f.Add(text, "11111111-0000-0000-0000-000000000000", "", "3600", on)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, client, tenant, expiration string, on uint8) {
		settings := newSetup().Azure
		if on&fuzzEndpoint != 0 {
			settings.CustomTokenEndpoint = &azure.CustomTokenEndpoint{
				AnnotationSuffix: "identity-binding", Audience: "api://binding", TokenProxy: "https://10.0.0.1:8443",
			}
			switch {
			case on&fuzzConfigMap != 0:
				settings.CustomTokenEndpoint.CAConfigMap = "token-proxy"
			case on&fuzzTrustBundle != 0:
				settings.CustomTokenEndpoint.CATrustBundle = "token-proxy"
			}
		}
		injector := must.Get(azure.New(settings))(t)
		subject := inject.Subject{Namespace: "shop"}
		if on&fuzzUnknownAccount == 0 {
			subject.Account = &inject.ServiceAccount{Annotations: map[string]string{
				"azure.workload.identity/client-id":                        client,
				"azure.workload.identity/tenant-id":                        tenant,
				"azure.workload.identity/service-account-token-expiration": expiration,
			}}
		}
		checkInjection(t, injector, subject, text, azureAllowed)
	})
}

// provider is a workload identity provider.
const provider = "projects/123456/locations/global/workloadIdentityPools/tabard/providers/cluster"

// FuzzInjectGoogle demands of Google's injector what FuzzInject demands of AWS's.
func FuzzInjectGoogle(f *testing.F) {
	for _, text := range seeds(f) {
		for _, mode := range []string{"", "direct", "gcloud"} {
			f.Add(text, provider, "app@shop.iam.gserviceaccount.com", "3600", mode)
		}
	}
	settings := gcp.Defaults()
	settings.Region = "europe-west1"
	injector := must.Get(gcp.New(settings))(f)
	f.Fuzz(func(t *testing.T, text []byte, provider, email, expiration, mode string) {
		subject := inject.Subject{Namespace: "shop", Account: &inject.ServiceAccount{Annotations: map[string]string{
			"cloud.google.com/workload-identity-provider": provider,
			"cloud.google.com/service-account-email":      email,
			"cloud.google.com/token-expiration":           expiration,
			"cloud.google.com/injection-mode":             mode,
			"cloud.google.com/project":                    mode,
		}}}
		checkInjection(t, injector, subject, text, googleAllowed)
	})
}

// FuzzInjectAllClouds takes any pod through all three injectors twice: the second
// time none of them may change anything.
func FuzzInjectAllClouds(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	given := newSetup()
	given.Clouds = []string{"aws", "azure", "gcp"}
	given.Settings.Region, given.Google.Mode = "us-west-2", gcp.Gcloud
	given.Annotations = map[string]string{
		"eks.amazonaws.com/role-arn":                  roleARN,
		"cloud.google.com/workload-identity-provider": provider,
	}
	clouds := given.clouds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		pod := canonical(text)
		for _, each := range clouds {
			if result, err := each.decide(given, pod); err == nil {
				pod = apply(t, pod, result.Patch)
			}
		}
		for _, each := range clouds {
			if again, err := each.decide(given, pod); err == nil && again.Patch != nil {
				t.Errorf("injected again for %s: patch %s", each.name, again.Patch)
			}
		}
	})
}
