package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
)

const (
	capacityAccount = "123456789012"
	capacityUser    = "system:serviceaccount:tabard-system:tabard-capacity"
	describeTypes   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:DescribeInstanceTypes","ec2:DescribeRegions"],"Resource":"*"}]}`
)

// capacityLab is tabard capacity with the rights of its manifests, on a real API
// server and a local AWS that trusts this API server's tokens.
type capacityLab struct {
	api     *testkit.APIServer
	cluster client.Client
	aws     *awslocal.Server
	issuer  string
}

func newCapacityLab(t *testing.T) *capacityLab {
	t.Helper()
	l := &capacityLab{}
	var roots *x509.CertPool
	l.api, roots = testkit.StartIssuer(t)
	l.issuer = l.api.Issuer()
	l.api.InstallForeign(t, testkit.MachineAPI)
	var err error
	if l.cluster, err = client.New(l.api.Config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tabard-system", "openshift-machine-api", "openshift-config-managed"} {
		testkit.Create(t, l.cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, file := range []string{"rbac/capacity.yaml", "manifests/capacity.yaml", "manifests/openshift/capacity.yaml"} {
		l.apply(t, filepath.Join("../../config", file))
	}
	if l.aws, err = awslocal.New(awslocal.Options{Accounts: []string{capacityAccount}, Region: "us-west-2", TrustedCAs: roots}); err != nil {
		t.Fatal(err)
	}
	if err := l.aws.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if err := l.aws.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.aws.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, l.aws.CACertificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": l.aws.URL(), "AWS_CA_BUNDLE": bundle, "AWS_REGION": "us-west-2",
		"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
		"KUBECONFIG": writeKubeconfig(t, l.api.Config, capacityUser),
	} {
		t.Setenv(name, value)
	}
	return l
}

// apply creates the objects of a file, but for those in which nothing counts here.
func (l *capacityLab) apply(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		testkit.Create(t, l.cluster, object)
	}
}

// start runs the command with the arguments of its Deployment and more, and stops
// it at the end of the test. Its addresses are not free here.
func (l *capacityLab) start(t *testing.T, more ...string) {
	t.Helper()
	var flags capacityFlags
	parsed := pflag.NewFlagSet("capacity", pflag.ContinueOnError)
	flags.add(parsed)
	var deployment appsv1.Deployment
	if err := l.cluster.Get(t.Context(), client.ObjectKey{Namespace: "tabard-system", Name: "tabard-capacity"}, &deployment); err != nil {
		t.Fatal(err)
	}
	args := append(deployment.Spec.Template.Spec.Containers[0].Args[1:],
		"--metrics-bind-address=0", "--health-addr=0", "--leader-elect-resource-namespace=tabard-system", "--log-level=error", "-v=1")
	if err := parsed.Parse(append(args, more...)); err != nil {
		t.Fatal(err)
	}
	runToEnd(t, func(ctx context.Context) error { return flags.run(ctx, parsed) })
}

// startOperator runs tabard operator with arguments, and stops it at the end of the
// test.
func (l *capacityLab) startOperator(t *testing.T, args ...string) {
	t.Helper()
	var flags operatorFlags
	parsed := pflag.NewFlagSet("operator", pflag.ContinueOnError)
	flags.add(parsed)
	given := []string{"--leader-elect=false", "--namespace=tabard-system", "--metrics-bind-address=0", "--log-level=error"}
	if err := parsed.Parse(append(given, args...)); err != nil {
		t.Fatal(err)
	}
	runToEnd(t, func(ctx context.Context) error { return runOperator(ctx, flags) })
}

// runToEnd runs a process and stops it at the end of the test.
func runToEnd(t *testing.T, process func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- process(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// set creates a MachineSet of an instance type.
func (l *capacityLab) set(t *testing.T, name, instanceType, region string) *unstructured.Unstructured {
	t.Helper()
	set := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
		"metadata": map[string]any{"namespace": "openshift-machine-api", "name": name},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{
			"kind": "AWSMachineProviderConfig", "instanceType": instanceType,
			"placement":         map[string]any{"region": region},
			"credentialsSecret": map[string]any{"name": "aws-cloud-credentials"},
		}}}}},
	}}
	testkit.Create(t, l.cluster, set)
	return set
}

func (l *capacityLab) awaitCapacity(t *testing.T, set *unstructured.Unstructured, cpus string) {
	t.Helper()
	testkit.Await(t, func() error {
		if err := l.cluster.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		if got := set.GetAnnotations()["machine.openshift.io/vCPU"]; got != cpus {
			return fmt.Errorf("%s has the annotations %v, want %s CPUs", set.GetName(), set.GetAnnotations(), cpus)
		}
		return nil
	})
}

func (l *capacityLab) awaitEvent(t *testing.T, set *unstructured.Unstructured, reason, message string) {
	t.Helper()
	testkit.Await(t, func() error {
		var list corev1.EventList
		if err := l.cluster.List(t.Context(), &list, client.InNamespace(set.GetNamespace())); err != nil {
			return err
		}
		var seen []string
		for _, event := range list.Items {
			if event.InvolvedObject.UID != set.GetUID() {
				continue
			}
			if event.Reason == reason && event.Message == message {
				return nil
			}
			seen = append(seen, event.Reason+": "+event.Message)
		}
		return fmt.Errorf("%s has the events %q, want %s: %s", set.GetName(), seen, reason, message)
	})
}

