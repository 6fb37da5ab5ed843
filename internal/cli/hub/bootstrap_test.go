package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const hubIssuer = "https://oidc.eks.us-west-2.amazonaws.com/id/EXAMPLE"

// bed is a hub's cluster and its account in AWS, both in memory.
type bed struct {
	*testing.T
	client   client.Client
	account  string
	issuer   error
	provider core.ProviderSeen
	role     core.RoleSeen
	writes   []string
	asked    bool
}

func newBed(t *testing.T, objects ...client.Object) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Do(t, errors.Join(corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme), authorizationv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	scheme.AddKnownTypeWithName(clusterManagers, &unstructured.Unstructured{})
	b := &bed{T: t, account: "111111111111", provider: core.ProviderSeen{Exists: true, Audiences: []string{core.TokenAudience}}}
	b.client = fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().
		WithObjects(append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tabard-system"}})...).
		WithInterceptorFuncs(interceptor.Funcs{Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if review, ok := object.(*authorizationv1.SelfSubjectAccessReview); ok {
				review.Status.Allowed = true
				return nil
			}
			return to.Create(ctx, object, options...)
		}}).Build()
	return b
}

func (b *bed) Caller(context.Context, string) (account, arn string, err error) {
	if b.account == "" {
		return "", "", errors.New("no session")
	}
	return b.account, "arn:aws:iam::" + b.account + ":user/admin", nil
}

func (b *bed) Provider(context.Context, string, string) core.ProviderSeen { return b.provider }
func (b *bed) Role(context.Context, string, string) core.RoleSeen         { return b.role }

func (b *bed) EnsureRole(_ context.Context, c core.Controller) (string, []string, error) {
	want := core.RoleSeen{
		Exists: true, ARN: c.RoleARN(), Tags: map[string]string{core.ControllerTag: c.Hub.String()}, Trust: c.Trust(), Policy: core.Permissions(c.Hub).String(), Boundary: c.Role.Boundary,
	}
	maps.Copy(want.Tags, c.Role.Tags)
	if b.role.Exists && b.role.Trust == want.Trust {
		return b.role.ARN, nil, nil
	}
	b.role = want
	b.writes = append(b.writes, "EnsureRole")
	return b.role.ARN, []string{"role"}, nil
}

func (b *bed) DeleteRole(_ context.Context, _, name, _ string) error {
	b.role = core.RoleSeen{}
	b.writes = append(b.writes, "DeleteRole "+name)
	return nil
}

func (b *bed) run(args ...string) (code int, out, said string) {
	b.Helper()
	var stdout, stderr bytes.Buffer
	root := New(World{
		Streams: command.Streams{Out: &stdout, Err: &stderr}, AWS: func() (AWS, error) { return b, nil },
		Cluster: func(*command.Kubeconfig) (Cluster, error) {
			b.asked = true
			return Cluster{Client: b.client, Issuer: func(context.Context) (string, error) { return hubIssuer, b.issuer }}, nil
		},
	})
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	if exit, ok := errors.AsType[*command.Exit](root.ExecuteContext(b.Context())); ok {
		code = exit.Code
	}
	return code, stdout.String(), stderr.String()
}

func (b *bed) config() map[string]string {
	b.Helper()
	return must.Get(told(Cluster{Client: b.client}, "tabard-system").Config(b.Context()))(b).Data
}

