package sdk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/tokensecret"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// identities are whom the clouds take the holders of the Secrets for.
var identities = map[string]string{
	"aws":    "arn:aws:sts::" + account + ":assumed-role/given",
	"minted": "arn:aws:sts::" + account + ":assumed-role/" + credentials.RoleName(credentials.Settings{OwnNamespaces: []string{system}}, infrastructure, team, "minted"),
	"azure":  appID, "google": email, "oauth2": email,
}

// TestSDKsBecomeWhatTheSecretsSay with the Secrets as they are, and a token at the path that
// they name.
func TestSDKsBecomeWhatTheSecretsSay(t *testing.T) {
	for name, token := range map[string]func(*testing.T, *world) string{
		"a token of the API server":            func(_ *testing.T, w *world) string { return w.Token(team, "app", 0, audience) },
		"a token with the issuer's second key": func(t *testing.T, w *world) string { return awstest.SignToken(t, w.key, w.claims(nil)) },
	} {
		for sdk, want := range identities {
			t.Run(name+", "+sdk, func(t *testing.T) {
				w := in(t)
				w.project(token(t, w))
				who, err := sdks[sdk](t, w, w.mount(secrets[sdk]))
				if err != nil || who != want {
					t.Errorf("became %q, error %v, want %q", who, err, want)
				}
			})
		}
	}
}

// TestARoleThatWasMadeTakesTheAudienceOfAWS beside OpenShift's.
func TestARoleThatWasMadeTakesTheAudienceOfAWS(t *testing.T) {
	w := in(t)
	w.project(w.Token(team, "app", 0, "sts.amazonaws.com"))
	if who, err := becomeAWS(t, w, w.mount("minted")); err != nil || who != identities["minted"] {
		t.Errorf("became %q, error %v", who, err)
	}
}

// TestGooglesSDKsFollowTheUniverse: the file has other hosts, which it names.
func TestGooglesSDKsFollowTheUniverse(t *testing.T) {
	for _, sdk := range []string{"google", "oauth2"} {
		t.Run(sdk, func(t *testing.T) {
			w := in(t)
			w.project(w.Token(team, "app", 0, audience))
			data := must.Get(tokensecret.Google{ServiceAccountEmail: email, Audience: pool + "cluster", Universe: universe}.Data(w.token))(t)
			folder := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(folder, tokensecret.KeyGoogle), []byte(data[tokensecret.KeyGoogle]), 0o600))
			who, err := sdks[sdk](t, w, folder)
			if err != nil || who != email+" of "+universe {
				t.Errorf("became %q, error %v", who, err)
			}
		})
	}
}
