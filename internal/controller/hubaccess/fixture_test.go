package hubaccess_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud/accessentry"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	hubAccount   = "111111111111"
	spokeAccount = "222222222222"
	region       = "us-west-2"
	hubARN       = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	user         = "hubaccess"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.Main(m))
}

var shared = testkit.SharedCluster(testkit.ClusterOptions{
	Issuer: "https://issuer.example.com", CRDs: []string{testkit.CRDs, "internal/controller/hubaccess/testdata"},
}, func(c *testkit.Cluster) {
	c.Grant(user, testkit.Rights(c, hubaccess.Name))
	c.MakeNamespaces(hub.ControllerNamespace)
	c.GrantIn(hub.ControllerNamespace, user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
})

// fixture is the controller, with its own rights alone, on a real API server and a local
// AWS.
type fixture struct {
	*testkit.Cluster
	aws  *awstest.Lab
	iam  *iam.Client
	stop func()
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Cluster: shared(t), aws: awstest.Start(t, awslocal.Options{Accounts: []string{hubAccount, spokeAccount}, Region: region})}
	must.Do(t, f.aws.Admin().AddCluster(awslocal.Cluster{Account: hubAccount, Region: region, Name: "eks-hub", Issuer: "https://issuer.example.com"}))
	f.iam = f.aws.IAM(hubAccount)
	f.session(f.aws.Administrator(hubAccount))
	ca := filepath.Join(t.TempDir(), "ca.crt")
	must.Do(t, os.WriteFile(ca, f.aws.CACertificate(), 0o600))
	t.Setenv("AWS_ENDPOINT_URL", f.aws.URL())
	t.Setenv("AWS_CA_BUNDLE", ca)
	t.Cleanup(f.forget)
	return f
}

// session is what the controller's process finds in its environment.
func (f *fixture) session(key aws.Credentials) {
	f.Setenv("AWS_ACCESS_KEY_ID", key.AccessKeyID)
	f.Setenv("AWS_SECRET_ACCESS_KEY", key.SecretAccessKey)
}

// forget removes what a test has left.
func (f *fixture) forget() {
	ctx := context.WithoutCancel(f.Context())
	for _, kind := range []string{
		"cluster.open-cluster-management.io/v1 ManagedCluster", "work.open-cluster-management.io/v1 ManifestWork",
		"operator.open-cluster-management.io/v1 ClusterManager", "identity.tabard.dev/v1alpha1 HubAccess", "v1 Pod",
	} {
		version, name, _ := strings.Cut(kind, " ")
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, name+"List"))
		_ = f.List(ctx, list)
		for i := range list.Items {
			_ = f.Patch(ctx, &list.Items[i], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
			_ = f.Delete(ctx, &list.Items[i], client.GracePeriodSeconds(0))
		}
	}
}

// run starts the controller, as a new process does.
func (f *fixture) run(t *testing.T, flags hubaccess.Flags) {
	t.Helper()
	if f.stop != nil {
		f.stop()
	}
	mgr := must.Get(ctrl.NewManager(f.As(user), ctrl.Options{
		Scheme: f.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	}))(t)
	auth := must.Get(awsauth.New(awsauth.Options{}))(t)
	must.Do(t, hubaccess.Add(t.Context(), mgr, hubaccess.Options{
		Flags: flags, As: identity.Identity{Base: identity.Session}, Writes: 1000,
		AWS: hubaccess.AWS{Accounts: caller.New(auth), Roles: iamrole.New(auth), Entries: accessentry.New(auth)},
	}))
	f.stop = testkit.RunManager(t, mgr)
}

var managed = hubaccess.Flags{IAM: hub.On, HubARN: hubARN, Tags: map[string]string{"env": "test"}}

func spokeARN(name string) string { return "arn:aws:eks:us-east-1:222222222222:cluster/" + name }

func (f *fixture) suffix(spoke string) string {
	f.Helper()
	return must.Get(hub.Suffix(must.Get(hub.ParseARN(hubARN))(f), must.Get(hub.ParseARN(spoke))(f), ""))(f)
}

// object is one of a kind of Open Cluster Management's.
func object(kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	versions := map[string]string{
		"ManagedCluster": "cluster.open-cluster-management.io/v1", "ManifestWork": "work.open-cluster-management.io/v1",
		"ClusterManager": "operator.open-cluster-management.io/v1", "ManagedClusterAddOn": "addon.open-cluster-management.io/v1alpha1",
	}
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetGroupVersionKind(schema.FromAPIVersionAndKind(versions[kind], kind))
	out.SetNamespace(namespace)
	out.SetName(name)
	return out
}

