package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	capacityAccount = "123456789012"
	capacityUser    = "system:serviceaccount:tabard-system:tabard-capacity"
	describeTypes   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:DescribeInstanceTypes","ec2:DescribeRegions"],"Resource":"*"}]}`
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// theCluster is that of all tests, with the rights of tabard capacity's manifests.
var theCluster = testkit.SharedCluster(
	testkit.ClusterOptions{
		CRDs:    []string{testkit.CRDs, "internal/cli/selector/testdata/definitions.yaml"},
		Foreign: []testkit.ForeignKinds{testkit.MachineAPI, testkit.OpenShiftCredentials},
	},
	func(c *testkit.Cluster) {
		c.MakeNamespaces("tabard-system", "openshift-machine-api", "openshift-config-managed")
		c.MakeFiles("config/rbac/capacity.yaml", "config/manifests/capacity/controller.yaml", "config/manifests/openshift/capacity.yaml")
	})

// capacityLab is tabard capacity on a real API server, and a local AWS that trusts this
// API server's tokens.
type capacityLab struct {
	cluster *testkit.Cluster
	aws     *awstest.Lab
}

func newCapacityLab(t *testing.T) *capacityLab {
	t.Helper()
	l := &capacityLab{cluster: theCluster(t)}
	l.aws = awstest.Start(t, awslocal.Options{Accounts: []string{capacityAccount}, Region: "us-west-2", TrustedCAs: l.cluster.Roots})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, object := range []client.Object{machineSet("", "", ""), &corev1.Secret{}} {
			if err := l.cluster.DeleteAllOf(ctx, object, client.InNamespace("openshift-machine-api")); err != nil {
				t.Error(err)
			}
		}
	})
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": l.aws.URL(), "AWS_CA_BUNDLE": l.aws.Path("ca.crt"), "AWS_REGION": "us-west-2",
		"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
		"KUBECONFIG": writeKubeconfig(t, l.cluster.Config, capacityUser),
	} {
		t.Setenv(name, value)
	}
	return l
}

// start runs the command with the arguments of its Deployment and more, and stops
// it at the end of the test. Its addresses are not free here.
func (l *capacityLab) start(t *testing.T, more ...string) {
	t.Helper()
	var flags capacityFlags
	parsed := pflag.NewFlagSet("capacity", pflag.ContinueOnError)
	flags.add(parsed)
	var deployment appsv1.Deployment
	must.Do(t, l.cluster.Get(t.Context(), client.ObjectKey{Namespace: "tabard-system", Name: "tabard-capacity"}, &deployment))
	args := append(deployment.Spec.Template.Spec.Containers[0].Args[1:],
		"--metrics-bind-address=0", "--health-addr=0", "--leader-elect-resource-namespace=tabard-system",
		// A process that is stopped while it takes its lease leaves it, for two minutes by default.
		"--leader-elect-lease-duration=15s", "--log-level=error", "-v=1")
	must.Do(t, parsed.Parse(append(args, more...)))
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
	must.Do(t, parsed.Parse(append(given, args...)))
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

// machineSet is one of an instance type.
func machineSet(name, instanceType, region string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
		"metadata": map[string]any{"namespace": "openshift-machine-api", "name": name},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{
			"kind": "AWSMachineProviderConfig", "instanceType": instanceType,
			"placement":         map[string]any{"region": region},
			"credentialsSecret": map[string]any{"name": "aws-cloud-credentials"},
		}}}}},
	}}
}

// set creates a MachineSet of an instance type.
func (l *capacityLab) set(t *testing.T, name, instanceType, region string) *unstructured.Unstructured {
	t.Helper()
	set := machineSet(name, instanceType, region)
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

// told are the events of a MachineSet, each as REASON: MESSAGE.
func (l *capacityLab) told(t *testing.T, set *unstructured.Unstructured) (out []string) {
	t.Helper()
	var list corev1.EventList
	must.Do(t, l.cluster.List(t.Context(), &list, client.InNamespace(set.GetNamespace())))
	for _, event := range list.Items {
		if event.InvolvedObject.UID == set.GetUID() {
			out = append(out, event.Reason+": "+event.Message)
		}
	}
	return out
}

// awaitProblem waits for the event that tells of one.
func (l *capacityLab) awaitProblem(t *testing.T, set *unstructured.Unstructured, message string) {
	t.Helper()
	testkit.Await(t, func() error {
		if seen := l.told(t, set); !slices.Contains(seen, "ReconcileError: "+message) {
			return fmt.Errorf("%s has the events %q, want ReconcileError: %s", set.GetName(), seen, message)
		}
		return nil
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
	provider := l.aws.Provider(capacityAccount, l.cluster.Issuer(), "sts.amazonaws.com")
	role := l.aws.Role(capacityAccount, "capacity", awstest.Trust(provider, capacityUser, "sts.amazonaws.com"), describeTypes)
	t.Setenv("AWS_ROLE_ARN", role)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", l.aws.Write("token", l.cluster.Token("tabard-system", "tabard-capacity", 0, "sts.amazonaws.com")))
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

	must.Get(l.aws.IAM(capacityAccount).DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: aws.String("capacity"), PolicyName: aws.String("inline")}))(t)
	l.awaitProblem(t, l.set(t, "third", "m5.large", "eu-central-1"), "AWS denies ec2:DescribeInstanceTypes: EC2 DescribeInstanceTypes: UnauthorizedOperation; grant it to IRSA with role "+role)
}

// TestCapacityIsAskedAsTheSecret: no web identity is there, and the keys of the
// Secret are replaced while it runs, as a controller of the operator.
func TestCapacityIsAskedAsTheSecret(t *testing.T) {
	l := newCapacityLab(t)
	l.startOperator(t, "--controllers=capacity", "--health-probe-bind-address=0", "--capacity-memory-reserve-percent=25")
	set := l.set(t, "first", "m5.large", "us-west-2")
	l.awaitProblem(t, set, `aws credentials secret openshift-machine-api/aws-cloud-credentials: secrets "aws-cloud-credentials" not found`)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-machine-api", Name: "aws-cloud-credentials"},
		StringData: map[string]string{"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": "of-nobody"},
	}
	testkit.Create(t, l.cluster, secret)
	l.awaitProblem(t, set, "AWS credentials rejected: Secret openshift-machine-api/aws-cloud-credentials: EC2 DescribeInstanceTypes: AuthFailure; "+
		"AWS does not accept the credentials; check that the access key is active and of this partition, and that the account has enabled the region")

	l.aws.User(capacityAccount, "machines", describeTypes)
	key := l.aws.Key(capacityAccount, "machines")
	l.aws.Admin().ClearJournal()
	secret.StringData = map[string]string{"aws_access_key_id": key.AccessKeyID, "aws_secret_access_key": key.SecretAccessKey}
	must.Do(t, l.cluster.Update(t.Context(), secret))
	l.awaitCapacity(t, set, "2")
	if got := set.GetAnnotations()["machine.openshift.io/memoryMb"]; got != "6144" {
		t.Errorf("%s MiB are annotated, want 8192 less a quarter: the flag with the controller's prefix", got)
	}
	want := []string{"DescribeInstanceTypes by arn:aws:iam::" + capacityAccount + ":user/machines"}
	if got := l.callers(); !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}
