package sdk_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// refused demands that a cloud refuses what an SDK asks for, and that the SDK says why.
func refused(t *testing.T, who string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("became %q, error %v, want one with %q", who, err, want)
	}
}

// TestTokensThatTheCloudsRefuse: the Secrets are as they are, the token is another. Those that
// are signed here with the second key differ from one that the clouds take in one claim.
func TestTokensThatTheCloudsRefuse(t *testing.T) {
	stranger := awstest.RSAKey(t, "stranger")
	double := awstest.RSAKey(t, "second")
	signed := func(but map[string]any) func(*testing.T, *world) string {
		return func(t *testing.T, w *world) string { return awstest.SignToken(t, w.key, w.claims(but)) }
	}
	hour := int64(time.Hour / time.Second)
	for name, tt := range map[string]struct {
		token func(t *testing.T, w *world) string
		// What each cloud says.
		aws, azure, google string
	}{
		"for another audience": {
			func(_ *testing.T, w *world) string { return w.Token(team, "app", 0, "another") },
			"InvalidIdentityToken: Incorrect token audience", "AADSTS700212", "it is for another audience",
		},
		"for another audience too": {
			func(_ *testing.T, w *world) string { return w.Token(team, "app", 0, audience, "another") },
			"more than one audience", "AADSTS700212", "it is for another audience",
		},
		"for the API server": {
			func(_ *testing.T, w *world) string { return w.Token(team, "app", 0) },
			"InvalidIdentityToken: Incorrect token audience", "AADSTS700212", "it is for another audience",
		},
		"of another ServiceAccount": {
			func(_ *testing.T, w *world) string { return w.Token(team, "other", 0, audience) },
			"AccessDenied: Not authorized", "AADSTS700213", "iam.serviceAccounts.getAccessToken",
		},
		"of a ServiceAccount of the same name in another namespace": {
			func(_ *testing.T, w *world) string { return w.Token("team-b", "app", 0, audience) },
			"AccessDenied: Not authorized", "AADSTS700213", "iam.serviceAccounts.getAccessToken",
		},
		"that has expired": {
			signed(map[string]any{"iat": time.Now().Unix() - 2*hour, "nbf": time.Now().Unix() - 2*hour, "exp": time.Now().Unix() - hour}),
			"ExpiredTokenException", "AADSTS700024", "it is not valid at this time",
		},
		"that never expires": {signed(map[string]any{"exp": nil}), "Missing a required claim: exp", "AADSTS700024", "it is not valid at this time"},
		"that is not valid yet": {
			signed(map[string]any{"nbf": time.Now().Unix() + hour, "exp": time.Now().Unix() + 2*hour}),
			"InvalidIdentityToken: Token not yet valid", "AADSTS700024", "it is not valid at this time",
		},
		"of another issuer": {signed(map[string]any{"iss": "https://issuer.example"}), "No OpenIDConnect provider found", "AADSTS700211", "it names another issuer"},
		"with a key that is not published": {
			func(t *testing.T, w *world) string { return awstest.SignToken(t, stranger, w.claims(nil)) },
			"InvalidIdentityToken: Couldn't retrieve verification key", "AADSTS700027", "its key is not published",
		},
		"with another key by the name of a published one": {
			func(t *testing.T, w *world) string { return awstest.SignToken(t, double, w.claims(nil)) },
			"InvalidIdentityToken: The web identity token provided could not be validated", "AADSTS700027", "its signature does not fit the key",
		},
		"without a signature": {unsigned, "InvalidIdentityToken: The web identity token provided could not be validated", "AADSTS50027", "it is no signed JWT"},
		"whose subject was changed": {
			func(t *testing.T, w *world) string {
				parts := strings.Split(w.Token(team, "other", 0, audience), ".")
				return parts[0] + "." + base64.RawURLEncoding.EncodeToString(must.Get(json.Marshal(w.claims(nil)))(t)) + "." + parts[2]
			},
			"InvalidIdentityToken: The web identity token provided could not be validated", "AADSTS700027", "its signature does not fit the key",
		},
	} {
		for sdk, want := range map[string]string{"aws": tt.aws, "minted": tt.aws, "azure": tt.azure, "google": tt.google, "oauth2": tt.google} {
			t.Run("a token "+name+", "+sdk, func(t *testing.T) {
				w := in(t)
				w.project(tt.token(t, w))
				who, err := sdks[sdk](t, w, w.mount(secrets[sdk]))
				refused(t, who, err, want)
			})
		}
	}
}

func unsigned(t *testing.T, w *world) string {
	t.Helper()
	claims := must.Get(json.Marshal(w.claims(nil)))(t)
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims) + "."
}

// TestIdentitiesThatTheCloudsRefuse: the token is the right one, the mounted Secret names
// another identity.
func TestIdentitiesThatTheCloudsRefuse(t *testing.T) {
	for name, tt := range map[string]struct{ sdk, key, old, new, want string }{
		"a role that trusts another ServiceAccount": {"aws", "credentials", "role/given", "role/of-another", "AccessDenied: Not authorized"},
		"a role that is not there":                  {"aws", "credentials", "role/given", "role/absent", "AccessDenied: Not authorized"},
		"a client that the tenant does not know":    {"azure", "azure_client_id", appID, tenant, "AADSTS700016"},
		"a tenant that is not there":                {"azure", "azure_tenant_id", tenant, appID, "AADSTS90002"},
		"another workload identity provider":        {"google", "service_account.json", "providers/cluster", "providers/other", "invalid_target"},
		"another service account":                   {"google", "service_account.json", email, "root@project.iam.gserviceaccount.com", "iam.serviceAccounts.getAccessToken"},
		"another service account, by oauth2":        {"oauth2", "service_account.json", email, "root@project.iam.gserviceaccount.com", "iam.serviceAccounts.getAccessToken"},
	} {
		t.Run(name, func(t *testing.T) {
			w := in(t)
			w.project(w.Token(team, "app", 0, audience))
			folder := w.mount(secrets[tt.sdk])
			file := filepath.Join(folder, tt.key)
			text := string(must.Get(os.ReadFile(file))(t))
			if !strings.Contains(text, tt.old) {
				t.Fatalf("%s does not name %s: %s", tt.key, tt.old, text)
			}
			must.Do(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, tt.old, tt.new)), 0o600))
			who, err := sdks[tt.sdk](t, w, folder)
			refused(t, who, err, tt.want)
		})
	}
}

// TestAzureRefusesAResourceThatTheTenantDoesNotKnow which is said by who asks, not by the
// Secret.
func TestAzureRefusesAResourceThatTheTenantDoesNotKnow(t *testing.T) {
	w := in(t)
	w.project(w.Token(team, "app", 0, audience))
	who, err := becomeForResource(t, w, w.mount("azure"), "https://elsewhere.example")
	refused(t, who, err, "AADSTS500011")
}
