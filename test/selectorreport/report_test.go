// Package selectorreport tests the process that says who uses each IAMRoleSelector
// as a cluster runs it: from the manifests alone, beside Kubernetes' own controllers.
package selectorreport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
)

const (
	system  = "tabard-system"
	account = "tabard-selectorreport"
)

// cluster is an API server with its controllers, where Tabard's manifests are
// applied.
type cluster struct {
	*testing.T
	client.Client
	config *rest.Config
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	server := testkit.StartAPIServer(t, "https://issuer.example.com")
	server.StartControllerManager(t)
	server.InstallCRDs(t)
	server.InstallCRDsFrom(t, filepath.Join(testkit.Root(), "internal/controller/selectorreport/testdata/kinds.yaml"))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, services.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	made, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t, made, server.Config}
	c.apply("config/manifests/00-namespace.yaml", "config/rbac/selectorreport.yaml", "config/manifests/role-selectors/report.yaml")
	return c
}

// apply creates all that is in files of the repository.
func (c *cluster) apply(files ...string) {
	c.Helper()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(testkit.Root(), file))
		if err != nil {
			c.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				c.Fatalf("%s: %v", file, err)
			}
			if len(object.Object) > 0 {
				c.create(object)
			}
		}
	}
}

func (c *cluster) create(objects ...client.Object) {
	c.Helper()
	testkit.Create(c.T, c, objects...)
}

func (c *cluster) until(what string, check func() error) {
	c.Helper()
	var last error
	err := wait.PollUntilContextTimeout(c.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		c.Fatalf("%s: %v", what, last)
	}
}

// deployment is the manifest's, as it is stored.
func (c *cluster) deployment() *appsv1.Deployment {
	c.Helper()
	stored := &appsv1.Deployment{}
	if err := c.Get(c.Context(), client.ObjectKey{Namespace: system, Name: "tabard-selectorreport"}, stored); err != nil {
		c.Fatal(err)
	}
	return stored
}

// start runs what the Deployment's container runs, with the token that the kubelet
// would give it and no other rights.
func (c *cluster) start() *testkit.Process {
	c.Helper()
	program := os.Getenv("TABARD_BIN")
	if program == "" {
		c.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	token := &authenticationv1.TokenRequest{}
	self := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: c.deployment().Spec.Template.Spec.ServiceAccountName}}
	if err := c.SubResource("token").Create(c.Context(), self, token); err != nil {
		c.Fatal(err)
	}
	config := rest.CopyConfig(c.config)
	config.BearerToken = token.Status.Token
	kubeconfig := filepath.Join(c.TempDir(), "kubeconfig")
	testkit.WriteKubeconfig(c, kubeconfig, config)
	args := append(slices.Clone(c.deployment().Spec.Template.Spec.Containers[0].Args),
		"--kubeconfig", kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	command := exec.CommandContext(context.WithoutCancel(c.Context()), program, args...)
	command.Env = []string{"HOME=" + c.TempDir()}
	return testkit.StartProcess(c, command)
}

// readerOf is a ClusterRole that is to be added to the process's.
func readerOf(resource, group string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "read-" + resource, Labels: map[string]string{"identity.tabard.dev/aggregate-to-selectorreport": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"list", "watch"}}},
	}
}

func selector(name, namespace string) *services.IAMRoleSelector {
	return &services.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: &services.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::111122223333:role/" + name, NamespaceSelector: &services.NamespaceSelector{Names: []string{namespace}},
		},
	}
}

func resource(group, kind, namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1alpha1", "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name},
	}}
}

// awaitReport waits until the report of a selector says this.
func (c *cluster) awaitReport(of *services.IAMRoleSelector, used int32, places ...v1alpha1.ReportedResources) {
	c.Helper()
	want := v1alpha1.IAMRoleSelectorReportStatus{
		SelectorUID: of.UID, SelectorGeneration: of.Generation, SelectorCounts: v1alpha1.SelectorCounts{Used: used}, Resources: places,
	}
	c.until("the report of "+of.Name, func() error {
		var report v1alpha1.IAMRoleSelectorReport
		if err := c.Get(c.Context(), client.ObjectKey{Name: of.Name}, &report); err != nil {
			return err
		}
		if diff := cmp.Diff(want, report.Status); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
}

func TestTheReportRunsAsItIsShippedBesideKubernetesControllers(t *testing.T) {
	c := startCluster(t)
	c.create(readerOf("buckets", "s3.services.k8s.aws"))
	unlabelled := readerOf("queues", "sqs.services.k8s.aws")
	unlabelled.Labels = nil
	c.create(unlabelled)
	c.awaitAggregation("buckets")
	c.awaitPod()

	one, two := selector("one", "prod"), selector("two", "dev")
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "prod"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "dev"}}, one, two)
	c.create(resource("s3.services.k8s.aws", "Bucket", "prod", "b"), resource("sqs.services.k8s.aws", "Queue", "prod", "q"))
	process := c.start()
	buckets := v1alpha1.ReportedResources{Group: "s3.services.k8s.aws", Kind: "Bucket", Namespace: "prod", SelectorCounts: v1alpha1.SelectorCounts{Used: 1}}
	c.awaitReport(one, 1, buckets)
	c.awaitReport(two, 0)
	if log := process.Log(); !strings.Contains(log, "these kinds may not be listed") || !strings.Contains(log, "queues.sqs.services.k8s.aws") {
		t.Error("the log does not say that queues may not be listed")
	}
	if err := c.Delete(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	c.awaitNoReport("two")
	process.End()
	if log := process.Log(); strings.Contains(log, "forbidden") {
		t.Error("the process was refused something that it tried")
	}

	// A right that comes while nobody runs: no report is left over, and it counts then.
	if err := c.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	c.awaitNoReport("one")
	unlabelled.Labels = readerOf("queues", "").Labels
	if err := c.Update(t.Context(), unlabelled); err != nil {
		t.Fatal(err)
	}
	c.awaitAggregation("buckets", "queues")
	again := selector("one", "prod")
	c.create(again)
	process = c.start()
	queues := buckets
	queues.Group, queues.Kind = "sqs.services.k8s.aws", "Queue"
	c.awaitReport(again, 2, buckets, queues)
	process.End()
}

// awaitAggregation waits until the controller manager has let the process list
// these resources of services, and no others.
func (c *cluster) awaitAggregation(want ...string) {
	c.Helper()
	c.until("the ClusterRole that others are added to", func() error {
		var role rbacv1.ClusterRole
		if err := c.Get(c.Context(), client.ObjectKey{Name: "tabard-selectorreport-resources"}, &role); err != nil {
			return err
		}
		var got []string
		for _, rule := range role.Rules {
			got = append(got, rule.Resources...)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("it is for %q, want %q", got, want)
		}
		return nil
	})
}

// awaitPod waits for the Deployment's pod: nothing in the namespace's way refuses it.
// Nobody runs it here, for there is no node.
func (c *cluster) awaitPod() {
	c.Helper()
	c.until("the Deployment's pod", func() error {
		var pods corev1.PodList
		if err := c.List(c.Context(), &pods, client.InNamespace(system)); err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Spec.ServiceAccountName != account {
			return fmt.Errorf("there are %d pods; the Deployment says %+v", len(pods.Items), c.deployment().Status.Conditions)
		}
		return nil
	})
}

func (c *cluster) awaitNoReport(name string) {
	c.Helper()
	c.until("the report of "+name, func() error {
		err := c.Get(c.Context(), client.ObjectKey{Name: name}, &v1alpha1.IAMRoleSelectorReport{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil:
			return errors.New("it is there")
		}
		return err
	})
}
