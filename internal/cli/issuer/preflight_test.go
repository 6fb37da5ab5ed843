package issuer

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

var operator = core.Subject{Namespace: "tabard-system", ServiceAccount: "tabard-issuer", Audience: "sts.amazonaws.com"}

// TestBootstrapWritesNothingBeforeItKnows: every reason not to begin is found before the first
// step, and is given up only by its own flag.
func TestBootstrapWritesNothingBeforeItKnows(t *testing.T) {
	const url = "https://issuer.example.com"
	rival := *wanted()
	rival.Name, rival.Spec.URL = "other", "https://other.example.com"
	roleOfRival := "arn:aws:iam::123456789012:role/" + core.RoleName(rival.Name, rival.Spec.URL)
	cases := map[string]struct {
		world   still
		consent Consent
		says    []string
	}{
		"all is well": {},
		"a token names it, discovery cannot be read": {world: still{token: url, place: &Place{Namespace: true, IssuerError: "403"}}},
		"a token names another issuer":               {world: still{token: "https://old.example.com"}, says: []string{"https://old.example.com", url, "--allow-other-issuer"}},
		"a slash more is another issuer":             {world: still{token: url + "/"}, says: []string{url + "/,", "byte for byte"}},
		"without a token, discovery names another":   {world: still{place: &Place{Issuer: "https://old.example.com", Namespace: true}}, says: []string{"https://old.example.com", url}},
		"neither token nor discovery":                {world: still{place: &Place{IssuerError: "403 Forbidden", Namespace: true}}, says: []string{"403 Forbidden", "cannot be told", url}},
		"another issuer, which the person allows":    {world: still{token: "https://old.example.com"}, consent: Consent{OtherIssuer: true}},
		"no namespace":                               {world: still{place: &Place{Issuer: url}}, says: []string{"no namespace tabard-system", "helm install"}},
		"rights that lack, all of them":              {world: still{place: &Place{Issuer: url, Namespace: true, Lacks: []string{"create the x", "patch the x"}}}, says: []string{"may not create the x", "may not patch the x"}},
		"the role of another issuer":                 {world: still{rivals: []v1alpha1.OIDCIssuer{rival}, place: &Place{Issuer: url, Namespace: true, Role: roleOfRival}}, says: []string{"OIDCIssuer other", roleOfRival, "--replace-role"}},
		"the role of another issuer, which may go":   {world: still{rivals: []v1alpha1.OIDCIssuer{rival}, place: &Place{Issuer: url, Namespace: true, Role: roleOfRival}}, consent: Consent{ReplaceRole: true}},
		"a role of an issuer that is gone":           {world: still{place: &Place{Issuer: url, Namespace: true, Role: roleOfRival}}, says: []string{roleOfRival, "--replace-role"}},
		"a role by hand":                             {world: still{place: &Place{Issuer: url, Namespace: true, Role: "arn:aws:iam::123456789012:role/mine"}}, says: []string{"role/mine", "--replace-role"}},
		"its own role":                               {world: still{place: &Place{Issuer: url, Namespace: true, Role: "arn:aws:iam::123456789012:role/x/" + core.RoleName("main", url)}}},
		"all reasons are said at once":               {world: still{token: "https://old.example.com", place: &Place{}}, says: []string{"https://old.example.com", "no namespace"}},
		"what the person allows allows nothing else": {world: still{place: &Place{}}, consent: Consent{OtherIssuer: true, ReplaceRole: true}, says: []string{"no namespace"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &Bootstrap{World: &tc.world, Operator: operator, Consent: tc.consent, Out: io.Discard, DryRun: len(tc.says) == 0}
			err := b.Run(t.Context(), wanted())
			if (err == nil) != (len(tc.says) == 0) {
				t.Fatalf("got error %v", err)
			}
			for _, text := range tc.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, expected one with %q", err, text)
				}
			}
			if len(tc.world.changes)+tc.world.roles != 0 {
				t.Errorf("it changed %v and made %d roles", tc.world.changes, tc.world.roles)
			}
		})
	}
}

func TestBootstrapShowsThePlanAndAsks(t *testing.T) {
	yes := func(string) (bool, error) { return true, nil }
	no := func(string) (bool, error) { return false, nil }
	cases := map[string]struct {
		confirm func(string) (bool, error)
		dry     bool
		err     error
		begins  bool
	}{
		"yes":                   {confirm: yes, begins: true},
		"no":                    {confirm: no, err: ErrDeclined},
		"nobody to ask":         {begins: true},
		"a dry run asks nobody": {dry: true, confirm: func(string) (bool, error) { return false, errors.New("it asked") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			world := &still{answer: errors.New("the first step")}
			var out strings.Builder
			err := (&Bootstrap{World: world, Operator: operator, Confirm: tc.confirm, DryRun: tc.dry, Out: &out}).Run(t.Context(), wanted())
			if begins := len(world.changes) > 0; begins != tc.begins {
				t.Errorf("it begins: %t, want %t", begins, tc.begins)
			}
			if !tc.begins && !errors.Is(err, tc.err) {
				t.Errorf("got error %v, want %v", err, tc.err)
			}
			if !strings.Contains(out.String(), "+ bucket main-oidc in us-west-2") {
				t.Errorf("it shows\n%s", &out)
			}
		})
	}
}

func TestThePlanTellsWhatIsThereFromWhatIsMade(t *testing.T) {
	world := core.World{Issuer: wanted(), Caller: core.Caller{AccountID: "123456789012", ARN: "arn:me"}}
	world.Bucket.Exists = true
	world.Providers = []core.ProviderState{{Want: &world.Issuer.Spec.Providers[0], ARN: "arn:provider"}}
	role := core.RoleName("main", "https://issuer.example.com")
	b := Bootstrap{Operator: operator}
	got := b.planned(world, Place{Role: "arn:aws:iam::123456789012:role/hand-made", RoleError: "AccessDenied"})
	want := []Planned{
		{Keep, "bucket main-oidc in us-west-2, with two documents that everybody may read"},
		{Create, "OIDC provider arn:provider, audiences sts.amazonaws.com"},
		{Unknown, "role " + role + " for the ServiceAccount tabard-system/tabard-issuer: it keeps bucket and provider"},
		{Replace, "ConfigMap tabard-system/tabard-issuer, which tells the operator its role in place of arn:aws:iam::123456789012:role/hand-made"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
