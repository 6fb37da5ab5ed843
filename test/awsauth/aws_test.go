package awsauth

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var keys = identity.SecretRef{Namespace: "openshift-machine-api", Name: "aws-cloud-credentials"}

func keyPair(id, secret string) map[string]string {
	return map[string]string{"aws_access_key_id": id + "\n", "aws_secret_access_key": " " + secret}
}

// wish asks who to be as a controller does for an object.
func (l *lab) wish(w identity.Wish) identity.Identity {
	l.t.Helper()
	id, err := l.auth.WhoAmI(w)
	if err != nil {
		l.t.Fatalf("WhoAmI: %v", err)
	}
	return id
}

func TestWebIdentitySignsAndTheSecretIsNotRead(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.env["AWS_ACCESS_KEY_ID"], l.env["AWS_SECRET_ACCESS_KEY"] = "AKIAAMBIENT", "ambient"
	l.start()
	l.wantWho(l.wish(identity.Wish{Secret: keys}), assumed("web", "tabard-pod"))
	want := []string{"AssumeRoleWithWebIdentity by anonymous", "GetCallerIdentity by " + assumed("web", "tabard-pod")}
	if diff := cmp.Diff(want, l.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if l.source.reads != 0 {
		t.Errorf("the Secret was read %d times", l.source.reads)
	}
}

func TestSecretSignsInAllItsForms(t *testing.T) {
	l := newLab(t)
	id, secret := l.user("machine-api")
	user := "arn:aws:iam::" + labAccount + ":user/machine-api"
	role := l.webRole("token")
	l.write(openshiftToken, l.token(time.Minute))
	l.env["AWS_ACCESS_KEY_ID"], l.env["AWS_SECRET_ACCESS_KEY"], l.env["AWS_PROFILE"] = "AKIAAMBIENT", "ambient", "somebody"
	cases := map[string]struct {
		data map[string]string
		want []string
	}{
		"two keys": {keyPair(id, secret), []string{"GetCallerIdentity by " + user}},
		"a document with keys, as minted": {
			map[string]string{"credentials": "[default]\naws_access_key_id = " + id + "\naws_secret_access_key = " + secret},
			[]string{"GetCallerIdentity by " + user},
		},
		"a document with a role, as for tokens": {
			map[string]string{"credentials": "[default]\nsts_regional_endpoints = regional\nrole_arn = " + role +
				"\nweb_identity_token_file = " + openshiftToken},
			[]string{"AssumeRoleWithWebIdentity by anonymous", "GetCallerIdentity by " + assumed("token", "tabard-pod")},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l.source.put(keys, name, c.data)
			l.start()
			must.Get(l.who(l.wish(identity.Wish{Secret: keys})))(t)
			if diff := cmp.Diff(c.want, l.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRotatedSecretIsUsedWithoutRestart(t *testing.T) {
	l := newLab(t)
	first, firstSecret := l.user("machine-api")
	user := "arn:aws:iam::" + labAccount + ":user/machine-api"
	l.source.put(keys, "1", keyPair(first, firstSecret))
	l.start()
	id := l.wish(identity.Wish{Secret: keys})
	l.wantWho(id, user)
	second, secondSecret := l.accessKey("machine-api")
	must.Get(l.administrator().DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{UserName: aws.String("machine-api"), AccessKeyId: &first}))(t)
	_, err := l.who(id)
	if got := fault.Of("", "", err); got == nil || got.Class != fault.CredentialsRejected || got.Method != "secret" || got.Subject != keys.String() {
		t.Errorf("with a deleted key: %+v", got)
	}
	l.source.put(keys, "2", keyPair(second, secondSecret))
	l.wantWho(id, user)
	l.source.put(keys, "3", map[string]string{
		"credentials": "[default]\nrole_arn = " + l.webRole("token") + "\nweb_identity_token_file = " + openshiftToken,
	})
	l.write(openshiftToken, l.token(time.Minute))
	l.wantWho(id, assumed("token", "tabard-pod"))
}

func TestRotatedBundleIsUsedWithoutRestart(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	delete(l.env, "AWS_CA_BUNDLE")
	l.start()
	bundle := identity.BundleRef{Namespace: "openshift-config-managed", Name: "kube-cloud-config", Key: "ca-bundle.pem"}
	id := web
	id.CABundle = bundle
	want := assumed("web", "tabard-pod")
	wantClass := func(class fault.Class) {
		t.Helper()
		if _, err := l.who(id); err == nil || fault.Of("", "", err).Class != class {
			t.Errorf("want %s, got %v", class, err)
		}
	}
	wantClass(fault.Certificate) // there is no bundle
	l.source.trust(bundle, foreignCA(t))
	wantClass(fault.Certificate)
	l.source.trust(bundle, string(l.aws.CACertificate()))
	config := must.Get(l.auth.Config(t.Context(), id))(t)
	l.wantWho(id, want)
	for content, text := range map[string]string{"": "no certificate", "nonsense": "no certificate"} {
		l.source.trust(bundle, content)
		_, err := l.who(id)
		var known *awsauth.Error
		if !errors.As(err, &known) || known.Code != fault.CodeBundleInvalid ||
			!strings.HasPrefix(known.Message, "failed to set the custom CA bundle: ") || !strings.Contains(known.Message, text) {
			t.Errorf("bundle %q: %v", content, err)
		}
	}
	l.source.trust(bundle, foreignCA(t))
	wantClass(fault.Certificate)
	if _, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil); err == nil {
		t.Error("a configuration from before trusts the bundle that was replaced")
	}
}

func TestSessionIsRenewedBeforeItEnds(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.start()
	config := must.Get(l.auth.Config(t.Context(), web))(t)
	client := sts.NewFromConfig(config)
	ask := func() {
		t.Helper()
		must.Get(client.GetCallerIdentity(t.Context(), nil))(t)
	}
	for step, want := range []int{1, 1, 2, 2, 3} {
		ask()
		if got := l.exchanges(); got != want {
			t.Errorf("after %d times 28 minutes: %d exchanges, want %d", step, got, want)
		}
		l.advance(28 * time.Minute)
		l.pass(28 * time.Minute)
	}
}

func TestSessionThatAWSEndedIsRenewedOnce(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.start()
	l.wantWho(web, assumed("web", "tabard-pod"))
	l.pass(2 * time.Hour)
	l.aws.Admin().ClearJournal()
	config := must.Get(l.auth.Config(t.Context(), web))(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := iam.NewFromConfig(config).GetUser(t.Context(), &iam.GetUserInput{UserName: aws.String("nobody")}); err == nil || fault.Of("", "", err).Code != "AccessDenied" {
				t.Errorf("want the renewed session to be denied, got %v", err)
			}
		})
	}
	wait.Wait()
	if got := l.exchanges(); got != 1 {
		t.Errorf("%d exchanges, want one: %v", got, l.calls())
	}
	l.aws.Admin().Inject(awslocal.Fault{Service: "iam", Code: "ExpiredToken"})
	l.aws.Admin().ClearJournal()
	_, err := iam.NewFromConfig(config).GetUser(t.Context(), &iam.GetUserInput{})
	if got := fault.Of("", "", err); got == nil || got.Class != fault.CredentialsUnavailable {
		t.Errorf("got %+v", got)
	}
	if calls := l.calls(); len(calls) != 3 {
		t.Errorf("want the call, one exchange and the call again, got %v", calls)
	}
}

// TestSessionThatEC2SaysIsOverIsRenewed: EC2 has another code for it than all
// others.
func TestSessionThatEC2SaysIsOverIsRenewed(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.start()
	l.wantWho(web, assumed("web", "tabard-pod"))
	l.pass(2 * time.Hour)
	l.aws.Admin().ClearJournal()
	config, err := l.auth.Config(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ec2.NewFromConfig(config).DescribeRegions(t.Context(), nil)
	if got := fault.Of("", "", err); got == nil || got.Code != "UnauthorizedOperation" {
		t.Errorf("want the renewed session to be denied, got %v", err)
	}
	if got := l.exchanges(); got != 1 {
		t.Errorf("%d exchanges, want one: %v", got, l.calls())
	}
}

func TestExpiredTokenIsReadAnew(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	fresh := l.token(time.Minute)
	l.write(tokenFile, l.token(-10*time.Minute))
	l.start()
	_, err := l.who(web)
	if got := fault.Of("", "", err); got == nil || got.Class != fault.CredentialsUnavailable || got.Operation != "AssumeRoleWithWebIdentity" {
		t.Errorf("with an expired token: %v", err)
	}
	if got := l.exchanges(); got != 1 {
		t.Errorf("the same token was sent %d times", got)
	}
	read := 0
	l.start(func(o *awsauth.Options) {
		plain := o.ReadFile
		o.ReadFile = func(name string) ([]byte, error) {
			if name == tokenFile {
				if read++; read == 2 {
					return []byte(fresh), nil
				}
			}
			return plain(name)
		}
	})
	l.wantWho(web, assumed("web", "tabard-pod"))
	if got := l.exchanges(); got != 2 {
		t.Errorf("%d exchanges, want the expired token's and the new one's", got)
	}
}

func TestRolesAreAssumedOneUponTheOther(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	trusts := func(arn, more string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Principal":{"AWS":"` + arn + `"}` + more + `}]}`
	}
	hub := l.role("hub", trusts(l.env["AWS_ROLE_ARN"], ""))
	spoke := l.role("spoke", trusts(hub, `,"Condition":{"StringEquals":{"sts:ExternalId":"cluster-7","aws:RequestTag/team":"a"}}`))
	for role, next := range map[string]string{"web": hub, "hub": spoke} {
		if _, err := l.administrator().PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
			RoleName: &role, PolicyName: aws.String("next"),
			PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Resource":"` + next + `"}]}`),
		}); err != nil {
			t.Fatal(err)
		}
	}
	l.start()
	id := web.Assuming(hub).Via(identity.Role{
		ARN: spoke, ExternalID: "cluster-7", SessionName: "mine", Tags: map[string]string{"team": "a"}, Duration: 15 * time.Minute,
	})
	l.wantWho(id, assumed("spoke", "mine"))
	l.wantWho(web.Assuming(hub), assumed("hub", "tabard-pod"))
	want := []string{
		"AssumeRoleWithWebIdentity by anonymous", "AssumeRole by " + assumed("web", "tabard-pod"),
		"AssumeRole by " + assumed("hub", "tabard-pod"), "GetCallerIdentity by " + assumed("spoke", "mine"),
		"GetCallerIdentity by " + assumed("hub", "tabard-pod"),
	}
	if diff := cmp.Diff(want, l.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	_, err := l.who(web.Assuming(hub).Assuming(spoke))
	if got := fault.Of("", "", err); got == nil || got.Class != fault.CredentialsRejected || got.Operation != "AssumeRole" || got.Subject != spoke {
		t.Errorf("without the external ID: %+v", got)
	}
}

func TestContainerCredentialsComeFromTheAgent(t *testing.T) {
	l := newLab(t)
	role := l.role("pod", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`)
	set := `{"keys":[` + l.publicKey() + `]}`
	must.Do(t, l.aws.Admin().AddCluster(awslocal.Cluster{Account: labAccount, Name: "lab", Issuer: l.issuer.Issuer(), JWKS: []byte(set)}))
	l.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = l.aws.PlainURL() + "/v1/credentials"
	l.env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = "/pod/token"
	l.start()
	id := l.wish(identity.Wish{AllowContainer: true})
	_, err := l.who(id)
	if got := fault.Of("", "", err); got == nil || got.Code != fault.CodeTokenUnreadable {
		t.Errorf("without a token: %v", err)
	}
	l.write("/pod/token", l.podToken())
	_, err = l.who(id)
	if got := fault.Of("", "", err); got == nil || got.Class != fault.CredentialsRejected || got.Method != "container" {
		t.Errorf("without an association: %+v", got)
	}
	l.associate(role)
	got, err := l.who(id)
	if want := assumed("pod", "eks-lab-app-"); err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("the caller is %q, want %q…: %v", got, want, err)
	}
}

func (l *lab) associate(role string) {
	l.t.Helper()
	key := l.aws.Administrator(labAccount)
	l.source.put(keys, "administrator", keyPair(key.AccessKeyID, key.SecretAccessKey))
	config := must.Get(l.auth.Config(l.t.Context(), identity.Identity{Base: identity.Secret, Secret: keys}))(l.t)
	must.Get(eks.NewFromConfig(config).CreatePodIdentityAssociation(l.t.Context(), &eks.CreatePodIdentityAssociationInput{
		ClusterName: aws.String("lab"), Namespace: aws.String("team-a"), ServiceAccount: aws.String("app"), RoleArn: &role,
	}))(l.t)
}

func TestCrowdSharesOneExchange(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.start()
	var wait sync.WaitGroup
	for range 20 {
		for _, region := range []string{"", "us-east-1", "eu-west-1"} {
			wait.Go(func() { l.wantWho(web.In(region), assumed("web", "tabard-pod")) })
		}
	}
	wait.Wait()
	if got := l.exchanges(); got != 1 {
		t.Errorf("%d exchanges, want one", got)
	}
}

func TestIdentitysEndpointGoesBeforeThatOfAllServices(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	// The SDK's clients look into the real environment by themselves.
	t.Setenv("AWS_ENDPOINT_URL", "https://127.0.0.1:1")
	l.env["AWS_ENDPOINT_URL"] = os.Getenv("AWS_ENDPOINT_URL")
	l.start()
	id := web
	id.Endpoints = endpoints(t, map[string]string{"sts": l.aws.URL(), "iam": "https://127.0.0.1:2"})
	l.wantWho(id, assumed("web", "tabard-pod"))
	l.env["AWS_ENDPOINT_URL_IAM"] = l.aws.URL()
	config, err := l.auth.Config(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	_, err = iam.NewFromConfig(config).GetUser(t.Context(), &iam.GetUserInput{UserName: aws.String("x")})
	if got := fault.Of("", "", err); got == nil || got.Code != "AccessDenied" {
		t.Errorf("IAM by its own variable: %v", err)
	}
	changed := web
	changed.Endpoints = endpoints(t, map[string]string{"sts": "https://127.0.0.1:3"})
	if _, err := l.who(changed); err == nil || !strings.Contains(err.Error(), "127.0.0.1:3") {
		t.Errorf("a changed endpoint was not used: %v", err)
	}
}

func endpoints(t *testing.T, urls map[string]string) identity.Endpoints {
	t.Helper()
	made := must.Get(identity.NewEndpoints(urls))(t)
	return made
}
