package issuer

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// registered is what an unregistration meets.
type registered struct {
	users    []string
	usersErr error
	seen     Registration
	removed  []string
}

func (a *registered) Users(context.Context, string) ([]string, error) { return a.users, a.usersErr }

func (a *registered) Registration(context.Context, string) (Registration, error) { return a.seen, nil }

func (a *registered) Remove(_ context.Context, arn, owner string) error {
	a.removed = append(a.removed, arn+" of "+owner)
	return nil
}

// TestUnregisterDeletesOnlyTabardsUnusedProvider: it needs consent, and leaves what an OIDCIssuer
// needs and what others made.
func TestUnregisterDeletesOnlyTabardsUnusedProvider(t *testing.T) {
	const url, arn = "https://issuer.example.com", "arn:aws:iam::123456789012:oidc-provider/issuer.example.com"
	ours := Registration{AccountID: "123456789012", ARN: arn, Exists: true, Owner: url, Audiences: []string{"sts.amazonaws.com", "it's"}}
	with := func(change func(*Registration)) Registration {
		seen := ours
		change(&seen)
		return seen
	}
	role := core.RoleName("main", url)
	trusted := with(func(r *Registration) { r.Roles = []string{"app", role, "tabard-issuer-main-00000000"} })
	answer := func(yes bool) func(string) (bool, error) {
		return func(string) (bool, error) { return yes, nil }
	}
	cases := map[string]struct {
		world  registered
		wish   Unregister
		goes   bool
		fails  string
		says   []string
		hushes string
	}{
		"with --yes it goes":                         {registered{seen: ours}, Unregister{Yes: true}, true, "", []string{"no role of the account", "deleted", "to undo:", `'sts.amazonaws.com' 'it'\''s' --tags Key=tabard.dev/issuer,Value='` + url}, "delete-role"},
		"a person says yes":                          {registered{seen: ours}, Unregister{Confirm: answer(true)}, true, "", nil, ""},
		"a person says no":                           {registered{seen: ours}, Unregister{Confirm: answer(false)}, false, "nothing was written", []string{"- OIDC provider " + arn}, "deleted"},
		"no terminal and no --yes":                   {registered{seen: ours}, Unregister{}, false, "--yes", []string{"- OIDC provider"}, ""},
		"a dry run":                                  {registered{seen: ours}, Unregister{Yes: true, DryRun: true}, false, "", []string{"- OIDC provider", "dry run"}, "deleted"},
		"roles that trust it are named":              {registered{seen: trusted}, Unregister{Yes: true}, true, "", []string{"! role app trusts it", "delete-role --role-name " + role}, "delete-role --role-name tabard-issuer-main-00000000"},
		"roles that cannot be read":                  {registered{seen: with(func(r *Registration) { r.RolesError = "AccessDenied" })}, Unregister{Yes: true}, true, "", []string{"not known (AccessDenied)"}, "no role"},
		"there is none":                              {registered{seen: Registration{ARN: arn}}, Unregister{Yes: true}, false, "", []string{"there is no OIDC provider " + arn}, "deleted"},
		"one without a tag":                          {registered{seen: with(func(r *Registration) { r.Owner = "" })}, Unregister{Yes: true}, false, "was not made by Tabard", nil, "deleted"},
		"one with the tag of another URL":            {registered{seen: with(func(r *Registration) { r.Owner = url + "/a" })}, Unregister{Yes: true}, false, url + "/a", nil, "deleted"},
		"an OIDCIssuer has the URL":                  {registered{users: []string{"main"}, seen: ours}, Unregister{Yes: true}, false, "kubectl delete oidcissuer main", nil, "deleted"},
		"an OIDCIssuer, and the cluster isn't asked": {registered{users: []string{"main"}, seen: ours}, Unregister{Yes: true, WithoutCluster: true}, true, "", nil, ""},
		"a cluster that cannot be read":              {registered{usersErr: errors.New("no route"), seen: ours}, Unregister{Yes: true}, false, "no route; if the cluster is gone, add --without-cluster", nil, "deleted"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			tc.wish.World, tc.wish.Out = &tc.world, &out
			err := tc.wish.Run(t.Context(), url)
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("got error %v, expected one with %q", err, tc.fails)
			}
			if got := strings.Join(tc.world.removed, ", "); tc.goes != (got == arn+" of "+url) || !tc.goes && got != "" {
				t.Errorf("it deleted %q", got)
			}
			for _, text := range tc.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("it does not say %q:\n%s", text, out.String())
				}
			}
			if tc.hushes != "" && strings.Contains(out.String(), tc.hushes) {
				t.Errorf("it says %q:\n%s", tc.hushes, out.String())
			}
		})
	}
}
