package ekstoken_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awslocal"
	app "github.com/tabard-dev/tabard/internal/app/ekstoken"
	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	hubAccount   = "111111111111"
	spokeAccount = "222222222222"
	cluster      = "eks-hub"
	trustSpokes  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::222222222222:root"}}]}`
	mayAssume    = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"*"}]}`
)

// world is a local AWS with a hub's role, a user of a spoke, and an issuer.
type world struct {
	*awstest.Lab
	t       *testing.T
	issuer  *awstest.Issuer
	hubRole string
	user    aws.Credentials
}

func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	issuer := awstest.StartIssuer(t)
	w := &world{t: t, issuer: issuer, Lab: awstest.Start(t, awslocal.Options{
		Accounts: []string{hubAccount, spokeAccount}, Region: "us-west-2", TrustedCAs: issuer.Roots(),
	})}
	w.hubRole = w.Role(hubAccount, "ocm-hub", trustSpokes, "")
	w.User(spokeAccount, "spoke", mayAssume)
	w.user = w.Key(spokeAccount, "spoke")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": w.URL(), "AWS_CA_BUNDLE": w.Path("ca.crt"), "HOME": t.TempDir(),
		"AWS_CONFIG_FILE": "", "AWS_SHARED_CREDENTIALS_FILE": "",
	} {
		t.Setenv(name, value)
	}
	return w
}

// as sets the access key of the environment.
func (w *world) as(key aws.Credentials) {
	w.t.Setenv("AWS_ACCESS_KEY_ID", key.AccessKeyID)
	w.t.Setenv("AWS_SECRET_ACCESS_KEY", key.SecretAccessKey)
	w.t.Setenv("AWS_SESSION_TOKEN", key.SessionToken)
}

// ask gives a token to STS as a cluster of that name does, and returns who signed it.
func (w *world) ask(token, name string) (status int, arn string) {
	w.t.Helper()
	address := must.Get(base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, ekstoken.Prefix)))(w.t)
	request := must.Get(http.NewRequestWithContext(w.t.Context(), http.MethodGet, string(address), http.NoBody))(w.t)
	request.Header.Set("x-k8s-aws-id", name)
	request.Header.Set("accept", "application/json")
	status, _, body := w.Send(w.Client(), request)
	var said struct {
		GetCallerIdentityResponse struct{ GetCallerIdentityResult struct{ Arn string } }
	}
	must.Do(w.t, json.Unmarshal([]byte(body), &said))
	return status, said.GetCallerIdentityResponse.GetCallerIdentityResult.Arn
}

// wantMinted demands a token of a signer.
func (w *world) wantMinted(wish eks.Wish, signer string) {
	w.t.Helper()
	wish.Cluster, wish.Region = cluster, "us-west-2"
	before := time.Now()
	token, expiry, err := app.Mint(w.t.Context(), wish)
	if err != nil {
		w.t.Fatalf("%+v: %v", wish, err)
	}
	if status, arn := w.ask(token, cluster); status != http.StatusOK || arn != signer {
		w.t.Errorf("%+v: STS answers %d, %s; want %s", wish, status, arn, signer)
	}
	if status, arn := w.ask(token, "another"); status != http.StatusForbidden || arn != "" {
		w.t.Errorf("%+v: STS answers another cluster %d, %s", wish, status, arn)
	}
	if expiry.Before(before.Add(13*time.Minute)) || expiry.After(time.Now().Add(14*time.Minute)) {
		w.t.Errorf("%+v: the token is to be used until %s", wish, expiry)
	}
}

const hubSession = "arn:aws:sts::111111111111:assumed-role/ocm-hub/EKSGetTokenAuth"

func TestAnAccessKeySigns(t *testing.T) {
	w := newWorld(t)
	w.as(w.user)
	w.wantMinted(eks.Wish{}, "arn:aws:iam::222222222222:user/spoke")
}

func TestAnAccessKeyBecomesTheRole(t *testing.T) {
	w := newWorld(t)
	w.as(w.user)
	w.wantMinted(eks.Wish{RoleARN: w.hubRole}, hubSession)
	w.wantMinted(eks.Wish{RoleARN: w.hubRole, SessionName: "agent"}, "arn:aws:sts::111111111111:assumed-role/ocm-hub/agent")
}

func TestARoleThatMayNotBeAssumedIsToldAsThat(t *testing.T) {
	w := newWorld(t)
	w.as(w.user)
	wish := eks.Wish{Cluster: cluster, Region: "us-west-2", RoleARN: "arn:aws:iam::111111111111:role/other"}
	if token, _, err := app.Mint(t.Context(), wish); err == nil || token != "" || !strings.Contains(err.Error(), "AccessDenied") ||
		strings.Contains(err.Error(), w.user.SecretAccessKey) {
		t.Errorf("got %q, %v", token, err)
	}
}

func TestASessionOfTheRoleSignsByItself(t *testing.T) {
	w := newWorld(t)
	out := must.Get(sts.NewFromConfig(w.As(w.user)).AssumeRole(t.Context(),
		&sts.AssumeRoleInput{RoleArn: &w.hubRole, RoleSessionName: aws.String("own")}))(t)
	w.as(aws.Credentials{
		AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken,
	})
	w.wantMinted(eks.Wish{RoleARN: w.hubRole}, "arn:aws:sts::111111111111:assumed-role/ocm-hub/own")
}

func TestAWebIdentitySigns(t *testing.T) {
	w := newWorld(t)
	const subject, audience = "system:serviceaccount:agents:agent", "sts.amazonaws.com"
	trust := awstest.Trust(w.Provider(spokeAccount, w.issuer.Issuer(), audience), subject, audience)
	role := w.Role(spokeAccount, "spoke", trust, mayAssume)
	t.Setenv("AWS_ROLE_ARN", role)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", w.Write("token", w.issuer.Sign(t, 0, w.issuer.Claims(subject, audience))))
	t.Setenv("AWS_ROLE_SESSION_NAME", "pod")
	w.wantMinted(eks.Wish{}, "arn:aws:sts::222222222222:assumed-role/spoke/pod")
	w.Admin().ClearJournal()
	w.wantMinted(eks.Wish{RoleARN: role}, "arn:aws:sts::222222222222:assumed-role/spoke/pod")
	for _, call := range w.Admin().Journal() {
		if call.Operation == "AssumeRole" {
			t.Error("the role that the web identity has was assumed once more")
		}
	}
	w.wantMinted(eks.Wish{RoleARN: w.hubRole}, hubSession)
}

func TestMountedFilesWinOverTheWebIdentity(t *testing.T) {
	w := newWorld(t)
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::222222222222:role/placeholder")
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_CONFIG_FILE", w.Write("config", "[default]\nrole_arn = "+w.hubRole+"\nsource_profile = base\nregion = us-west-2\n"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", w.Write("credentials", fmt.Sprintf(
		"[base]\naws_access_key_id = %s\naws_secret_access_key = %s\n", w.user.AccessKeyID, w.user.SecretAccessKey)))
	w.wantMinted(eks.Wish{}, hubSession)
	w.wantMinted(eks.Wish{RoleARN: w.hubRole}, hubSession)
	// The kubelet renews a mounted file by another one.
	w.Write("config", "[default]\nregion = us-west-2\n[profile base]\nregion = us-west-2\n")
	w.wantMinted(eks.Wish{Profile: "base"}, "arn:aws:iam::222222222222:user/spoke")
}

func TestAPodIdentitySigns(t *testing.T) {
	w := newWorld(t)
	agent := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "the pod's token" {
			out.WriteHeader(http.StatusForbidden)
			return
		}
		must.Do(t, json.NewEncoder(out).Encode(map[string]string{
			"AccessKeyId": w.user.AccessKeyID, "SecretAccessKey": w.user.SecretAccessKey, "Token": "",
			"Expiration": time.Now().Add(time.Hour).Format(time.RFC3339),
		}))
	}))
	t.Cleanup(agent.Close)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.URL)
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", w.Write("token", "the pod's token"))
	w.wantMinted(eks.Wish{}, "arn:aws:iam::222222222222:user/spoke")
	w.wantMinted(eks.Wish{RoleARN: w.hubRole}, hubSession)
}

func TestATokenEndsBeforeTheCredentials(t *testing.T) {
	w := newWorld(t)
	for left, want := range map[time.Duration]bool{10 * time.Minute: true, 30 * time.Second: false} {
		ending := time.Now().Add(left)
		agent := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			must.Do(t, json.NewEncoder(out).Encode(map[string]string{
				"AccessKeyId": w.user.AccessKeyID, "SecretAccessKey": w.user.SecretAccessKey, "Token": "", "Expiration": ending.UTC().Format(time.RFC3339Nano),
			}))
		}))
		t.Cleanup(agent.Close)
		t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.URL)
		_, expiry, err := app.Mint(t.Context(), eks.Wish{Cluster: cluster, Region: "us-west-2"})
		switch {
		case want && (err != nil || !expiry.Equal(ending.Add(-time.Minute))):
			t.Errorf("credentials with %s left: a token until %s, %v", left, expiry, err)
		case !want && (err == nil || !strings.Contains(err.Error(), "end within a minute")):
			t.Errorf("credentials with %s left: a token until %s, %v", left, expiry, err)
		}
	}
}

func TestNoTokenIsMadeWithoutWhatItNeeds(t *testing.T) {
	awstest.Isolate(t)
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		must.Do(t, os.Unsetenv(name))
	}
	t.Setenv("HOME", t.TempDir())
	for name, c := range map[string]struct {
		wish eks.Wish
		env  map[string]string
		want string
	}{
		"no cluster":                      {eks.Wish{}, nil, "add --cluster-name"},
		"no role's ARN":                   {eks.Wish{Cluster: cluster, RoleARN: "hub"}, nil, "must be an ARN"},
		"no credentials":                  {eks.Wish{Cluster: cluster, Region: "us-west-2"}, nil, "no AWS credentials"},
		"no region":                       {eks.Wish{Cluster: cluster}, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, "add --region"},
		"no region at all":                {eks.Wish{Cluster: cluster, Region: "evil.example/"}, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, "no label of a host name"},
		"all regions":                     {eks.Wish{Cluster: cluster, Region: "aws-global"}, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "STS has no host for it"},
		"all regions, by the environment": {eks.Wish{Cluster: cluster}, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "aws-cn-global"}, "STS has no host for it"},
		"no IPv6 there":                   {eks.Wish{Cluster: cluster, Region: "us-iso-east-1"}, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_USE_DUALSTACK_ENDPOINT": "true"}, "no endpoint with IPv6"},
		"FIPS by a number":                {eks.Wish{Cluster: cluster, Region: "us-west-2"}, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_USE_FIPS_ENDPOINT": "1"}, `AWS_USE_FIPS_ENDPOINT is "1"; it must be true or false`},
		"an unusable origin":              {eks.Wish{Cluster: cluster, Region: "us-west-2"}, map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL": "https://one.example/path"}, "must be scheme and host"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range c.env {
				t.Setenv(variable, value)
			}
			if token, _, err := app.Mint(t.Context(), c.wish); err == nil || token != "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v; want %q", token, err, c.want)
			}
		})
	}
}
