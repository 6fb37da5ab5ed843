// Package hubaccess runs the controller hubaccess as the program that users run, with the rights
// in AWS and in the cluster that it asks for and no others.
package hubaccess

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account  = "111111111111"
	spokes   = "222222222222"
	hubARN   = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	system   = "tabard-system"
	user     = "system:serviceaccount:" + system + ":tabard-hub"
	audience = "sts.amazonaws.com"
)

var clusters = flag.Int("clusters", 20, "how many clusters TestManyClusters accepts")

// tokenProgram is Tabard's program for tokens of EKS.
var tokenProgram string

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.RunWithProgram(m, "../../cmd/tabard-eks-token", &tokenProgram))
}

// world is a hub with its AWS account, in which the program's role has its permissions.
type world struct {
	*testkit.Cluster
	aws         *awstest.Lab
	environment []string
}

// shared is the hub, with the manifests by which the program's ServiceAccount has its rights,
// and the policies that hold it to them. Its objects of
// Open Cluster Management are those of one test at a time.
var shared = testkit.SharedCluster(testkit.ClusterOptions{CRDs: []string{testkit.CRDs, "internal/controller/hubaccess/testdata"}}, func(c *testkit.Cluster) {
	c.MakeNamespaces(system, hub.ControllerNamespace, agents)
	for _, agent := range []string{"klusterlet-registration-sa", "klusterlet-work-sa", stranger} {
		c.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: agents, Name: agent}})
	}
	c.MakeFiles("config/rbac/hubaccess.yaml", "config/manifests/hub/controller.yaml", "config/manifests/policies.yaml")
	c.Remove(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "tabard-hub"}}) // the tests start the program
	testkit.AwaitRights(c, c.Config, user, "", testkit.Rights(c, "hubaccess").Rules...)
	testkit.AwaitRights(c, c.Config, user, hub.ControllerNamespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
	testkit.AwaitRights(c, c.Config, user, system, rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}})
})

func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	w := &world{Cluster: shared(t)}
	t.Cleanup(w.forget)
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account, spokes}, Region: "us-west-2", TrustedCAs: w.Roots})
	must.Do(t, w.aws.Admin().AddCluster(awslocal.Cluster{Account: account, Region: "us-west-2", Name: "eks-hub", Issuer: "https://hub.example"}))
	provider := w.aws.Provider(account, w.Issuer(), audience)
	permissions := hub.Permissions(must.Get(hub.ParseARN(hubARN))(t)).String()
	role := w.aws.Role(account, "tabard-hub", awstest.Trust(provider, user, audience), permissions)
	w.environment = []string{
		"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Path("ca.crt"), "AWS_REGION=us-west-2", "AWS_ROLE_ARN=" + role,
		"AWS_WEB_IDENTITY_TOKEN_FILE=" + w.aws.Write("token", w.Token(system, "tabard-hub", time.Hour, audience)),
	}
	return w
}

// forget removes what a test has left, when its program has ended.
func (w *world) forget() {
	ctx := context.WithoutCancel(w.Context())
	records := &v1alpha1.HubAccessList{}
	clusters := clusterList()
	must.Do(w, errors.Join(w.List(ctx, clusters), w.List(ctx, records)))
	var left []client.Object
	for i := range clusters.Items {
		left = append(left, &clusters.Items[i])
	}
	for i := range records.Items {
		left = append(left, &records.Items[i])
	}
	for _, object := range left {
		must.Do(w, client.IgnoreNotFound(w.Patch(ctx, object, merge(`{"metadata":{"finalizers":null}}`))))
		must.Do(w, client.IgnoreNotFound(w.Delete(ctx, object)))
	}
}

// start runs the program.
func (w *world) start(args ...string) *testkit.Process {
	w.Helper()
	all := append([]string{
		"operator", "--controllers=hubaccess", "--kubeconfig", w.Kubeconfig(w.Account(system, "tabard-hub")),
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--hubaccess-hub-cluster-arn=" + hubARN,
	}, args...)
	return testkit.StartTabard(w, w.environment, all...)
}

func spokeARN(i int) string {
	return fmt.Sprintf("arn:aws:eks:us-east-1:%s:cluster/spoke-%d", spokes, i)
}

func suffix(t testing.TB, i int) string {
	t.Helper()
	return must.Get(hub.Suffix(must.Get(hub.ParseARN(hubARN))(t), must.Get(hub.ParseARN(spokeARN(i)))(t), ""))(t)
}

