package awsauth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

func TestWebIdentityEnvironmentSaysWhatIsMissing(t *testing.T) {
	cases := map[string]struct {
		env      map[string]string
		id       identity.Identity
		code     string
		mentions []string
	}{
		"neither variable": {
			env: map[string]string{"AWS_REGION": "us-west-2"}, id: web,
			code: fault.CodeCredentialsMissing, mentions: []string{"neither IRSA environment variables nor credentialsSecret specified"},
		},
		"only the role names the token file": {
			env: map[string]string{"AWS_REGION": "us-west-2", "AWS_ROLE_ARN": testRole}, id: web,
			code: fault.CodeWebIdentityIncomplete, mentions: []string{"AWS_WEB_IDENTITY_TOKEN_FILE is missing"},
		},
		"only the token file names the role": {
			env: map[string]string{"AWS_REGION": "us-west-2", "AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile}, id: web,
			code: fault.CodeWebIdentityIncomplete, mentions: []string{"AWS_ROLE_ARN is missing"},
		},
		"ambient keys do not stand in for a web identity": {
			env: map[string]string{
				"AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "AKIAAMBIENT", "AWS_SECRET_ACCESS_KEY": "ambient",
			},
			id: web, code: fault.CodeCredentialsMissing, mentions: []string{"neither"},
		},
		"a role that is no ARN": {
			env: map[string]string{
				"AWS_REGION": "us-west-2", "AWS_ROLE_ARN": "tabard", "AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile,
			},
			id: web, code: fault.CodeInvalidIdentity, mentions: []string{`AWS_ROLE_ARN is "tabard"`},
		},
		"a role to assume that is no ARN": {
			env: map[string]string{
				"AWS_REGION": "us-west-2", "AWS_ROLE_ARN": testRole, "AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile,
			},
			id: web.Assuming("spoke"), code: fault.CodeInvalidIdentity, mentions: []string{"role to assume"},
		},
		"no region anywhere": {
			env: map[string]string{"AWS_ROLE_ARN": testRole, "AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile}, id: web,
			code: fault.CodeRegionMissing, mentions: []string{"AWS_REGION"},
		},
		"an identity that says nothing": {
			env: map[string]string{"AWS_REGION": "us-west-2"}, id: identity.Identity{},
			code: fault.CodeInvalidIdentity, mentions: []string{"WebIdentity"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := newWorld(c.env).auth(t).Config(t.Context(), c.id)
			var known *awsauth.Error
			if !errors.As(err, &known) {
				t.Fatalf("want an *awsauth.Error, got %v", err)
			}
			if known.Code != c.code {
				t.Errorf("code %s, want %s", known.Code, c.code)
			}
			for _, text := range c.mentions {
				if !strings.Contains(known.Message, text) {
					t.Errorf("message %q does not mention %q", known.Message, text)
				}
			}
		})
	}
}

func TestEndpointsOfTheEnvironment(t *testing.T) {
	server := newSTS(t)
	cases := map[string]struct {
		env   map[string]string
		calls int
	}{
		"a service's own": {map[string]string{"AWS_ENDPOINT_URL_STS": server.URL}, 1},
		"that of all":     {map[string]string{"AWS_ENDPOINT_URL": server.URL}, 1},
		"a service's own goes first": {
			map[string]string{"AWS_ENDPOINT_URL": "https://127.0.0.1:1", "AWS_ENDPOINT_URL_STS": server.URL}, 1,
		},
		"that of all when it is said not to be ignored": {
			map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"}, 1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := len(server.requests())
			w := podWorld(server)
			delete(w.env, "AWS_ENDPOINT_URL_STS")
			for key, value := range c.env {
				w.env[key] = value
			}
			config, err := w.auth(t).Config(t.Context(), web)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil); err != nil {
				t.Fatalf("GetCallerIdentity: %v", err)
			}
			if got := len(server.requests()) - before; got != c.calls+1 {
				t.Errorf("%d calls, want the exchange and %d", got, c.calls)
			}
		})
	}
}

func TestUnusableEndpointIsRefused(t *testing.T) {
	for _, value := range []string{"127.0.0.1:8443", "ftp://x", "https://", "https://u:p@host"} {
		w := newWorld(map[string]string{"AWS_ENDPOINT_URL_S3": value})
		_, err := awsauth.New(w.options())
		if err == nil || !strings.Contains(err.Error(), "AWS_ENDPOINT_URL_S3") {
			t.Errorf("%s: got %v", value, err)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Error("the error holds a password")
		}
	}
}
