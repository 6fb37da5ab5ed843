package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	system   = "tabard-system"
	reporter = "tabard-selectorreport"
)

// reporting is a cluster with its controllers, where Tabard's manifests are applied.
type reporting struct{ *testkit.Cluster }

func startReporting(t *testing.T) reporting {
	t.Helper()
	c := reporting{testkit.StartCluster(t, testkit.ClusterOptions{
		ControllerManager: true, CRDs: []string{testkit.CRDs, "internal/controller/selectorreport/testdata/kinds.yaml"},
	})}
	c.MakeFiles("config/manifests/00-namespace.yaml", "config/rbac/selectorreport.yaml", "config/manifests/role-selectors/report.yaml")
	return c
}

// deployment is the manifest's, as it is stored.
func (c reporting) deployment() *appsv1.Deployment {
	c.Helper()
	stored := &appsv1.Deployment{}
	must.Do(c, c.Get(c.Context(), client.ObjectKey{Namespace: system, Name: "tabard-selectorreport"}, stored))
	return stored
}

// start runs what the Deployment's container runs, with the token that the kubelet
// would give it and no other rights.
func (c reporting) start() *testkit.Process {
	c.Helper()
	args := append(slices.Clone(c.deployment().Spec.Template.Spec.Containers[0].Args),
		"--kubeconfig", c.Kubeconfig(c.Account(system, c.deployment().Spec.Template.Spec.ServiceAccountName)),
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	return testkit.StartTabard(c, nil, args...)
}

// readerOf is a ClusterRole that is to be added to the process's.
func readerOf(resource, group string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "read-" + resource, Labels: map[string]string{"identity.tabard.dev/aggregate-to-selectorreport": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"list", "watch"}}},
	}
}

func selecting(name, namespace string) *services.IAMRoleSelector {
	return &services.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: &services.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::111122223333:role/" + name, NamespaceSelector: &services.NamespaceSelector{Names: []string{namespace}},
		},
	}
}

func serviceObject(group, kind, namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1alpha1", "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name},
	}}
}

// awaitReport waits until the report of a selector says this.
func (c reporting) awaitReport(of *services.IAMRoleSelector, used int32, places ...v1alpha1.ReportedResources) {
	c.Helper()
	want := v1alpha1.IAMRoleSelectorReportStatus{
		SelectorUID: of.UID, SelectorGeneration: of.Generation, SelectorCounts: v1alpha1.SelectorCounts{Used: used}, Resources: places,
	}
	c.Await(func() error {
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
	c := startReporting(t)
	c.Make(readerOf("buckets", "s3.services.k8s.aws"))
	unlabelled := readerOf("queues", "sqs.services.k8s.aws")
	unlabelled.Labels = nil
	c.Make(unlabelled)
	c.awaitAggregation("buckets")
	c.awaitPod()

	one, two := selecting("one", "prod"), selecting("two", "dev")
	c.Make(one, two)
	c.MakeNamespaces("prod", "dev")
	c.Make(serviceObject("s3.services.k8s.aws", "Bucket", "prod", "b"), serviceObject("sqs.services.k8s.aws", "Queue", "prod", "q"))
	process := c.start()
	buckets := v1alpha1.ReportedResources{Group: "s3.services.k8s.aws", Kind: "Bucket", Namespace: "prod", SelectorCounts: v1alpha1.SelectorCounts{Used: 1}}
	c.awaitReport(one, 1, buckets)
	c.awaitReport(two, 0)
	if log := process.Log(); !strings.Contains(log, "these kinds may not be listed") || !strings.Contains(log, "queues.sqs.services.k8s.aws") {
		t.Error("the log does not say that queues may not be listed")
	}
	c.Remove(two)
	c.awaitNoReport("two")
	process.End()
	if log := process.Log(); strings.Contains(log, "forbidden") {
		t.Error("the process was refused something that it tried")
	}

	// A right that comes while nobody runs: no report is left over, and it counts then.
	c.Remove(one)
	c.awaitNoReport("one")
	unlabelled.Labels = readerOf("queues", "").Labels
	must.Do(t, c.Update(t.Context(), unlabelled))
	c.awaitAggregation("buckets", "queues")
	again := selecting("one", "prod")
	c.Make(again)
	process = c.start()
	queues := buckets
	queues.Group, queues.Kind = "sqs.services.k8s.aws", "Queue"
	c.awaitReport(again, 2, buckets, queues)
	process.End()
}

// awaitAggregation waits until the controller manager has let the process list
// these resources of services, and no others.
func (c reporting) awaitAggregation(want ...string) {
	c.Helper()
	c.Await(func() error {
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
func (c reporting) awaitPod() {
	c.Helper()
	c.Await(func() error {
		var pods corev1.PodList
		if err := c.List(c.Context(), &pods, client.InNamespace(system)); err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Spec.ServiceAccountName != reporter {
			return fmt.Errorf("there are %d pods; the Deployment says %+v", len(pods.Items), c.deployment().Status.Conditions)
		}
		return nil
	})
}

func (c reporting) awaitNoReport(name string) {
	c.Helper()
	c.Await(func() error {
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
