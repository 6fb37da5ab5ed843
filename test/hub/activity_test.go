package hub

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

func podsIn(cluster *testkit.Cluster, namespace string) []corev1.Pod {
	cluster.Helper()
	var list corev1.PodList
	must.Do(cluster, cluster.List(cluster.Context(), &list, client.InNamespace(namespace)))
	return list.Items
}

// activityOf is what a pod does about roles.
func activityOf(labels map[string]string, spec *corev1.PodSpec) corehub.Activity {
	pod := corehub.Pod{Controller: labels[corehub.ControllerLabel] == corehub.ControllerApp}
	for _, container := range spec.Containers {
		pod.Commands = append(pod.Commands, slices.Concat(container.Command, container.Args))
	}
	return pod.Activity()
}

// addFields gives the ClusterManager of Open Cluster Management the requirement's fields, and waits
// until they are served.
func addFields(t *testing.T, cluster *testkit.Cluster) {
	t.Helper()
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	must.Do(t, cluster.Get(t.Context(), client.ObjectKey{Name: corehub.ManagerDefinition}, kind))
	must.Do(t, corehub.Merge(kind.Object, must.Get(corehub.Fields(kind.Object))(t)))
	must.Do(t, cluster.Update(t.Context(), kind))
	cluster.Await(func() error {
		manager := clusterManager(map[string]any{"hubClusterArn": hubARN, "disableManagedIam": true})
		manager.SetName("asks")
		must.Do(t, cluster.Create(t.Context(), manager, client.DryRunAll))
		if !isDisabled(manager) {
			return fmt.Errorf("the field disableManagedIam is dropped")
		}
		return nil
	})
}

// isDisabled says whether disableManagedIam is in a ClusterManager's only driver.
func isDisabled(manager *unstructured.Unstructured) bool {
	drivers, _, _ := unstructured.NestedSlice(manager.Object, "spec", "registrationConfiguration", "registrationDrivers")
	if len(drivers) != 1 {
		return false
	}
	disabled, _, _ := unstructured.NestedBool(drivers[0].(map[string]any), "awsirsa", "disableManagedIam")
	return disabled
}

// TestOCMWhatTheHubControllerDoesIsReadFromItsPod has what their operator makes of registration drivers,
// and how Tabard judges it. With disableManagedIam, their v1.2.1 runs the driver all the same.
func TestOCMWhatTheHubControllerDoesIsReadFromItsPod(t *testing.T) {
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"})
	addFields(t, hub.Cluster)
	manager := ocm.New(ocm.ClusterManager, "", "cluster-manager")
	for _, test := range []struct {
		drivers, argument string
		want              corehub.Activity
	}{
		{`[{"authType": "csr"}]`, "csr", corehub.Idle},
		{`[{"authType": "awsirsa", "awsirsa": {"hubClusterArn": "` + hubARN + `"}}]`, "awsirsa", corehub.Acting},
		{`[{"authType": "csr"}, {"authType": "awsirsa", "awsirsa": {"hubClusterArn": "` + hubARN + `"}}]`, "csr,awsirsa", corehub.Acting},
		{`[{"authType": "awsirsa", "awsirsa": {"disableManagedIam": true, "hubClusterArn": "` + hubARN + `"}}]`, "awsirsa", corehub.Acting},
	} {
		hub.Merge(manager, `{"spec": {"registrationConfiguration": {"registrationDrivers": `+test.drivers+`}}}`)
		template := awaitDrivers(t, hub.Cluster, test.argument)
		if got := activityOf(template.Labels, &template.Spec); got != test.want {
			t.Errorf("with the drivers %s, the hub controller is %q, want %s; it has the arguments %q", test.drivers, got, test.want, template.Spec.Containers[0].Args)
		}
	}
	must.Do(t, hub.Get(t.Context(), client.ObjectKeyFromObject(manager), manager))
	if !isDisabled(manager) {
		t.Errorf("the ClusterManager does not have disableManagedIam: %v", manager.Object["spec"])
	}
}

// awaitDrivers waits until their operator has written these drivers for the hub controller, and
// returns the template of its pods.
func awaitDrivers(t *testing.T, hub *testkit.Cluster, drivers string) corev1.PodTemplateSpec {
	t.Helper()
	var deployment appsv1.Deployment
	hub.Await(func() error {
		if err := hub.Get(t.Context(), client.ObjectKey{Namespace: ocm.HubNamespace, Name: "cluster-manager-registration-controller"}, &deployment); err != nil {
			return err
		}
		if args := deployment.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--enabled-registration-drivers="+drivers) {
			return fmt.Errorf("the arguments of the hub controller are %q", args)
		}
		return nil
	})
	return deployment.Spec.Template
}
