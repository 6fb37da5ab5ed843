package issuer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestDecideOnTheProviders(t *testing.T) {
	second := func(change func(*issuer.ProviderState)) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) { change(&w.Providers[1]) }
	}
	faulty := func(f fault.Fault) func(*model, *issuer.World) {
		return second(func(p *issuer.ProviderState) {
			*p = issuer.ProviderState{Want: p.Want, Identity: p.Identity, AccountID: p.AccountID, ARN: p.ARN, Fault: &f}
		})
	}
	unwanted := func(policy v1alpha1.DeletionPolicy, trustedBy ...string) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			w.Issuer.Spec.DeletionPolicy = policy
			w.Issuer.Spec.Providers = w.Issuer.Spec.Providers[:1]
			w.Providers[1].Want, w.Providers[1].TrustedBy = nil, trustedBy
		}
	}
	none := spec(func(s *v1alpha1.OIDCIssuerSpec) { s.Providers = nil })
	runDecisions(t, map[string]decision{
		"none wanted and none made is fine": {func(m *model, w *issuer.World) {
			none(m, w)
			w.Issuer.Status.Providers, w.Providers = nil, nil
		}, nil, []string{publishedTrue, keysTrue, "ProviderReady True NotRequested", readyTrue}, "spec.providers is empty"},
		"one that is gone is made again": {second(func(p *issuer.ProviderState) { p.Exists, p.Owner = false, "" }),
			[]string{"Record", "CreateProvider"}, failing("ProviderReady", "False ProviderNotRegistered"), "account 444455556666: there is no arn:aws:iam::444455556666:oidc-provider/"},
		"nothing is registered before it can be fetched": {func(_ *model, w *issuer.World) {
			w.Providers[1].Exists = false
			w.Public.Keys = issuer.Fetch{Error: "no answer"}
		}, nil, []string{"IssuerPublished Unknown NotReachableFromHere", keysTrue, "ProviderReady Unknown WaitingForPublication", "Ready Unknown NotReachableFromHere"}, ""},
		"audiences of ours are mended": {second(func(p *issuer.ProviderState) { p.Audiences = []string{"old", "vault"} }),
			[]string{"AddAudience", "RemoveAudience"}, failing("ProviderReady", "False AudiencesDiffer"), `["old" "vault"], expected ["sts.amazonaws.com" "vault"]`},
		"audiences of others are not touched, the command is printed": {second(func(p *issuer.ProviderState) { p.Owner, p.Audiences = "", []string{"vault"} }),
			nil, failing("ProviderReady", "False ProviderNotOurs"), "aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn arn:aws:iam::444455556666:oidc-provider/tabard-demo.s3.eu-central-1.amazonaws.com --client-id sts.amazonaws.com"},
		"a provider of others that fits is fine": {second(func(p *issuer.ProviderState) {
			p.Owner, p.Audiences = "", []string{"more", "sts.amazonaws.com", "vault"}
		}),
			nil, healthy, ""},
		"a right is missing": {faulty(fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "GetOpenIDConnectProvider"}),
			nil, failing("ProviderReady", "False AccessDenied"), "iam:GetOpenIDConnectProvider is lacking"},
		"the role of the account cannot be had": {faulty(fault.Fault{Class: fault.Denied, Service: "STS", Operation: "AssumeRole", Code: "AccessDenied"}),
			nil, failing("ProviderReady", "False NotAuthenticated"), "may not become " + testRole},
		"AWS asks for less": {faulty(fault.Fault{Class: fault.Throttled, Service: "IAM", Operation: "GetOpenIDConnectProvider", Code: "Throttling"}),
			nil, failing("ProviderReady", "Unknown AWSUnavailable"), "account 444455556666: "},
		"two entries for one account": {second(func(p *issuer.ProviderState) { p.AccountID = testAccount }),
			nil, failing("ProviderReady", "False DuplicateAccount"), "make one of them"},
		"one of two that fails is named, False before Unknown": {func(_ *model, w *issuer.World) {
			w.Providers[0].Fault = &fault.Fault{Class: fault.Retry, Service: "IAM", Operation: "GetOpenIDConnectProvider"}
			w.Providers[1].Audiences = nil
		}, []string{"AddAudience", "AddAudience"}, failing("ProviderReady", "False AudiencesDiffer"), "; account " + testAccount + ": AWS did not answer"},
		"an entry that is no longer wanted is removed": {unwanted(v1alpha1.DeletionPolicyDelete),
			[]string{"DeleteProvider"}, failing("ProviderReady", "False ProviderUnwanted"), ""},
		"it is not removed while a role trusts it": {unwanted(v1alpha1.DeletionPolicyDelete, "app"),
			nil, failing("ProviderReady", "False ProviderTrusted"), "arn:aws:iam::444455556666:oidc-provider/tabard-demo.s3.eu-central-1.amazonaws.com: app;"},
		"it stays where all is retained": {unwanted(v1alpha1.DeletionPolicyRetain), nil, healthy, ""},
		"it stays where all is retained and nobody can look": {func(m *model, w *issuer.World) {
			unwanted(v1alpha1.DeletionPolicyRetain)(m, w)
			w.Providers[1].Exists, w.Providers[1].Fault = false, &fault.Fault{Class: fault.Denied, Service: "STS", Operation: "AssumeRole"}
		}, nil, healthy, ""},
	})
}

func TestWhatStatusKeepsOfProviders(t *testing.T) {
	tests := map[string]struct {
		change func(*issuer.World)
		want   []string
	}{
		"both, in a healthy world":              {func(*issuer.World) {}, []string{testAccount + " true", "444455556666 true"}},
		"one that cannot be seen":               {func(w *issuer.World) { w.Providers[1].Fault = &fault.Fault{Class: fault.Denied} }, []string{testAccount + " true", "444455556666 true"}},
		"one that is somebody else's now":       {func(w *issuer.World) { w.Providers[1].Owner = "" }, []string{testAccount + " true", "444455556666 false"}},
		"one that is unwanted and not yet gone": {func(w *issuer.World) { w.Providers[1].Want = nil }, []string{testAccount + " true", "444455556666 true"}},
		"one that is unwanted and stays": {func(w *issuer.World) {
			w.Providers[1].Want, w.Issuer.Spec.DeletionPolicy = nil, v1alpha1.DeletionPolicyRetain
		}, []string{testAccount + " true", "444455556666 true"}},
		"one that is unwanted and of others": {func(w *issuer.World) { w.Providers[1].Want, w.Providers[1].Owner = nil, "" }, []string{testAccount + " true", "444455556666 true"}},
		"one that is unwanted and cannot be seen": {func(w *issuer.World) {
			w.Providers[1].Want, w.Providers[1].Exists, w.Providers[1].Fault = nil, false, &fault.Fault{Class: fault.Denied}
			w.Issuer.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain
		}, []string{testAccount + " true", "444455556666 true"}},
		"not one that is unwanted and gone":       {func(w *issuer.World) { w.Providers[1].Want, w.Providers[1].Exists = nil, false }, []string{testAccount + " true"}},
		"both, when AWS does not know the caller": {func(w *issuer.World) { w.Caller.Fault, w.Providers = &fault.Fault{Class: fault.Unauthenticated}, nil }, []string{testAccount + " true", "444455556666 true"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			w := m.Observe()
			test.change(&w)
			var got []string
			for _, entry := range issuer.Decide(w).Status.Providers {
				line := entry.AccountID + " false"
				if entry.Created {
					line = entry.AccountID + " true"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("providers in status (-want +got):\n%s", diff)
			}
		})
	}
}
