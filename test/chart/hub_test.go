package chart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	hubAccount = "111111111111"
	hubSpokes  = "222222222222"
	hubARN     = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	hubUser    = "system:serviceaccount:tabard-system:tabard-hub"
	onHub      = "helm upgrade --install tabard charts/tabard -n tabard-system --create-namespace --set hub.enabled=true,hub.managedIAM=On,hub.awsResourceTags={env=test}"
)

// hubWorld is a hub with its AWS account. Its Deployment's program runs as a process, with the
// arguments, the variables and the account that the Deployment has.
type hubWorld struct {
	world
	aws *awstest.Lab
}

func newHubWorld(t *testing.T) hubWorld {
	t.Helper()
	awstest.Isolate(t)
	w := hubWorld{world: world{testkit.StartCluster(t, testkit.ClusterOptions{CRDs: []string{"internal/controller/hubaccess/testdata"}})}}
	w.MakeNamespaces(hubNamespace)
	w.shell(onHub)
	w.Shell("kubectl wait --for=condition=Established crd --all")
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{hubAccount, hubSpokes}, Region: "us-west-2", TrustedCAs: w.Roots})
	must.Do(t, w.aws.Admin().AddCluster(awslocal.Cluster{Account: hubAccount, Region: "us-west-2", Name: "eks-hub", Issuer: "https://hub.example"}))
	provider := w.aws.Provider(hubAccount, w.Issuer(), "sts.amazonaws.com")
	permissions := hub.Permissions(must.Get(hub.ParseARN(hubARN))(t)).String()
	w.Make(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-hub"}, Data: map[string]string{
		"roleARN": w.aws.Role(hubAccount, "tabard-hub", awstest.Trust(provider, hubUser, "sts.amazonaws.com"), permissions), "region": "us-west-2", "hubARN": hubARN,
	}})
	return w
}

// start runs what the Deployment tabard-hub says, and says which variables it has.
func (w hubWorld) start() (process *testkit.Process, variables []string) {
	w.Helper()
	deployment := &appsv1.Deployment{}
	must.Do(w, w.Get(w.Context(), client.ObjectKey{Namespace: "tabard-system", Name: "tabard-hub"}, deployment))
	pod := deployment.Spec.Template.Spec
	environment := []string{"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Path("ca.crt")}
	var expand []string
	for _, variable := range pod.Containers[0].Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil {
			config := &corev1.ConfigMap{}
			must.Do(w, w.Get(w.Context(), client.ObjectKey{Namespace: "tabard-system", Name: from.ConfigMapKeyRef.Name}, config))
			value = config.Data[from.ConfigMapKeyRef.Key]
		}
		if variable.Name == "AWS_WEB_IDENTITY_TOKEN_FILE" {
			source := pod.Volumes[0].Projected.Sources[0].ServiceAccountToken
			value = w.aws.Write("token", w.Token("tabard-system", pod.ServiceAccountName, time.Hour, source.Audience))
		}
		variables = append(variables, variable.Name)
		environment = append(environment, variable.Name+"="+value)
		expand = append(expand, "$("+variable.Name+")", value)
	}
	args := []string{
		"--kubeconfig", w.Kubeconfig(w.Account("tabard-system", pod.ServiceAccountName)),
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
	}
	for _, arg := range pod.Containers[0].Args {
		args = append(args, strings.NewReplacer(expand...).Replace(arg))
	}
	args[0], args[1], args[2], args[3], args[4] = args[4], args[0], args[1], args[2], args[3] // the command is the first
	return testkit.StartTabard(w, environment, args...), variables
}

func hubCluster(name string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion("cluster.open-cluster-management.io/v1")
	out.SetKind("ManagedCluster")
	out.SetName(name)
	return out
}

