package ocm

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// An Operator is one of Open Cluster Management's, by the folder of its manifests.
type Operator string

// The operators: of a hub, and of a cluster that joins one.
const (
	ClusterManagerOperator Operator = "cluster-manager"
	KlusterletOperator     Operator = "klusterlet"
)

// InstallOperator makes an operator's objects as its manifests have them, with one
// replica. A Node runs it; its kind is of testkit.OCMOperators.
func InstallOperator(t testing.TB, cluster *testkit.Cluster, operator Operator) {
	t.Helper()
	folder := "deploy/" + string(operator) + "/config/"
	for _, file := range []string{
		"operator/namespace.yaml", "operator/service_account.yaml", "rbac/cluster_role.yaml", "rbac/cluster_role_binding.yaml", "operator/operator.yaml",
	} {
		for _, object := range rendered(t, folder+file) {
			if object.GetObjectKind().GroupVersionKind().Kind == "Deployment" {
				must.Do(t, unstructured.SetNestedField(object.(*unstructured.Unstructured).Object, int64(1), "spec", "replicas"))
			}
			cluster.In(t).Make(object)
		}
	}
}

// MakeClusterManager makes the object that makes a cluster a hub. Drivers are as in
// spec.registrationConfiguration.registrationDrivers.
func MakeClusterManager(t testing.TB, hub *testkit.Cluster, drivers ...any) {
	t.Helper()
	made := New(ClusterManager, "", "cluster-manager")
	made.Object["spec"] = map[string]any{
		"registrationImagePullSpec": "registration", "workImagePullSpec": "work",
		"placementImagePullSpec": "placement", "addOnManagerImagePullSpec": "addon-manager",
		"deployOption":              map[string]any{"mode": "Default"},
		"registrationConfiguration": map[string]any{"registrationDrivers": drivers},
	}
	hub.In(t).Make(made)
}

// MakeKlusterlet makes the objects that make a cluster join a hub: the namespace, unless it is
// there, the Secret by which its agents reach the hub first, and the Klusterlet. The driver is as in
// spec.registrationConfiguration.registrationDriver; nil is csr.
func MakeKlusterlet(t testing.TB, spoke *testkit.Cluster, name string, bootstrap *rest.Config, driver map[string]any) {
	t.Helper()
	spoke = spoke.In(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: AgentNamespace}}
	must.Do(t, client.IgnoreAlreadyExists(spoke.Create(t.Context(), namespace)))
	made := New(Klusterlet, "", "klusterlet")
	spec := map[string]any{
		"registrationImagePullSpec": "registration", "workImagePullSpec": "work", "imagePullSpec": "registration-operator",
		"clusterName": name, "namespace": AgentNamespace, "deployOption": map[string]any{"mode": "Default"},
	}
	if driver != nil {
		spec["registrationConfiguration"] = map[string]any{"registrationDriver": driver}
	}
	made.Object["spec"] = spec
	spoke.Make(Bootstrap(t, bootstrap), made)
}

// Bootstrap is the Secret by which agents reach the hub first.
func Bootstrap(t testing.TB, bootstrap *rest.Config) *corev1.Secret {
	t.Helper()
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: AgentNamespace, Name: "bootstrap-hub-kubeconfig"},
		StringData: map[string]string{"kubeconfig": string(Kubeconfig(t, bootstrap))},
	}
}
