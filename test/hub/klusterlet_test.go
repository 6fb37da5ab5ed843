package hub

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

func TestOCMTheOperatorsJoinAClusterOfEKSByItsRoleAndItsWorksArrive(t *testing.T) {
	eks := startStandIn(t)
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{Authenticator: eks.kubeconfig}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"})
	spoke := startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{Programs: eks.programs})
	ocm.MakeKlusterlet(t, spoke.Cluster, "cluster1", ocm.MakeBootstrap(t, hub.Cluster), awsirsa(hubARN, arnA))

	wantRendered(t, spoke.Cluster)
	joined := &ocm.Hub{Cluster: hub.Cluster}
	want := map[string]string{arnAnnotation: arnA, suffixAnnotation: suffixA}
	if diff := cmp.Diff(want, awaitAnnotations(joined, "cluster1")); diff != "" {
		t.Errorf("the annotations of the ManagedCluster (-want +got):\n%s", diff)
	}
	eks.admit("arn:aws:iam::111111111111:role/ocm-hub-"+suffixA, "cluster1")
	joined.Accept("cluster1")
	wantExec(spoke.Cluster, joined, "arn:aws:iam::111111111111:role/ocm-hub-"+suffixA)
	awaitCondition(joined, "cluster1", "ManagedClusterJoined", "True")
	awaitCondition(joined, "cluster1", "ManagedClusterConditionAvailable", "True")
	wantArrives(t, hub.Cluster, spoke.Cluster, "cluster1")

	// The operator asks the hub itself, in a pod without the CLI.
	klusterlet := ocm.New(ocm.Klusterlet, "", "klusterlet")
	spoke.Await(func() error {
		must.Do(t, spoke.Get(t.Context(), client.ObjectKeyFromObject(klusterlet), klusterlet))
		if status, message := ocm.Condition(klusterlet, "HubConnectionDegraded"); status != "True" || !strings.Contains(message, "/awscli/dist/aws: no such file or directory") {
			return fmt.Errorf("the Klusterlet's condition HubConnectionDegraded is %s (%s)", status, message)
		}
		return nil
	})
}

// awsirsa is a Klusterlet's driver.
func awsirsa(hub, managed string) map[string]any {
	arns := map[string]any{"hubClusterArn": hub}
	if managed != "" {
		arns["managedClusterArn"] = managed
	}
	return map[string]any{"authType": "awsirsa", "awsIrsa": arns}
}

// wantRendered says what the operator makes of the driver: arguments of the registration
// agent alone, the CLI's volumes and the role's annotation for both.
func wantRendered(t *testing.T, spoke *testkit.Cluster) {
	t.Helper()
	for agent, args := range map[string][]string{
		"registration": {
			"--hub-cluster-arn=" + hubARN, "--managed-cluster-arn=" + arnA, "--managed-cluster-role-suffix=" + suffixA, "--registration-auth=awsirsa",
		},
		"work": nil,
	} {
		var deployment appsv1.Deployment
		spoke.Await(func() error {
			return spoke.Get(t.Context(), client.ObjectKey{Namespace: ocm.AgentNamespace, Name: "klusterlet-" + agent + "-agent"}, &deployment)
		})
		container := deployment.Spec.Template.Spec.Containers[0]
		var got, mounts []string
		for _, arg := range container.Args {
			if strings.Contains(arg, "arn") || strings.Contains(arg, "suffix") || strings.Contains(arg, "auth") {
				got = append(got, arg)
			}
		}
		slices.Sort(got)
		for _, mount := range container.VolumeMounts {
			mounts = append(mounts, mount.MountPath)
		}
		if diff := cmp.Diff(args, got); diff != "" {
			t.Errorf("the arguments of the %s agent (-want +got):\n%s", agent, diff)
		}
		if !slices.Contains(mounts, "/.aws") || !slices.Contains(mounts, "/awscli") {
			t.Errorf("the volumes of the %s agent are at %q, want /.aws and /awscli too", agent, mounts)
		}
		var account corev1.ServiceAccount
		must.Do(t, spoke.Get(t.Context(), client.ObjectKey{Namespace: ocm.AgentNamespace, Name: "klusterlet-" + agent + "-sa"}, &account))
		if role := account.Annotations["eks.amazonaws.com/role-arn"]; role != "arn:aws:iam::222222222222:role/ocm-managed-cluster-"+suffixA {
			t.Errorf("the %s agent has the role %q", agent, role)
		}
	}
}

// relax makes managedClusterArn optional, as an extension of the Klusterlet has it.
func relax(t *testing.T, cluster *testkit.Cluster) {
	t.Helper()
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	kind.SetName("klusterlets.operator.open-cluster-management.io")
	must.Do(t, cluster.Patch(t.Context(), kind, client.RawPatch("application/json-patch+json", []byte(`[{
		"op": "remove",
		"path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/registrationConfiguration/properties/registrationDriver/properties/awsIrsa/required"
	}]`))))
}

func TestOCMAKlusterletWithoutAnARN(t *testing.T) {
	spoke := startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	klusterlet := func(name string, driver map[string]any) *unstructured.Unstructured {
		made := ocm.New(ocm.Klusterlet, "", name)
		made.Object["spec"] = map[string]any{"clusterName": name, "namespace": "open-cluster-management-" + name, "registrationConfiguration": map[string]any{"registrationDriver": driver}}
		return made
	}
	refused := func(driver map[string]any, want string) {
		t.Helper()
		if err := spoke.Create(t.Context(), klusterlet("refused", driver)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the API server says %v, want %s", err, want)
		}
	}
	refused(awsirsa(hubARN, ""), "managedClusterArn: Required value")
	refused(map[string]any{"authType": "awsirsa", "awsIrsa": map[string]any{"hubClusterArn": hubARN, "managedClusterArn": ""}}, "should be at least 1 chars long")

	spoke.Make(klusterlet("without-the-object", map[string]any{"authType": "awsirsa"}))
	awaitOperatorPanic(t, spoke, "runtime error: invalid memory address or nil pointer dereference", "klusterletController).sync")

	relax(t, spoke.Cluster)
	spoke.Await(func() error { return spoke.Create(t.Context(), klusterlet("without-an-arn", awsirsa(hubARN, ""))) })
	awaitOperatorPanic(t, spoke, noPart, takeARN)
	if starts := spoke.Starts("klusterlet-"); starts != 1 {
		t.Errorf("the operator was started %d times, want once: it goes on after a panic", starts)
	}
	for _, name := range []string{"without-the-object", "without-an-arn"} {
		var list appsv1.DeploymentList
		must.Do(t, spoke.List(t.Context(), &list, client.InNamespace("open-cluster-management-"+name)))
		if len(list.Items) > 0 {
			t.Errorf("the operator has made %d Deployments of %s", len(list.Items), name)
		}
	}
}

// awaitOperatorPanic waits until the operator has said that it has panicked.
func awaitOperatorPanic(t *testing.T, cluster operated, what, in string) {
	t.Helper()
	cluster.Await(func() error {
		if log := cluster.Log(""); !strings.Contains(log, "Panic observed: "+what) || !strings.Contains(log, in+"(") {
			return fmt.Errorf("the operator has not said that there was a panic %q in %s", what, in)
		}
		return nil
	})
}

func TestOCMAClusterManagerWithTheDriverAWSIRSAAndNoARN(t *testing.T) {
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "awsirsa", "awsirsa": map[string]any{}})
	awaitOperatorPanic(t, hub, noPart, takeARN)
	if starts := hub.Starts("cluster-manager-"); starts != 1 {
		t.Errorf("the operator was started %d times, want once: it goes on after a panic", starts)
	}
}