func TestBootstrapMakesAllAndThenNothing(t *testing.T) {
	b := newBed(t)
	code, out, said := b.run("bootstrap", "--hub-cluster-arn", hubARN)
	for _, want := range []string{
		"= OIDC provider arn:aws:iam::111111111111:oidc-provider/oidc.eks", "+ role tabard-hub-eks-hub-01fe8ed7 for the ServiceAccount tabard-system/tabard-hub", "+ ConfigMap tabard-system/tabard-hub",
		"tabard hub unbootstrap --hub-cluster-arn " + hubARN, "--set hub.enabled=true",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	c := core.Controller{Hub: must.Get(core.ParseARN(hubARN))(t)}
	if code != 0 || said != "" || b.config()["roleARN"] != c.RoleARN() || b.config()["hubARN"] != hubARN || b.config()["region"] != "us-west-2" {
		t.Fatalf("exit code %d, %s, the ConfigMap is %v", code, said, b.config())
	}
	if _, out, _ = b.run("bootstrap", "--hub-cluster-arn", hubARN); len(b.writes) != 1 || strings.Count(out, ": unchanged\n") != 2 {
		t.Errorf("again, %v: %s", b.writes, out)
	}
	code, out, said = b.run("bootstrap", "--hub-cluster-arn", hubARN, "-o", "json")
	var result Result
	must.Do(t, json.Unmarshal([]byte(out), &result))
	if code != 0 || result.Kind != "HubBootstrap" || len(result.Plan) != 3 || len(result.Changes) != 0 || !strings.Contains(said, "unchanged") {
		t.Errorf("for programs, exit code %d: %s%s", code, out, said)
	}
}

// demanded are the flags for an account that demands something of every role.
var demanded = []string{"--role-path", "/platform/", "--permissions-boundary", "arn:aws:iam::111111111111:policy/platform", "--tag", "cost-center=42", "--tag", "team=a b"}

// TestTheRoleIsMadeAsTheAccountDemands: the controller is told the role's ARN with its path, also by
// a later run without the flags, and whoever takes it back is told the flags.
func TestTheRoleIsMadeAsTheAccountDemands(t *testing.T) {
	const arn = "arn:aws:iam::111111111111:role/platform/tabard-hub-eks-hub-01fe8ed7"
	b := newBed(t)
	code, out, said := b.run(append([]string{"bootstrap", "--hub-cluster-arn", hubARN}, demanded...)...)
	if code != 0 || b.config()["roleARN"] != arn || b.role.Boundary != demanded[3] || b.role.Tags["cost-center"] != "42" || b.role.Tags["team"] != "a b" ||
		!strings.Contains(out, "+ role tabard-hub-eks-hub-01fe8ed7 at the path /platform/ with the permissions boundary "+demanded[3]+" with the tags cost-center, team") {
		t.Fatalf("exit code %d, %+v, the ConfigMap is %v: %s%s", code, b.role, b.config(), out, said)
	}
	code, out, said = b.run("bootstrap", "--hub-cluster-arn", hubARN, "-o", "json")
	var result Result
	must.Do(t, json.Unmarshal([]byte(out), &result))
	if code != 0 || len(b.writes) != 1 || result.RoleARN != arn || len(result.Changes) != 0 || b.config()["roleARN"] != arn {
		t.Errorf("without the flags, exit code %d, wrote %v, the ConfigMap is %v: %s%s", code, b.writes, b.config(), out, said)
	}
	if code, _, said = b.run("bootstrap", "--hub-cluster-arn", hubARN, "--role-path", "/other/"); code != 1 || len(b.writes) != 1 || !strings.Contains(said, "IAM moves no role") {
		t.Errorf("with another path, exit code %d, wrote %v: %s", code, b.writes, said)
	}
	code, out, said = b.run("unbootstrap", "--hub-cluster-arn", hubARN, "--yes")
	undo := "--namespace tabard-system --role-path /platform/ --permissions-boundary " + demanded[3] + " --tag 'cost-center=42' --tag 'team=a b'\n"
	if code != 0 || b.role.Exists || b.config() != nil || !strings.Contains(out, "role "+arn+" deleted") || !strings.HasSuffix(out, undo) {
		t.Errorf("taken back, exit code %d, %+v, the ConfigMap is %v: %s%s", code, b.role, b.config(), out, said)
	}
}

func TestBootstrapRefusesAndWritesNothing(t *testing.T) {
	foreign := func(b *bed) { b.role = core.RoleSeen{Exists: true, ARN: "arn:aws:iam::111111111111:role/x"} }
	cases := map[string]struct {
		change func(*bed)
		args   []string
		says   string
		code   int
	}{
		"a dry run":                     {func(*bed) {}, []string{"--dry-run"}, "this was a dry run: nothing was written", 0},
		"a role of somebody else":       {foreign, nil, "was not made by Tabard", 1},
		"no provider":                   {func(b *bed) { b.provider = core.ProviderSeen{} }, nil, "aws iam create-open-id-connect-provider", 1},
		"no session":                    {func(b *bed) { b.account = "" }, nil, "sign in first", 1},
		"another account":               {func(b *bed) { b.account = "222222222222" }, nil, "sign in there", 1},
		"an issuer that cannot be read": {func(b *bed) { b.issuer = errors.New("Forbidden") }, nil, "name it with --issuer", 2},
		"an issuer that is none":        {func(*bed) {}, []string{"--issuer", "http://a"}, "the issuer", 2},
		"another cluster's issuer":      {func(*bed) {}, []string{"--issuer", "https://other.example"}, "the cluster's tokens name", 1},
		"a path that is none":           {func(*bed) {}, []string{"--role-path", "platform"}, "--role-path is", 2},
		"the path of others":            {func(*bed) {}, []string{"--role-path", "/tabard/"}, "the roles of CredentialsRequests are at", 2},
		"a boundary that is none":       {func(*bed) {}, []string{"--permissions-boundary", "platform"}, "--permissions-boundary is", 2},
		"a tag that is none":            {func(*bed) {}, []string{"--tag", "a"}, "--tag: the tag", 2},
		"a tag of Tabard's":             {func(*bed) {}, []string{"--tag", core.ControllerTag + "=a"}, "--tag: the tag", 2},
		"an account without --print":    {func(*bed) {}, []string{"--account", "111111111111"}, "--account is for --print", 2},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			test.change(b)
			code, out, said := b.run(append([]string{"bootstrap", "--hub-cluster-arn", hubARN}, test.args...)...)
			if code != test.code || !strings.Contains(out+said, test.says) || len(b.writes) != 0 || b.config() != nil {
				t.Errorf("exit code %d, wrote %v and %v: %s%s", code, b.writes, b.config(), out, said)
			}
		})
	}
}

