package credentials

import (
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// TestWantedAudiencesAreThoseOfTheRolesAccount, of several providers of an OIDCIssuer.
func TestWantedAudiencesAreThoseOfTheRolesAccount(t *testing.T) {
	const account, other = "123456789012", "210987654321"
	role := func(of string) string { return "arn:aws:iam::" + of + ":role/issuer" }
	seen := func(of string) []v1alpha1.ProviderStatus { return []v1alpha1.ProviderStatus{{AccountID: of}} }
	for name, test := range map[string]struct {
		roles []string
		seen  []v1alpha1.ProviderStatus
		want  string
	}{
		"the operator's own account, after another":      {[]string{role(other), ""}, nil, "/spec/providers/1/audiences"},
		"the operator's own account, as was seen":        {[]string{""}, seen(account), "/spec/providers/0/audiences"},
		"the operator is in another account":             {[]string{"", role(account)}, seen(other), "/spec/providers/1/audiences"},
		"none is of the account":                         {[]string{role(other)}, nil, ""},
		"none is of the account, the operator's neither": {[]string{""}, seen(other), ""},
		"there is none":                                  {nil, nil, ""},
	} {
		o := &v1alpha1.OIDCIssuer{Status: v1alpha1.OIDCIssuerStatus{Providers: test.seen}}
		for _, arn := range test.roles {
			o.Spec.Providers = append(o.Spec.Providers, v1alpha1.Provider{Audiences: []string{arn}, AssumeRoleARN: arn})
		}
		field, audiences := wantedAudiences(o, account)
		if field != test.want {
			t.Errorf("%s: it is %q, want %q", name, field, test.want)
		}
		if at := slices.Index([]string{"/spec/providers/0/audiences", "/spec/providers/1/audiences"}, field); at >= 0 && audiences[0] != test.roles[at] {
			t.Errorf("%s: the audiences are those of %q, want those at %s", name, audiences, field)
		}
	}
}