// join makes the accepted ManagedClusters of spokes, and the spokes' own roles.
func (w *world) join(from, until int) {
	w.Helper()
	theirs := w.aws.IAM(spokes)
	for i := from; i < until; i++ {
		w.aws.Must(theirs.CreateRole(w.Context(), &iam.CreateRoleInput{
			RoleName:                 aws.String(hub.SpokeRoleName(suffix(w, i))),
			AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"pods.eks.amazonaws.com"}}]}`),
		}))
		cluster := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"hubAcceptsClient": true}}}
		cluster.SetAPIVersion("cluster.open-cluster-management.io/v1")
		cluster.SetKind("ManagedCluster")
		cluster.SetName(name(i))
		cluster.SetAnnotations(map[string]string{hub.ARNAnnotation: spokeARN(i), hub.SuffixAnnotation: suffix(w, i)})
		w.Make(cluster)
	}
}

func name(i int) string { return fmt.Sprintf("cluster-%d", i) }

// ready waits until as many clusters have a reason.
func (w *world) ready(reason condition.Reason, want int) {
	w.Helper()
	w.Await(func() error {
		list := &v1alpha1.HubAccessList{}
		err := w.List(w.Context(), list)
		have, last := 0, ""
		for i := range list.Items {
			v, _ := condition.Read(list.Items[i].Status.Conditions, core.TypeReady)
			if v.Reason == reason {
				have++
			} else {
				last = fmt.Sprintf("%s: %s: %s", list.Items[i].Name, v.Reason, v.Message)
			}
		}
		if have != want {
			return errors.Join(fmt.Errorf("%d of %d are %s; %s", have, want, reason, last), err)
		}
		return err
	})
}

// TestManyClusters has the program give many clusters their access with no right more than
// hub.Permissions, take it back, and do nothing where it may not.
//
// For as many as IAM allows roles in an account: go test ./test/hub -run ManyClusters -v -clusters 990.
func TestManyClusters(t *testing.T) {
	w := newWorld(t)
	w.join(0, *clusters)
	w.aws.Admin().ClearJournal()
	began := time.Now()
	process := w.start("--hubaccess-managed-iam=On", "--hubaccess-writes-per-second=1000", "--hubaccess-aws-resource-tag=env=test")
	w.ready(core.ReasonAccessGiven, *clusters)
	took := time.Since(began)
	calls := map[string]int{}
	for _, call := range w.aws.Admin().Journal() {
		calls[call.Operation]++
	}
	t.Logf("%d clusters in %s with %v, %d kB of memory", *clusters, took, calls, resident(t, process.PID()))
	for _, operation := range []string{"GetRole", "DescribeAccessEntry", "CreateRole", "CreateAccessEntry"} {
		if calls[operation] < *clusters || calls[operation] > *clusters+*clusters/10 {
			t.Errorf("%d calls of %s for %d clusters", calls[operation], operation, *clusters)
		}
	}
	w.Remove(named(name(0)))
	w.ready(core.ReasonAccessGiven, *clusters-1)
	w.Await(func() error {
		_, err := w.aws.IAM(account).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String(hub.RoleName(suffix(t, 0)))})
		if err == nil {
			return errors.New("the role of a cluster that was deleted is there")
		}
		return nil
	})
	process.End()
	w.aws.Admin().ClearJournal()
	w.start("--hubaccess-managed-iam=Off")
	w.ready(core.ReasonManagedIAMDisabled, *clusters-1)
	for _, call := range w.aws.Admin().Journal() {
		if call.Operation != "GetRole" { // it is this test's
			t.Errorf("AWS was called: %+v", call)
		}
	}
}

func named(name string) client.Object {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion("cluster.open-cluster-management.io/v1")
	out.SetKind("ManagedCluster")
	out.SetName(name)
	return out
}

// resident is the memory in kB that a process holds besides its own file.
func resident(t *testing.T, pid int) int {
	t.Helper()
	file := must.Get(os.Open(fmt.Sprintf("/proc/%d/status", pid)))(t)
	defer file.Close() //nolint:errcheck // it is only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "RssAnon:" {
			return must.Get(strconv.Atoi(fields[1]))(t)
		}
	}
	return 0
}

// TestTheProgramMayDoNothingElse asks the local AWS as the program's role for what an
// attacker who has taken the program would want.
func TestTheProgramMayDoNothingElse(t *testing.T) {
	w := newWorld(t)
	permissions := hub.Permissions(must.Get(hub.ParseARN(hubARN))(t))
	if text := permissions.String(); len(text) > 10240 || slices.ContainsFunc(permissions[0].Actions, func(a string) bool { return strings.HasSuffix(a, "*") }) {
		t.Errorf("the policy is %d bytes: %s", len(text), text)
	}
	role := w.aws.Role(account, "program", anybody, permissions.String())
	out := must.Get(sts.NewFromConfig(w.aws.As(w.aws.Administrator(account))).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: &role, RoleSessionName: aws.String("attacker"),
	}))(t)
	attack(t, w, w.aws.As(aws.Credentials{
		AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken,
	}))
}
