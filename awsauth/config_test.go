package awsauth_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// openshiftToken is where operators of OpenShift mount their token.
const openshiftToken = "/var/run/secrets/openshift/serviceaccount/token"

var someBundle = identity.BundleRef{Namespace: "openshift-config-managed", Name: "kube-cloud-config", Key: "ca-bundle.pem"}

func TestErrorsBeforeAWSIsAskedAreTold(t *testing.T) {
	pair := func(m *memory) { m.put(keys, "1", keyPair("AKIA", "hush")) }
	bySecret := identity.Identity{Base: identity.Secret, Secret: keys, Region: "us-east-1"}
	with := func(change func(*identity.Identity)) identity.Identity {
		id := bySecret
		change(&id)
		return id
	}
	irsa := map[string]string{"AWS_ROLE_ARN": testRole, "AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile}
	cases := map[string]struct {
		env    map[string]string
		source func(*memory)
		id     identity.Identity
		code   string
		class  fault.Class
		text   string
	}{
		"half a web identity, though a Secret is meant": {
			env: map[string]string{"AWS_ROLE_ARN": testRole}, id: bySecret, source: pair, code: fault.CodeWebIdentityIncomplete,
			text: "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing",
		},
		"the other half": {
			env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile}, id: bySecret, source: pair, code: fault.CodeWebIdentityIncomplete,
			text: "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing",
		},
		"no Secret": {
			id: bySecret, code: fault.CodeSecretNotFound,
			text: `aws credentials secret openshift-machine-api/aws-cloud-credentials: secrets "aws-cloud-credentials" not found`,
		},
		"a Secret that cannot be read now": {
			id: bySecret, source: func(m *memory) { m.broken = errors.New("no\nanswer") }, code: fault.CodeSecretUnreadable, class: fault.CredentialsUnavailable,
			text: "aws credentials secret openshift-machine-api/aws-cloud-credentials: no answer",
		},
		"an empty Secret": {
			id: bySecret, source: func(m *memory) { m.put(keys, "1", nil) }, code: fault.CodeSecretInvalid,
			text: "invalid secret for aws credentials: Secret openshift-machine-api/aws-cloud-credentials: missing or empty: aws_access_key_id, aws_secret_access_key; give it both aws_access_key_id and aws_secret_access_key, or the key credentials",
		},
		"a bundle that cannot be read now": {
			env: irsa, id: identity.Identity{Base: identity.WebIdentity, Region: "us-east-1", CABundle: someBundle},
			source: func(m *memory) { m.broken = errors.New("no answer") }, code: fault.CodeBundleUnreadable, class: fault.CredentialsUnavailable,
			text: "failed to set the custom CA bundle: failed to get kube-cloud-config ConfigMap: no answer",
		},
		"a base without its Secret": {id: with(func(i *identity.Identity) { i.Secret = identity.SecretRef{} }), code: fault.CodeInvalidIdentity},
		"a Secret without its base": {env: irsa, id: with(func(i *identity.Identity) { i.Base = identity.WebIdentity }), code: fault.CodeInvalidIdentity},
		"a region that is a host":   {id: bySecret.In("evil.example/"), source: pair, code: fault.CodeInvalidIdentity},
		"no region":                 {id: bySecret.In(""), source: pair, code: fault.CodeRegionMissing},
		"a role of another partition than the region": {
			env: irsa, id: web.In("us-gov-west-1"), code: fault.CodePartitionMismatch,
			text: "AWS_ROLE_ARN is " + testRole + ", of the partition aws, and the region us-gov-west-1 is of the partition aws-us-gov; partitions share no roles: name a role of the region's partition",
		},
		"a further role of another partition": {id: bySecret.Assuming("arn:aws-cn:iam::123456789012:role/a"), source: pair, code: fault.CodePartitionMismatch},
		"a role of another partition in the Secret": {
			id: bySecret.In("cn-north-1"), code: fault.CodePartitionMismatch,
			source: func(m *memory) {
				m.put(keys, "1", map[string]string{"credentials": "[default]\nrole_arn=" + testRole + "\nweb_identity_token_file=" + openshiftToken})
			},
		},
		"a role for a minute":           {id: bySecret.Via(identity.Role{ARN: otherRole, Duration: time.Minute}), source: pair, code: fault.CodeInvalidIdentity},
		"a session that STS refuses":    {id: bySecret.Via(identity.Role{ARN: otherRole, SessionName: "a b"}), source: pair, code: fault.CodeInvalidIdentity},
		"an agent that is not here":     {env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://evil.example/x"}, id: identity.Identity{Base: identity.Container, Region: "us-east-1"}, code: fault.CodeContainerInvalid},
		"an agent that is not told":     {id: identity.Identity{Base: identity.Container, Region: "us-east-1"}, code: fault.CodeContainerInvalid},
		"an agent by half a URL":        {env: map[string]string{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "@evil.example"}, id: identity.Identity{Base: identity.Container, Region: "us-east-1"}, code: fault.CodeContainerInvalid},
		"an agent by a URL with a user": {env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "https://a:hush@evil.example"}, id: identity.Identity{Base: identity.Container, Region: "us-east-1"}, code: fault.CodeContainerInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(c.env)
			source := newMemory()
			if c.source != nil {
				c.source(source)
			}
			options := w.options()
			options.Source = source
			auth, err := awsauth.New(options)
			if err != nil {
				t.Fatal(err)
			}
			_, err = auth.Config(t.Context(), c.id)
			if c.class == "" {
				c.class = fault.InvalidConfig
			}
			got := fault.Of("EC2", "DescribeInstanceTypes", err)
			if got == nil || got.Code != c.code || got.Class != c.class {
				t.Fatalf("want %s %s, got %v", c.class, c.code, err)
			}
			if c.text != "" && got.FirstLine() != c.text {
				t.Errorf("text\n%s, want\n%s", got.FirstLine(), c.text)
			}
			if strings.Contains(got.Error(), "hush") || strings.Contains(got.Error(), "\n") {
				t.Errorf("the error is %q", got.Error())
			}
		})
	}
}

