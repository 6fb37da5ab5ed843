package credentials_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// account is AWS in memory.
type account struct {
	policies map[string]credentials.Policy
	roles    map[string]credentials.Role
	refuses  string
	// foreign is the role that is read.
	foreign core.ForeignRole
}

func newAccount() *account {
	return &account{policies: map[string]credentials.Policy{}, roles: map[string]credentials.Role{}}
}

func (a *account) Region() string { return "" }

func (a *account) Caller(context.Context, string) (id, arn string, err error) {
	if a.refuses == "Caller" {
		return "", "", errors.New("no session")
	}
	return "111122223333", "arn:aws:iam::111122223333:user/a", nil
}

func (a *account) EnsurePolicy(_ context.Context, _, arn string, policy credentials.Policy) (bool, error) {
	if a.refuses == "EnsurePolicy" {
		return false, errors.New("AccessDenied")
	}
	before := a.policies[arn]
	a.policies[arn] = policy
	return before != policy, nil
}

func (a *account) EnsureRole(_ context.Context, _ string, role credentials.Role) ([]string, error) {
	if before := a.roles[role.Name]; before == role {
		return nil, nil
	}
	a.roles[role.Name] = role
	return []string{"role"}, nil
}

func (a *account) ReadRole(_ context.Context, _, arn string) (core.ForeignRole, error) {
	if a.refuses == "ReadRole" {
		return core.ForeignRole{}, errors.New("AccessDenied")
	}
	role := a.foreign
	role.ARN = arn
	return role, nil
}

func oidcIssuer() *v1alpha1.OIDCIssuer {
	return &v1alpha1.OIDCIssuer{
		ObjectMeta: metav1.ObjectMeta{Name: "main"},
		Spec: v1alpha1.OIDCIssuerSpec{
			URL: "https://issuer-bucket.s3.eu-central-1.amazonaws.com", Providers: []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com"}}},
			Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: "issuer-bucket", Region: "eu-central-1"}},
		},
	}
}