// join makes an accepted ManagedCluster of a spoke in EKS, and the spoke's own role.
func (w hubWorld) join(name string) {
	w.Helper()
	arn := "arn:aws:eks:us-east-1:" + hubSpokes + ":cluster/" + name
	suffix := must.Get(hub.Suffix(must.Get(hub.ParseARN(hubARN))(w), must.Get(hub.ParseARN(arn))(w), ""))(w)
	w.aws.Must(w.aws.IAM(hubSpokes).CreateRole(w.Context(), &iam.CreateRoleInput{
		RoleName:                 aws.String(hub.SpokeRoleName(suffix)),
		AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"pods.eks.amazonaws.com"}}]}`),
	}))
	cluster := hubCluster(name)
	cluster.Object["spec"] = map[string]any{"hubAcceptsClient": true}
	cluster.SetAnnotations(map[string]string{hub.ARNAnnotation: arn, hub.SuffixAnnotation: suffix})
	w.Make(cluster)
}

// awaitAccess waits until each of the clusters has its access and the finalizer.
func (w hubWorld) awaitAccess(names ...string) {
	w.Helper()
	for _, name := range names {
		w.Await(func() error {
			record, cluster := &v1alpha1.HubAccess{}, hubCluster(name)
			if err := errors.Join(w.Get(w.Context(), client.ObjectKey{Name: name}, record), w.Get(w.Context(), client.ObjectKey{Name: name}, cluster)); err != nil {
				return err
			}
			v, _ := condition.Read(record.Status.Conditions, core.TypeReady)
			if !v.IsTrue() || !slices.Equal(cluster.GetFinalizers(), []string{core.Finalizer}) {
				return fmt.Errorf("%s: %s: %s, with the finalizers %v", name, v.Reason, v.Message, cluster.GetFinalizers())
			}
			return nil
		})
	}
}

// made are the roles and the number of access entries of agents in the hub's account.
func (w hubWorld) made() (roles []string, entries int) {
	w.Helper()
	out := must.Get(w.aws.IAM(hubAccount).ListRoles(w.Context(), &iam.ListRolesInput{}))(w)
	for _, role := range out.Roles {
		if strings.HasPrefix(*role.RoleName, "ocm-hub-") {
			roles = append(roles, *role.RoleName)
		}
	}
	return roles, len(w.aws.Admin().Clusters()[0].AccessEntries)
}

func (w hubWorld) awaitGone(object client.Object) {
	w.Helper()
	w.Await(func() error {
		if err := w.Get(context.WithoutCancel(w.Context()), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is still there, with the finalizers %v (%w)", object.GetName(), object.GetFinalizers(), err)
		}
		return nil
	})
}

// block is that of docs/install.md that has a text. Nothing runs pods, so a line that waits for
// one is left out: a process takes its place.
func block(t *testing.T, has string) string {
	t.Helper()
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/install.md")))(t))
	_, section, _ := strings.Cut(page, "\n## Turn the hub off\n")
	for _, each := range testkit.Blocks(section, "") {
		if strings.Contains(each, has) {
			return strings.Replace(each, "kubectl -n tabard-system rollout status deployment tabard-hub", "", 1)
		}
	}
	t.Fatalf("the section on the hub of docs/install.md has no block with %q", has)
	return ""
}

// TestLongTheHubIsTurnedOffInOrder installs the hub's controller with helm, and types what
// docs/install.md says: the access of one cluster is taken back, that of another is kept, and
// one that is deleted too late is let go.
func TestLongTheHubIsTurnedOffInOrder(t *testing.T) {
	w := newHubWorld(t)
	process, _ := w.start()
	w.join("denied")
	w.join("kept")
	w.join("late")
	w.awaitAccess("denied", "kept", "late")

	w.Shell(strings.ReplaceAll(block(t, "hubAcceptsClient"), "NAME", "denied"))
	if roles, entries := w.made(); len(roles) != 2 || entries != 2 {
		t.Errorf("after one of three was denied there are the roles %v and %d entries", roles, entries)
	}
	process.End()

	w.shell(block(t, "hub.enabled=false")) // too early: two clusters have their access
	w.Remove(hubCluster("late"))
	late := hubCluster("late")
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(late), late); err != nil || late.GetDeletionTimestamp() == nil {
		t.Fatalf("the cluster without a controller is not held: %v", err)
	}
	w.shell(block(t, "hub.enabled=true,hub.managedIAM=Off"))
	process, _ = w.start()
	w.awaitGone(late)
	process.End()

	w.shell(strings.Replace(block(t, "hub.managedIAM=Off\n"), "managedIAM=Off", "managedIAM=On", 1))
	process, _ = w.start()
	w.awaitAccess("kept")
	w.awaitGone(&v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "late"}})
	process.End()

	w.shell(block(t, "hub.managedIAM=Off\n"))
	w.aws.Admin().ClearJournal()
	process, variables := w.start()
	if len(variables) > 0 {
		t.Errorf("with managed IAM off the pod has the variables %v", variables)
	}
	w.Await(func() error {
		cluster := hubCluster("kept")
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil || len(cluster.GetFinalizers()) > 0 {
			return fmt.Errorf("the cluster that is kept has the finalizers %v (%w)", cluster.GetFinalizers(), err)
		}
		return nil
	})
	w.Shell(block(t, "kubectl delete hubaccesses --all"))
	if calls := w.aws.Admin().Journal(); len(calls) > 0 {
		t.Errorf("AWS was called with managed IAM off: %+v", calls)
	}
	process.End()
	if roles, entries := w.made(); len(roles) != 1 || entries != 1 {
		t.Errorf("what is kept are the roles %v and %d entries", roles, entries)
	}
	w.shell(block(t, "hub.enabled=false"))
	if left := w.Shell("kubectl get deployments,roles,clusterroles,clusterrolebindings -A -o name"); strings.Contains(left, "tabard-hub") {
		t.Errorf("turned off, there is\n%s", left)
	}
}