func TestAnotherRoleIsReplacedOnlyIfToldTo(t *testing.T) {
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-hub"}, Data: map[string]string{"roleARN": "arn:aws:iam::111111111111:role/other"}}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-hub"}}
	b := newBed(t, other, deployment)
	if code, _, said := b.run("bootstrap", "--hub-cluster-arn", hubARN); code != 1 || !strings.Contains(said, "--replace-role") || len(b.writes) != 0 {
		t.Errorf("exit code %d: %s", code, said)
	}
	code, out, said := b.run("bootstrap", "--hub-cluster-arn", hubARN, "--replace-role")
	must.Do(t, b.client.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment))
	if code != 0 || b.config()["hubARN"] != hubARN || !strings.Contains(out, "are replaced") || len(deployment.Spec.Template.Annotations) != 1 {
		t.Errorf("exit code %d, %v: %s%s", code, b.config(), out, said)
	}
}

func TestBootstrapPrintsWhatSomebodyElseIsToMake(t *testing.T) {
	args := []string{"bootstrap", "--hub-cluster-arn", hubARN, "--issuer", hubIssuer, "--print"}
	for _, form := range handoff.Forms() {
		b := newBed(t)
		code, out, said := b.run(append(args, form, "--account", "111111111111")...)
		if code != 0 || said != "" || b.asked || len(b.writes) != 0 {
			t.Fatalf("%s: exit code %d, asked the cluster %t: %s", form, code, b.asked, said)
		}
		for _, want := range []string{"tabard-hub-eks-hub-01fe8ed7", core.ControllerTag, hubARN, "system:serviceaccount:tabard-system:tabard-hub", "oidc-provider/oidc.eks.us-west-2", "MakeRoles", "give-clusters-access"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not hold %s:\n%s", form, want, out)
			}
		}
	}
	for _, form := range handoff.Forms() {
		code, out, said := newBed(t).run(append(append(args, form), demanded...)...)
		for _, want := range []string{"/platform/", demanded[3], "cost-center", "42", "team", "a b"} {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%s as an account demands does not hold %s, exit code %d: %s\n%s", form, want, code, said, out)
			}
		}
	}
	b := newBed(t)
	if code, out, _ := b.run("bootstrap", "--hub-cluster-arn", hubARN, "--print", "json"); code != 0 || !b.asked || !strings.Contains(out, "oidc.eks.us-west-2") {
		t.Errorf("with the cluster's own issuer, exit code %d, asked %t: %s", code, b.asked, out)
	}
	for says, more := range map[string][]string{
		"expected one of": {"pulumi"}, "twelve digits": {"aws", "--account", "12"}, "leave --account out": {"aws", "--account", "222222222222"},
	} {
		if code, out, said := newBed(t).run(append(args, more...)...); code != 2 || out != "" || !strings.Contains(said, says) {
			t.Errorf("%v: exit code %d, %q and %q", more, code, out, said)
		}
	}
}