func TestBootstrapMakesAllAndThenNothing(t *testing.T) {
	b := newBed(t, plainKubernetes, oidcIssuer(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tabard-system"}})
	aws := newAccount()
	b.aws = aws
	code, out, said := b.run("bootstrap")
	if code != 0 || said != "" {
		t.Fatalf("exit code %d: %s", code, said)
	}
	golden(t, "bootstrap.txt", out)
	policy := aws.policies["arn:aws:iam::111122223333:policy/tabard/prod-tabard-boundary"]
	role := aws.roles["prod-tabard-credentials"]
	if !strings.Contains(policy.Document, `"arn:aws:s3:::issuer-bucket/*"`) || policy.Owner != "prod" {
		t.Errorf("the boundary is %+v", policy)
	}
	if !strings.Contains(role.Trust, "system:serviceaccount:tabard-system:tabard-credentials") || !strings.Contains(role.Policy, policy.Name) {
		t.Errorf("the role is %+v", role)
	}
	var config corev1.ConfigMap
	must.Do(t, b.client.Get(t.Context(), client.ObjectKey{Namespace: "tabard-system", Name: "tabard-credentials"}, &config))
	want := map[string]string{
		"roleARN": "arn:aws:iam::111122223333:role/prod-tabard-credentials", "boundaryARN": "arn:aws:iam::111122223333:policy/tabard/prod-tabard-boundary",
		"region": "eu-central-1", "infrastructure": "prod",
	}
	if diff := cmp.Diff(want, config.Data); diff != "" {
		t.Errorf("the ConfigMap (-want +got):\n%s", diff)
	}
	var made v1alpha1.CredentialsBoundary
	must.Do(t, b.client.Get(t.Context(), client.ObjectKey{Name: "default"}, &made))
	if v := core.JudgeBoundary(&made, core.Settings{Partition: "aws"}); !v.IsTrue() {
		t.Errorf("the boundary default cannot be used: %s", v.Message)
	}
	code, out, _ = b.run("bootstrap")
	if code != 0 || strings.Contains(out, "changed:  ") || strings.Count(out, "unchanged:") != 4 {
		t.Errorf("again, exit code %d: %s", code, out)
	}
	// An issuer that was made since is kept from the roles, and its tokens are trusted.
	second := oidcIssuer()
	second.Name, second.Spec.URL, second.Spec.Publication.S3.Bucket, second.ResourceVersion = "second", "https://second.example", "second-bucket", ""
	must.Do(t, b.client.Create(t.Context(), second))
	if _, out, _ = b.run("bootstrap"); strings.Count(out, "changed:  ") != 2 || !strings.Contains(aws.policies[policyARN].Document, "second-bucket") {
		t.Errorf("with another issuer: %s", out)
	}
}

// TestBootstrapWakesWhatWaits: each request that is not Ready is asked to be looked at, and no
// other.
func TestBootstrapWakesWhatWaits(t *testing.T) {
	waits, fine := request("waits"), request("fine")
	b := newBed(t, plainKubernetes, oidcIssuer(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tabard-system"}}, waits, fine,
		grant(waits, metav1.ConditionFalse, core.ReasonNoPermissionsBoundary, "no policy"), grant(fine, metav1.ConditionTrue, core.ReasonReady, ""))
	b.aws = newAccount()
	code, out, said := b.run("bootstrap")
	if code != 0 || !strings.Contains(out, "the controller is asked to look at each of the requests that wait: 1") {
		t.Fatalf("exit code %d: %s%s", code, out, said)
	}
	for _, r := range []*cloudv1.CredentialsRequest{waits, fine} {
		var stored v1alpha1.CredentialsGrant
		must.Do(t, b.client.Get(t.Context(), client.ObjectKey{Name: core.GrantName(r.Namespace, r.Name)}, &stored))
		if asked := stored.Annotations[core.ResyncAnnotation] != ""; asked != (r == waits) {
			t.Errorf("the grant of %s has the annotations %v", r.Name, stored.Annotations)
		}
	}
}

const policyARN = "arn:aws:iam::111122223333:policy/tabard/prod-tabard-boundary"

func TestBootstrapOnOpenShiftTrustsItsIssuer(t *testing.T) {
	facts := beside
	facts.Issuer = "https://openshift.example"
	b := newBed(t, facts, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tabard-system"}})
	aws := newAccount()
	b.aws = aws
	if code, _, said := b.run("bootstrap"); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if trust := aws.roles["prod-tabard-credentials"].Trust; !strings.Contains(trust, "oidc-provider/openshift.example") {
		t.Errorf("the trust is %s", trust)
	}
	var config corev1.ConfigMap
	must.Do(t, b.client.Get(t.Context(), client.ObjectKey{Namespace: "tabard-system", Name: "tabard-credentials"}, &config))
	if config.Data["infrastructure"] != "" {
		t.Errorf("the ConfigMap is %v: on OpenShift no flag may name the cluster", config.Data)
	}
}

func TestBootstrapTellsOfBoundariesThatAWSWillRefuse(t *testing.T) {
	team := &v1alpha1.CredentialsBoundary{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Spec: v1alpha1.CredentialsBoundarySpec{
			Namespaces: []string{"team-a"}, AWS: &v1alpha1.AWSBoundary{PathPrefix: "/team/", PermissionsBoundary: "arn:aws:iam::111122223333:policy/team"},
		},
	}
	b := newBed(t, plainKubernetes, oidcIssuer(), team, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tabard-system"}})
	b.aws = newAccount()
	if _, out, _ := b.run("bootstrap"); !strings.Contains(out, "add --role-path /team/") || !strings.Contains(out, "add --permissions-boundary arn:aws:iam::111122223333:policy/team") {
		t.Error(out)
	}
	if _, out, _ := b.run("bootstrap", "--role-path", "/tabard/", "--role-path", "/team/", "--permissions-boundary", "arn:aws:iam::111122223333:policy/team"); strings.Contains(out, "warning") {
		t.Error(out)
	}
}

func TestBootstrapIsPrintedForSomebodyElse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "issuer.yaml")
	must.Do(t, os.WriteFile(file, []byte(`apiVersion: identity.tabard.dev/v1alpha1
kind: OIDCIssuer
metadata: {name: main}
spec:
  url: https://issuer-bucket.s3.eu-central-1.amazonaws.com
  publication: {s3: {bucket: issuer-bucket, region: eu-central-1}}
  providers: [{audiences: [sts.amazonaws.com]}]
`), 0o600))
	b := newBed(t, plainKubernetes, oidcIssuer())
	for _, form := range handoff.Forms() {
		_, online, _ := b.run("bootstrap", "--print", form, "--account", "111122223333")
		code, offline, said := b.run("bootstrap", "--print", form, "--account", "111122223333", "-f", file)
		if code != 0 || said != "" || online != offline {
			t.Errorf("%s: exit code %d, %s; with a cluster and without (-with +without):\n%s", form, code, said, cmp.Diff(online, offline))
		}
		for _, want := range []string{"prod-tabard-boundary", "prod-tabard-credentials", "iam:PermissionsBoundary", "issuer-bucket", "tabard.dev/credentials"} {
			if !strings.Contains(offline, want) {
				t.Errorf("%s does not hold %s:\n%s", form, want, offline)
			}
		}
	}
}

func TestABootstrapThatCannotBeIsRefused(t *testing.T) {
	nameless := plainKubernetes
	nameless.Infrastructure, nameless.Region = "", ""
	for name, test := range map[string]struct {
		facts   platform.Facts
		issuer  bool
		refuses string
		args    []string
		code    int
		want    string
	}{
		"a cluster without a name":               {nameless, true, "", nil, command.Unusable, "set --infrastructure-name"},
		"no issuer":                              {plainKubernetes, false, "", nil, command.Unusable, "run tabard issuer bootstrap first"},
		"nobody in AWS":                          {plainKubernetes, true, "Caller", nil, command.Found, "sign in first"},
		"no right to make the policy":            {plainKubernetes, true, "EnsurePolicy", nil, command.Found, "make the boundary policy"},
		"the path of everything":                 {plainKubernetes, true, "", []string{"--role-path", "/"}, command.Unusable, "expected a path of its own"},
		"a path with a wildcard":                 {plainKubernetes, true, "", []string{"--role-path", "/a*/"}, command.Unusable, "expected a path of its own"},
		"a boundary that is a role":              {plainKubernetes, true, "", []string{"--permissions-boundary", "arn:aws:iam::111122223333:role/x"}, command.Unusable, "expected the ARN of a managed policy"},
		"a form that is none":                    {plainKubernetes, true, "", []string{"--print", "pulumi"}, command.Unusable, "expected one of aws"},
		"an account that is none":                {plainKubernetes, true, "", []string{"--print", "aws", "--account", "1"}, command.Unusable, "twelve digits"},
		"a file without print":                   {plainKubernetes, true, "", []string{"-f", "issuer.yaml"}, command.Unusable, "are for --print"},
		"a file that is not there":               {plainKubernetes, true, "", []string{"-f", "nosuch.yaml", "--print", "aws"}, command.Unusable, "nosuch.yaml"},
		"a file that is something else":          {plainKubernetes, true, "", []string{"-f", "bootstrap.go", "--print", "aws"}, command.Unusable, "bootstrap.go is no OIDCIssuer"},
		"no namespace to tell the controller in": {plainKubernetes, true, "", []string{"-n", "nosuch"}, command.Found, "nosuch"},
	} {
		objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tabard-system"}}}
		if test.issuer {
			objects = append(objects, oidcIssuer())
		}
		b := newBed(t, test.facts, objects...)
		b.aws = &account{policies: map[string]credentials.Policy{}, roles: map[string]credentials.Role{}, refuses: test.refuses}
		if code, _, said := b.run(append([]string{"bootstrap"}, test.args...)...); code != test.code || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit code %d, said %q, want %d and %q", name, code, said, test.code, test.want)
		}
	}
}
