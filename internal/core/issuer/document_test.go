package issuer_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// wantGolden compares with a file below testdata.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile("testdata/"+name, []byte(got), 0o644))
	}
	if diff := cmp.Diff(read(t, name), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestDocuments(t *testing.T) {
	keys := must.Get(issuer.ReadPEM(map[string]string{"rsa": read(t, "vector.pub"), "ec": read(t, "ec.pub")}))(t)
	document := issuer.JWKS(keys)
	wantGolden(t, "keys.json", string(document))
	discovery := issuer.Discovery(testURL, []string{"RS256", "ES256", "RS256"})
	wantGolden(t, "openid-configuration.json", string(discovery))
	wantGolden(t, "digest.txt", issuer.Digest(document, discovery))

	t.Run("keys in another order give the same bytes", func(t *testing.T) {
		slices.Reverse(keys)
		if diff := cmp.Diff(string(document), string(issuer.JWKS(append(keys, keys...)))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("algorithms in another order give the same bytes", func(t *testing.T) {
		if diff := cmp.Diff(string(discovery), string(issuer.Discovery(testURL, []string{"ES256", "RS256"}))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the digest tells where one document ends", func(t *testing.T) {
		if issuer.Digest([]byte("ab"), []byte("c")) == issuer.Digest([]byte("a"), []byte("bc")) {
			t.Error("two different pairs of documents have one digest")
		}
	})
}

// TestUsableKeys: a key is itself under whatever ID, and what verifies no token is left out.
func TestUsableKeys(t *testing.T) {
	document := string(issuer.JWKS(must.Get(issuer.ReadPEM(map[string]string{"rsa": read(t, "vector.pub"), "ec": read(t, "ec.pub")}))(t)))
	keys := issuer.UsableKeys([]byte(document))
	if len(keys) != 2 || keys[0].ID == "" || keys[0].Thumbprint == keys[1].Thumbprint {
		t.Fatalf("of %s it reads %v", document, keys)
	}
	renamed := issuer.UsableKeys([]byte(strings.ReplaceAll(document, keys[0].ID, "a")))
	if !slices.Contains(renamed, issuer.UsableKey{ID: "a", Thumbprint: keys[0].Thumbprint}) || !slices.Contains(renamed, keys[1]) {
		t.Errorf("renamed, they are %v, want those of %v", renamed, keys)
	}
	for _, useless := range []string{"", "[]", "<html>", `{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"},{"kid":"x"},7,null]}`, document[:len(document)/2]} {
		if got := issuer.UsableKeys([]byte(useless)); len(got) > 0 {
			t.Errorf("of %s it reads %v", useless, got)
		}
	}
}

func TestPoliciesOfTheOperator(t *testing.T) {
	spec := testIssuer().Spec
	arn := issuer.ProviderARN("aws", testAccount, testURL)
	subject := issuer.Subject{Namespace: "tabard-system", ServiceAccount: "tabard-issuer", Audience: "sts.amazonaws.com"}
	wantGolden(t, "trust.json", issuer.TrustPolicy(arn, subject))
	wantGolden(t, "permissions-delete.json", issuer.PermissionPolicy(spec, testAccount))
	spec.Publication.S3.ReleaseName, spec.Providers = true, nil
	wantGolden(t, "permissions-release.json", issuer.PermissionPolicy(spec, testAccount))
	spec.Publication.S3.ReleaseName, spec.Providers = false, testIssuer().Spec.Providers
	spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain
	spec.Publication.S3.Region, spec.Publication.S3.Prefix = "cn-north-1", "clusters/one"
	spec.Publication.S3.PublicRead = v1alpha1.PublicReadNone
	spec.Providers = spec.Providers[:1]
	wantGolden(t, "permissions-retain.json", issuer.PermissionPolicy(spec, testAccount))
	spec.Providers = nil
	wantGolden(t, "permissions-unregistered.json", issuer.PermissionPolicy(spec, testAccount))
	wantGolden(t, "statement.json", issuer.PublicReadStatement(spec))
}

func TestRoleName(t *testing.T) {
	tests := map[string]struct{ name, want string }{
		"a name is kept":                  {"demo", "tabard-issuer-demo-09a86e15"},
		"a dot becomes a hyphen":          {"a.b", "tabard-issuer-a-b-09a86e15"},
		"a long name is cut at 64":        {strings.Repeat("a", 99), "tabard-issuer-" + strings.Repeat("a", 41) + "-09a86e15"},
		"a cut never ends in two hyphens": {strings.Repeat("a", 40) + ".b", "tabard-issuer-" + strings.Repeat("a", 40) + "-09a86e15"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := issuer.RoleName(test.name, testURL)
			if got != test.want {
				t.Errorf("role name is %q, want %q", got, test.want)
			}
			if got == issuer.RoleName(test.name, testURL+"x") {
				t.Error("two URLs give one name")
			}
		})
	}
}

// TestRolesInARightsPolicyStandForThemselves: in a policy * and ? are any characters,
// and in the path of a role they are themselves.
func TestRolesInARightsPolicyStandForThemselves(t *testing.T) {
	t.Parallel()
	spec := testIssuer().Spec
	spec.Providers[0].AssumeRoleARN = "arn:aws:iam::111122223333:role/a*?$/publisher"
	if policy := issuer.PermissionPolicy(spec, testAccount); !strings.Contains(policy, `"arn:aws:iam::111122223333:role/a${*}${?}${$}/publisher"`) {
		t.Errorf("the policy allows more, or nothing: %s", policy)
	}
}