func TestUnbootstrapRemovesOnlyWhatBootstrapMade(t *testing.T) {
	left := &v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}, Spec: v1alpha1.HubAccessSpec{Access: &v1alpha1.ClusterAccess{HubARN: hubARN, RoleARN: "arn:aws:iam::111111111111:role/ocm-hub-1"}}}
	b := newBed(t, left)
	b.run("bootstrap", "--hub-cluster-arn", hubARN)
	b.writes = nil
	if code, out, said := b.run("unbootstrap", "--hub-cluster-arn", hubARN, "--dry-run"); code != 0 || len(b.writes) != 0 || b.config() == nil || !strings.Contains(out, "- role arn:aws:iam::111111111111:role/tabard-hub-eks-hub-01fe8ed7") || !strings.Contains(out, "! HubAccess cluster1: the role arn:aws:iam::111111111111:role/ocm-hub-1") {
		t.Errorf("a dry run, exit code %d, wrote %v: %s%s", code, b.writes, out, said)
	}
	if code, _, said := b.run("unbootstrap", "--hub-cluster-arn", hubARN); code != 1 || len(b.writes) != 0 || !strings.Contains(said, "add --yes") {
		t.Errorf("nobody was asked, exit code %d, wrote %v: %s", code, b.writes, said)
	}
	code, out, said := b.run("unbootstrap", "--hub-cluster-arn", hubARN, "--yes")
	if code != 0 || len(b.writes) != 1 || b.config() != nil || !strings.Contains(out, "left in AWS: the OIDC provider") {
		t.Errorf("exit code %d, wrote %v, the ConfigMap is %v: %s%s", code, b.writes, b.config(), out, said)
	}
	if code, out, _ = b.run("unbootstrap", "--hub-cluster-arn", hubARN, "--yes"); code != 0 || len(b.writes) != 1 || !strings.Contains(out, "nothing to do") {
		t.Errorf("again, exit code %d, wrote %v: %s", code, b.writes, out)
	}
}

func TestUnbootstrapRefuses(t *testing.T) {
	byHand := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-hub"}, Data: map[string]string{"roleARN": core.Controller{Hub: must.Get(core.ParseARN(hubARN))(t)}.RoleARN()}}
	running := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-hub"}}
	own := core.RoleSeen{Exists: true, ARN: "arn:aws:iam::111111111111:role/x", Tags: map[string]string{core.ControllerTag: hubARN}}
	cases := map[string]struct {
		role    core.RoleSeen
		objects []client.Object
		args    []string
		says    string
		code    int
		writes  int
	}{
		"a role of somebody else":          {core.RoleSeen{Exists: true, ARN: "arn:aws:iam::111111111111:role/x"}, nil, []string{"--hub-cluster-arn", hubARN}, "was not made by Tabard", 1, 0},
		"a controller that runs":           {own, []client.Object{running}, []string{"--hub-cluster-arn", hubARN}, "--set hub.enabled=false", 1, 0},
		"nothing says which hub":           {own, nil, []string{"--without-cluster"}, "--hub-cluster-arn", 2, 0},
		"a ConfigMap of people":            {own, []client.Object{byHand}, []string{"--hub-cluster-arn", hubARN}, "was not written by a bootstrap", 0, 1},
		"a cluster that shall not be read": {own, []client.Object{running, byHand}, []string{"--hub-cluster-arn", hubARN, "--without-cluster"}, "left in the cluster: the ConfigMap", 0, 1},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for _, object := range test.objects {
				objects = append(objects, object.DeepCopyObject().(client.Object)) //nolint:forcetypeassert // a copy is of its type
			}
			b := newBed(t, objects...)
			b.role = test.role
			code, out, said := b.run(append([]string{"unbootstrap", "--yes"}, test.args...)...)
			if code != test.code || len(b.writes) != test.writes || !strings.Contains(out+said, test.says) {
				t.Errorf("exit code %d, wrote %v: %s%s", code, b.writes, out, said)
			}
			for _, object := range objects {
				must.Do(t, b.client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
			}
		})
	}
}
