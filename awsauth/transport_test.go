package awsauth_test

import (
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

func TestBundleIsAddedToTheSystemsRoots(t *testing.T) {
	private, public := newSTS(t), newSTSOf(t, systemCA)
	cases := map[string]struct {
		server *stsServer
		bundle string
		refuse bool
	}{
		"the bundle's endpoint is trusted":                      {server: private, bundle: private.ca},
		"a public endpoint is trusted still":                    {server: public, bundle: private.ca},
		"a public endpoint is trusted without a bundle":         {server: public},
		"a private endpoint is not trusted without its bundle":  {server: private, refuse: true},
		"a private endpoint is not trusted with another bundle": {server: private, bundle: systemCA.pem, refuse: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(inCluster(c.server))
			delete(w.env, "AWS_CA_BUNDLE")
			if c.bundle != "" {
				w.env["AWS_CA_BUNDLE"], w.files["/ca.pem"] = "/ca.pem", c.bundle
			}
			_, err := retrieve(t, w.auth(t), web)
			var unknown x509.UnknownAuthorityError
			if c.refuse != errors.As(err, &unknown) {
				t.Errorf("refused: want %t, got %v", c.refuse, err)
			}
			if !c.refuse && err != nil {
				t.Error(err)
			}
		})
	}
}

func TestChangedBundleIsUsedWithoutRestart(t *testing.T) {
	server := newSTS(t)
	w := podWorld(server)
	w.files["/ca.pem"] = newAuthority().pem
	auth := w.auth(t)
	if _, err := retrieve(t, auth, web); err == nil {
		t.Fatal("an endpoint of an unknown authority was trusted")
	}
	w.write("/ca.pem", "half a cert")
	w.advance(time.Minute)
	if _, err := retrieve(t, auth, web); err == nil {
		t.Fatal("an endpoint of an unknown authority was trusted")
	}
	w.write("/ca.pem", server.ca)
	w.advance(time.Minute)
	mustRetrieve(t, auth, web)
}

func TestUnusableBundleIsRefused(t *testing.T) {
	for name, content := range map[string]string{"missing": "", "no PEM": "nonsense"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(map[string]string{"AWS_CA_BUNDLE": "/ca.pem"})
			if content != "" {
				w.files["/ca.pem"] = content
			}
			_, err := awsauth.New(w.options())
			var known *awsauth.Error
			if !errors.As(err, &known) || known.Code != fault.CodeBundleInvalid || !strings.Contains(err.Error(), "/ca.pem") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOwnSessionIsTheSDKsDefaultChain(t *testing.T) {
	private, public := newSTS(t), newSTSOf(t, systemCA)
	for name, server := range map[string]*stsServer{"behind the bundle": private, "in public": public} {
		t.Run(name, func(t *testing.T) {
			bundle := writeFile(t, "ca.pem", private.ca)
			profile := writeFile(t, "credentials",
				"[mine]\naws_access_key_id = AKIAMINE\naws_secret_access_key = mine\n")
			for key, value := range map[string]string{
				"AWS_ENDPOINT_URL_STS": server.URL, "AWS_CA_BUNDLE": bundle, "AWS_PROFILE": "mine",
				"AWS_SHARED_CREDENTIALS_FILE": profile, "AWS_CONFIG_FILE": writeFile(t, "config", ""),
				"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
				"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
			} {
				t.Setenv(key, value)
			}
			auth, err := awsauth.New(awsauth.Options{})
			if err != nil {
				t.Fatal(err)
			}
			config, err := auth.Config(t.Context(), identity.Identity{Base: identity.Session, Region: "eu-west-1"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil); err != nil {
				t.Fatalf("GetCallerIdentity: %v", err)
			}
			if got := server.requests()[0].SignedBy; got != "AKIAMINE/eu-west-1" {
				t.Errorf("signed by %s", got)
			}
		})
	}
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOwnSessionWithoutRegionSaysSo(t *testing.T) {
	for _, key := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_CA_BUNDLE"} {
		t.Setenv(key, "")
	}
	t.Setenv("AWS_CONFIG_FILE", writeFile(t, "config", ""))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", writeFile(t, "credentials", ""))
	auth, err := awsauth.New(awsauth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = auth.Config(t.Context(), identity.Identity{Base: identity.Session})
	var known *awsauth.Error
	if !errors.As(err, &known) || known.Code != fault.CodeRegionMissing {
		t.Errorf("got %v", err)
	}
}