// clusterManager is one with the driver awsirsa beside csr.
func clusterManager(disabled bool) *unstructured.Unstructured {
	return object("ClusterManager", "", "cluster-manager", map[string]any{"registrationConfiguration": map[string]any{"registrationDrivers": []any{
		map[string]any{"authType": "csr"}, map[string]any{"authType": "awsirsa", "awsirsa": map[string]any{"hubClusterArn": hubARN, "disableManagedIam": disabled}},
	}}})
}

// hubController is the pod of Open Cluster Management's hub controller with a driver.
func hubController(name, driver string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: hub.ControllerNamespace, Name: name, Labels: map[string]string{hub.ControllerLabel: hub.ControllerApp}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "hub-registration-controller", Image: "registration", Args: []string{"/registration", "controller", "--enabled-registration-drivers=" + driver},
		}}},
	}
}

// spokeRole makes a spoke's own role, should it not be there.
func (f *fixture) spokeRole(spoke string) {
	f.Helper()
	suffix := f.suffix(spoke)
	if _, err := f.aws.IAM(spokeAccount).GetRole(f.Context(), &iam.GetRoleInput{RoleName: aws.String(hub.SpokeRoleName(suffix))}); err != nil {
		f.aws.Role(spokeAccount, hub.SpokeRoleName(suffix), `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"pods.eks.amazonaws.com"}}]}`, "")
	}
}

// join makes an accepted ManagedCluster of a spoke in EKS, and the spoke's own role.
func (f *fixture) join(name, spoke string) *unstructured.Unstructured {
	f.Helper()
	f.spokeRole(spoke)
	cluster := object("ManagedCluster", "", name, map[string]any{"hubAcceptsClient": true})
	cluster.SetAnnotations(map[string]string{hub.ARNAnnotation: spoke, hub.SuffixAnnotation: f.suffix(spoke)})
	f.Make(cluster)
	return cluster
}

// says waits until the HubAccess of a cluster says something, "none" for no HubAccess.
func (f *fixture) says(name, want string) *v1alpha1.HubAccess {
	f.Helper()
	record := &v1alpha1.HubAccess{}
	f.Await(func() error {
		got := "none"
		err := f.Get(f.Context(), client.ObjectKey{Name: name}, record)
		if err == nil {
			v, _ := condition.Read(record.Status.Conditions, core.TypeReady)
			got = fmt.Sprintf("%s %s: %s", v.Status, v.Reason, v.Message)
		}
		if !strings.HasPrefix(got, want) {
			return fmt.Errorf("%s says %q, want %q: %w", name, got, want, client.IgnoreNotFound(err))
		}
		return client.IgnoreNotFound(err)
	})
	return record
}

// isGone waits until an object is not there.
func (f *fixture) isGone(o client.Object) {
	f.Helper()
	f.Await(func() error {
		err := f.Get(f.Context(), client.ObjectKeyFromObject(o), o)
		if err == nil {
			return fmt.Errorf("%s is there still, with the finalizers %q", o.GetName(), o.GetFinalizers())
		}
		return client.IgnoreNotFound(err)
	})
}

// calls are the operations of AWS that were called since the journal was cleared.
func (f *fixture) calls() []string {
	var out []string
	for _, call := range f.aws.Admin().Journal() {
		out = append(out, call.Operation)
	}
	return out
}

// access is what a spoke has in AWS: its trust policy and its entry, nil for none.
func (f *fixture) access(spoke string) (*iam.GetRoleOutput, *eks.DescribeAccessEntryOutput) {
	name := hub.RoleName(f.suffix(spoke))
	arn := must.Get(hub.ParseARN(hubARN))(f).RoleARN(name)
	role, err := f.iam.GetRole(f.Context(), &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		role = nil
	}
	entry, err := f.eks().DescribeAccessEntry(f.Context(), &eks.DescribeAccessEntryInput{ClusterName: aws.String("eks-hub"), PrincipalArn: &arn})
	if err != nil {
		entry = nil
	}
	return role, entry
}

func (f *fixture) eks() *eks.Client {
	return eks.NewFromConfig(f.aws.As(f.aws.Administrator(hubAccount)))
}

func (f *fixture) wantNone(spoke string) {
	f.Helper()
	if role, entry := f.access(spoke); role != nil || entry != nil {
		f.Errorf("%s has a role: %t, an entry: %t, want none", spoke, role != nil, entry != nil)
	}
}
