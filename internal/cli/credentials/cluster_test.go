package credentials_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// bed is a cluster without a server, and a session in AWS that is none.
type bed struct {
	t      *testing.T
	client client.Client
	facts  platform.Facts
	aws    credentials.AWS
	in     string
}

// plainKubernetes is a cluster without a Cloud Credential Operator.
var plainKubernetes = platform.Facts{Infrastructure: "prod", Region: "eu-central-1", Operator: platform.Operator{Why: "there is no Cloud Credential Operator"}}

// beside is a cluster with one that is live, in mode Mint.
var beside = platform.Facts{
	OpenShift: true, Cloud: platform.AWS, Infrastructure: "prod", Region: "eu-central-1", Mode: platform.Mint,
	Operator: platform.Operator{Live: true, Why: "its Deployment wants a replica"},
}

func newBed(t *testing.T, facts platform.Facts, objects ...client.Object) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Do(t, errors.Join(corev1.AddToScheme(scheme), cloudv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	return &bed{t: t, facts: facts, client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
}

// AddFlags adds none.
func (b *bed) AddFlags(*pflag.FlagSet) {}

// Override says what the facts say.
func (b *bed) Override() (platform.Override, error) {
	return platform.Override{Infrastructure: b.facts.Infrastructure, Region: b.facts.Region}, nil
}

// Cluster is the bed itself.
func (b *bed) Cluster() (credentials.Cluster, error) {
	return credentials.Cluster{
		Client: b.client, Namespace: "team-a", Now: func() time.Time { return now },
		Facts: func(context.Context) (platform.Facts, error) { return b.facts, nil },
	}, nil
}

func (b *bed) session() (credentials.AWS, error) {
	if b.aws == nil {
		return nil, errors.New("no credentials were found")
	}
	return b.aws, nil
}

// run runs a command and returns its exit code and what it wrote.
func (b *bed) run(args ...string) (code int, out, said string) {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	world := credentials.World{
		Place: func() credentials.Place { return b }, AWS: b.session, ReadFile: os.ReadFile,
	}
	root := credentials.New(command.Streams{In: bytes.NewBufferString(b.in), Out: &stdout, Err: &stderr}, world)
	root.SetArgs(args)
	root.SetOut(&stdout)
	err := root.ExecuteContext(b.t.Context())
	if exit, is := errors.AsType[*command.Exit](err); is {
		code = exit.Code
	} else if err != nil {
		code = command.Unusable
		stderr.WriteString(err.Error())
	}
	return code, stdout.String(), stderr.String()
}

// request asks for one bucket, for a ServiceAccount.
func request(name string, change ...func(*cloudv1.CredentialsRequest)) *cloudv1.CredentialsRequest {
	out := &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name, UID: types.UID("uid-" + name), Generation: 1, CreationTimestamp: metav1.NewTime(now.Add(-90 * time.Minute)),
		},
		Spec: cloudv1.CredentialsRequestSpec{Storage: &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: "team-a", Name: "reports"}}},
	}
	provider(cloudv1.AWSProviderSpec{StatementEntries: []cloudv1.StatementEntry{{
		Effect: "Allow", Action: []string{"s3:GetObject", "s3:PutObject"}, Resource: "arn:aws:s3:::data/reports/*",
		PolicyCondition: cloudv1.IAMPolicyCondition{"StringEquals": {"aws:SourceVpc": "vpc-1"}},
	}}})(out)
	for _, f := range change {
		f(out)
	}
	return out
}

// provider makes a request ask for something else.
func provider(spec any) func(*cloudv1.CredentialsRequest) {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		panic(err)
	}
	fields["apiVersion"] = cloudv1.GroupVersion.String()
	switch spec.(type) {
	case cloudv1.AWSProviderSpec:
		fields["kind"] = cloudv1.AWSProviderSpecKind
	case cloudv1.AzureProviderSpec:
		fields["kind"] = cloudv1.AzureProviderSpecKind
	case cloudv1.GCPProviderSpec:
		fields["kind"] = cloudv1.GCPProviderSpecKind
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return func(r *cloudv1.CredentialsRequest) { r.Spec.ProviderSpec = &runtime.RawExtension{Raw: raw} }
}

// toSecret makes a request ask for a Secret.
func toSecret(r *cloudv1.CredentialsRequest) {
	r.Spec.Storage, r.Spec.SecretRef = nil, &cloudv1.ObjectReference{Namespace: r.Namespace, Name: r.Name + "-secret"}
}

// ofCCO makes a request one that a Cloud Credential Operator had.
func ofCCO(r *cloudv1.CredentialsRequest) { r.Finalizers = append(r.Finalizers, cloudv1.Finalizer) }

// grant is the record of a request; ready is the status of its condition Ready.
func grant(r *cloudv1.CredentialsRequest, ready metav1.ConditionStatus, reason core.Reason, message string, change ...func(*v1alpha1.CredentialsGrant)) *v1alpha1.CredentialsGrant {
	out := &v1alpha1.CredentialsGrant{
		ObjectMeta: metav1.ObjectMeta{Name: core.GrantName(r.Namespace, r.Name), UID: "grant-" + r.UID},
		Spec:       v1alpha1.CredentialsGrantSpec{Request: v1alpha1.RequestRef{Namespace: r.Namespace, Name: r.Name, UID: r.UID}},
		Status: v1alpha1.CredentialsGrantStatus{
			ObservedGeneration: 1,
			Conditions:         []metav1.Condition{{Type: core.TypeReady, Status: ready, Reason: string(reason), Message: message}},
		},
	}
	for _, f := range change {
		f(out)
	}
	return out
}

// withRole makes a grant remember a role.
func withRole(g *v1alpha1.CredentialsGrant) {
	name := "prod-" + g.Spec.Request.Name
	g.Status.Role = &v1alpha1.GrantedRole{AccountID: "111122223333", Name: name, Path: "/tabard/", ARN: "arn:aws:iam::111122223333:role/tabard/" + name, PolicyName: name + "-policy"}
	g.Status.Targets = []v1alpha1.GrantedTarget{{Kind: core.KindServiceAccount, Namespace: "team-a", Name: "reports"}}
	g.Status.Issuers = []v1alpha1.TrustedIssuer{{URL: "https://issuer.example", ProviderARN: "arn:aws:iam::111122223333:oidc-provider/issuer.example"}}
}
