package credentials_test

import (
	"strings"
	"testing"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

func TestBindable(t *testing.T) {
	aws := credentials.Provider{Kind: "AWSProviderSpec", AWS: &cloudv1.AWSProviderSpec{}}
	azure := credentials.Provider{Kind: "AzureProviderSpec", Azure: &cloudv1.AzureProviderSpec{}}
	google := credentials.Provider{Kind: "GCPProviderSpec", GCP: &cloudv1.GCPProviderSpec{}}
	tests := map[string]struct {
		provider credentials.Provider
		identity v1alpha1.BoundIdentity
		wrong    string
	}{
		"a role of another partition": {aws, v1alpha1.BoundIdentity{RoleARN: "arn:aws-cn:iam::111122223333:role/r"}, "a role of the partition aws-cn; the cluster's is aws"},
		"a role":                      {aws, v1alpha1.BoundIdentity{RoleARN: givenARN}, ""},
		"an identity in Azure":        {azure, v1alpha1.BoundIdentity{AzureClientID: "c", AzureTenantID: "t", AzureSubscriptionID: "s", AzureRegion: "r"}, ""},
		"one in Google Cloud":         {google, v1alpha1.BoundIdentity{ServiceAccountEmail: "e", Audience: "a"}, ""},
		"nothing":                     {aws, v1alpha1.BoundIdentity{}, "no identity is given"},
		"two":                         {aws, v1alpha1.BoundIdentity{RoleARN: givenARN, Audience: "a"}, "more than one cloud"},
		"a user":                      {aws, v1alpha1.BoundIdentity{RoleARN: "arn:aws:iam::111122223333:user/u"}, "expected the ARN of a role"},
		"roles of a pattern":          {aws, v1alpha1.BoundIdentity{RoleARN: "arn:aws:iam::111122223333:role/a*/x"}, "expected the ARN of one role"},
		"a name":                      {aws, v1alpha1.BoundIdentity{RoleARN: "reports"}, "expected the ARN of a role"},
		"half of Azure":               {azure, v1alpha1.BoundIdentity{AzureClientID: "c", AzureRegion: "r"}, "give --azure-subscription-id, --azure-tenant-id too"},
		"half of Google Cloud":        {google, v1alpha1.BoundIdentity{ServiceAccountEmail: "e"}, "give --gcp-audience too"},
		"a role for Azure":            {azure, v1alpha1.BoundIdentity{RoleARN: givenARN}, `of AWS, and the kind of the request's providerSpec is "AzureProviderSpec"`},
		"a role for an unknown cloud": {credentials.Provider{Kind: "NutanixProviderSpec"}, v1alpha1.BoundIdentity{RoleARN: givenARN}, "NutanixProviderSpec"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := credentials.Bindable(credentials.World{Provider: test.provider, Settings: credentials.Settings{Partition: "aws"}}, test.identity)
			if (got == "") != (test.wrong == "") || !strings.Contains(got, test.wrong) {
				t.Errorf("it is wrong for %q, want %q", got, test.wrong)
			}
		})
	}
}

// TestUndeliverable is asked before an administrator's decision is recorded.
func TestUndeliverable(t *testing.T) {
	const target = "secretRef: {namespace: team, name: creds}, serviceAccountNames: [app], "
	for name, test := range map[string]struct {
		spec, boundary, wrong string
	}{
		"it is given":                  {target, "{namespaces: [team]}", ""},
		"no boundary yet":              {target, "{namespaces: [other]}", ""},
		"another namespace's Secret":   {"secretRef: {namespace: other, name: creds}, ", "{namespaces: [team]}", "is in the namespace other"},
		"a Secret of Kubernetes":       {"secretRef: {namespace: kube-system, name: creds}, ", "{namespaces: [team]}", "of Kubernetes"},
		"no target":                    {"", "{namespaces: [team]}", "spec.secretRef"},
		"a path of two lines":          {target + `cloudTokenPath: "/t\nx", `, "{namespaces: [team]}", "expected an absolute path"},
		"a boundary that is no use":    {target, `{namespaces: [team], aws: {roleARNPatterns: ["arn:aws:iam::*:role/b"]}}`, ""},
		"a ceiling that is no use":     {target, "{namespaces: [team], aws: {ceiling: '{'}}", ""},
		"as many as its boundary says": {target, "{namespaces: [team], maxRequests: 1}", ""},
	} {
		w := teamWorld(requestOf(t, "team", "{"+test.spec+"providerSpec: {kind: AWSProviderSpec}}"), boundaryOf(t, "b", test.boundary))
		w.Grant = &v1alpha1.CredentialsGrant{Spec: v1alpha1.CredentialsGrantSpec{Bound: &v1alpha1.BoundIdentity{RoleARN: givenARN}}}
		w.Grant.Spec.Request.UID = w.Request.UID
		if got := credentials.Undeliverable(w); (got == "") != (test.wrong == "") || !strings.Contains(got, test.wrong) {
			t.Errorf("%s: it is undeliverable for %q, want %q", name, got, test.wrong)
		}
	}
}