func (l *capacityLab) administrator() *iam.Client {
	key := l.aws.Administrator(capacityAccount)
	return iam.New(iam.Options{
		Region: "us-west-2", BaseEndpoint: aws.String(l.aws.PlainURL()),
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	})
}

// callers are who made which call to EC2 and STS, each once.
func (l *capacityLab) callers() (out []string) {
	for _, entry := range l.aws.Admin().Journal() {
		if entry.Service == "ec2" || entry.Service == "sts" {
			out = append(out, entry.Operation+" by "+entry.Caller)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestCapacityIsAskedAsTheWebIdentity(t *testing.T) {
	l := newCapacityLab(t)
	admin := l.administrator()
	if _, err := admin.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: &l.issuer, ClientIDList: []string{"sts.amazonaws.com"}}); err != nil {
		t.Fatal(err)
	}
	bare := strings.TrimPrefix(l.issuer, "https://")
	role, err := admin.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("capacity"), AssumeRolePolicyDocument: aws.String(`{
		"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"arn:aws:iam::` + capacityAccount + `:oidc-provider/` + bare + `"},
		"Condition":{"StringEquals":{"` + bare + `:sub":"` + capacityUser + `","` + bare + `:aud":"sts.amazonaws.com"}}}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"sts.amazonaws.com"}}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-capacity"}}
	if err := l.cluster.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(request.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ROLE_ARN", *role.Role.Arn)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token)
	if _, err := admin.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: aws.String("capacity"), PolicyName: aws.String("types"), PolicyDocument: aws.String(describeTypes)}); err != nil {
		t.Fatal(err)
	}
	l.aws.Admin().ClearJournal()
	l.start(t)

	l.awaitCapacity(t, l.set(t, "first", "m5.large", "us-west-2"), "2")
	l.awaitCapacity(t, l.set(t, "second", "m6g.4xlarge", "us-west-2"), "16")
	session := "arn:aws:sts::" + capacityAccount + ":assumed-role/capacity/"
	var exchanges int
	for _, entry := range l.aws.Admin().Journal() {
		switch {
		case entry.Service == "sts":
			exchanges++
		case entry.Service == "ec2" && !strings.HasPrefix(entry.Caller, session):
			t.Errorf("%s was called by %s", entry.Operation, entry.Caller)
		}
	}
	if exchanges != 1 {
		t.Errorf("the token was exchanged %d times, want once", exchanges)
	}

	if _, err := admin.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: aws.String("capacity"), PolicyName: aws.String("types")}); err != nil {
		t.Fatal(err)
	}
	l.awaitEvent(t, l.set(t, "third", "m5.large", "eu-central-1"), "ReconcileError",
		"AWS denies ec2:DescribeInstanceTypes: EC2 DescribeInstanceTypes: UnauthorizedOperation; grant it to IRSA with role "+*role.Role.Arn)
}

// TestCapacityIsAskedAsTheSecret: no web identity is there, and the keys of the
// Secret are replaced while it runs, as a controller of the operator.
func TestCapacityIsAskedAsTheSecret(t *testing.T) {
	l := newCapacityLab(t)
	l.startOperator(t, "--controllers=capacity", "--health-probe-bind-address=0", "--capacity-memory-reserve-percent=25")
	set := l.set(t, "first", "m5.large", "us-west-2")
	l.awaitEvent(t, set, "ReconcileError", `aws credentials secret openshift-machine-api/aws-cloud-credentials: secrets "aws-cloud-credentials" not found`)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-machine-api", Name: "aws-cloud-credentials"},
		StringData: map[string]string{"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": "of-nobody"},
	}
	testkit.Create(t, l.cluster, secret)
	l.awaitEvent(t, set, "ReconcileError", "AWS credentials rejected: Secret openshift-machine-api/aws-cloud-credentials: EC2 DescribeInstanceTypes: AuthFailure; "+
		"AWS does not accept the credentials; check that the access key is active and of this partition, and that the account has enabled the region")

	admin := l.administrator()
	name := aws.String("machines")
	if _, err := admin.CreateUser(t.Context(), &iam.CreateUserInput{UserName: name}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{UserName: name, PolicyName: aws.String("types"), PolicyDocument: aws.String(describeTypes)}); err != nil {
		t.Fatal(err)
	}
	key, err := admin.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: name})
	if err != nil {
		t.Fatal(err)
	}
	l.aws.Admin().ClearJournal()
	secret.StringData = map[string]string{"aws_access_key_id": *key.AccessKey.AccessKeyId, "aws_secret_access_key": *key.AccessKey.SecretAccessKey}
	if err := l.cluster.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	l.awaitCapacity(t, set, "2")
	if got := set.GetAnnotations()["machine.openshift.io/memoryMb"]; got != "6144" {
		t.Errorf("%s MiB are annotated, want 8192 less a quarter: the flag with the controller's prefix", got)
	}
	want := []string{"DescribeInstanceTypes by arn:aws:iam::" + capacityAccount + ":user/machines"}
	if got := l.callers(); !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}