func TestWhoAmITellsWhatIsMissingForWhom(t *testing.T) {
	_, err := newWorld(nil).auth(t).WhoAmI(identity.Wish{For: "machineDeployment workers"})
	var known *awsauth.Error
	want := "no AWS credentials configured for machineDeployment workers: neither IRSA environment variables nor credentialsSecret specified"
	if !errors.As(err, &known) || known.Message != want || known.Code != fault.CodeCredentialsMissing {
		t.Errorf("got %v", err)
	}
}

// recorder is an HTTP client that answers nothing but writes down where it was
// sent.
type recorder struct {
	mu    sync.Mutex
	hosts []string
}

func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = append(r.hosts, request.URL.Host+" "+strings.TrimPrefix(signer(request.Header.Get("Authorization")), "AKIA"))
	body := `<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>`
	return &http.Response{StatusCode: http.StatusForbidden, Body: io.NopCloser(strings.NewReader(body)), Request: request}, nil
}

func TestCallsStayInTheRegionsPartition(t *testing.T) {
	cases := map[string]struct {
		env    map[string]string
		region string
		want   string
	}{
		"a region of the world":  {nil, "eu-west-1", "sts.eu-west-1.amazonaws.com /eu-west-1"},
		"a GovCloud region":      {nil, "us-gov-east-1", "sts.us-gov-east-1.amazonaws.com /us-gov-east-1"},
		"a region of China":      {nil, "cn-northwest-1", "sts.cn-northwest-1.amazonaws.com.cn /cn-northwest-1"},
		"with FIPS":              {map[string]string{"AWS_USE_FIPS_ENDPOINT": "true"}, "us-east-2", "sts-fips.us-east-2.amazonaws.com /us-east-2"},
		"an isolated region":     {nil, "us-iso-east-1", "sts.us-iso-east-1.c2s.ic.gov /us-iso-east-1"},
		"own region of the same": {map[string]string{"AWS_REGION": "us-gov-west-1"}, "us-gov-east-1", "sts.us-gov-west-1.amazonaws.com /us-gov-west-1"},
		"own region of another":  {map[string]string{"AWS_REGION": "us-east-1"}, "cn-north-1", "sts.cn-north-1.amazonaws.com.cn /cn-north-1"},
		"endpoints that do no count": {
			map[string]string{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true", "AWS_ENDPOINT_URL": "https://x.example", "AWS_ENDPOINT_URL_STS": "https://x.example"},
			"eu-west-1", "sts.eu-west-1.amazonaws.com /eu-west-1",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, source := &recorder{}, newMemory()
			source.put(keys, "1", keyPair("AKIA", "hush"))
			options := newWorld(c.env).options()
			options.HTTPClient, options.Source = client, source
			auth, err := awsauth.New(options)
			if err != nil {
				t.Fatal(err)
			}
			role := "arn:" + identity.Partition(c.region) + ":iam::123456789012:role/a"
			id := identity.Identity{Base: identity.Secret, Secret: keys, Region: c.region}.Assuming(role)
			config, err := auth.Config(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil); err == nil {
				t.Error("the recorder gave credentials")
			}
			if diff := cmp.Diff([]string{c.want}, client.hosts); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnchangedInputsGiveTheSameConfiguration(t *testing.T) {
	source := newMemory()
	source.put(keys, "1", keyPair("AKIA", "hush"))
	options := newWorld(nil).options()
	options.Source = source
	auth, err := awsauth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	id := identity.Identity{Base: identity.Secret, Secret: keys, Region: "us-east-1"}
	first, err := auth.Config(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	again, err := auth.Config(t.Context(), id)
	if err != nil || again.Credentials != first.Credentials {
		t.Errorf("the same Secret gives other credentials: %v", err)
	}
	source.put(keys, "2", keyPair("AKIA", "other"))
	changed, err := auth.Config(t.Context(), id)
	if err != nil || changed.Credentials == first.Credentials {
		t.Errorf("a changed Secret gives the same credentials: %v", err)
	}
	for n := range 2 * 1100 {
		source.put(identity.SecretRef{Name: fmt.Sprint(n)}, "1", keyPair("AKIA", "hush"))
		if _, err := auth.Config(t.Context(), identity.Identity{Base: identity.Secret, Secret: identity.SecretRef{Name: fmt.Sprint(n)}, Region: "us-east-1"}); err != nil {
			t.Fatal(err)
		}
		if kept, err := auth.Config(t.Context(), id); err != nil || kept.Credentials != changed.Credentials {
			t.Fatalf("what is in use was forgotten after %d others: %v", n, err)
		}
	}
}

func TestLogSaysOnceWhoWeAre(t *testing.T) {
	var text bytes.Buffer
	w := newWorld(map[string]string{
		"AWS_ROLE_ARN": testRole, "AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIAHUSH", "AWS_SECRET_ACCESS_KEY": "hush",
	})
	source := newMemory()
	source.trust(someBundle, newAuthority().pem)
	options := w.options()
	options.Source = source
	options.Logger = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	auth, err := awsauth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	id := web
	id.CABundle = someBundle
	for _, region := range []string{"", "us-east-1", "eu-west-1", ""} {
		if _, err := auth.Config(t.Context(), id.In(region)); err != nil {
			t.Fatal(err)
		}
	}
	want := `level=INFO msg="using a custom CA bundle" namespace=openshift-config-managed configMap=kube-cloud-config key=ca-bundle.pem
level=WARN msg="a variable of the environment is not used" variable=AWS_ACCESS_KEY_ID
level=INFO msg="Using IRSA authentication with role: ` + testRole + `" authMethod=irsa
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
