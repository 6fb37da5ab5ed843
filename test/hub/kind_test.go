package hub

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// clusterManager is a ClusterManager with the driver awsirsa so.
func clusterManager(awsirsa map[string]any) *unstructured.Unstructured {
	made := ocm.New(ocm.ClusterManager, "", "cluster-manager")
	made.Object["spec"] = map[string]any{"registrationConfiguration": map[string]any{
		"registrationDrivers": []any{map[string]any{"authType": "awsirsa", "awsirsa": awsirsa}},
	}}
	return made
}

// klusterlet is a Klusterlet with the driver awsirsa so.
func klusterlet(awsIRSA map[string]any) *unstructured.Unstructured {
	made := ocm.New(ocm.Klusterlet, "", "klusterlet")
	made.Object["spec"] = map[string]any{"registrationConfiguration": map[string]any{
		"registrationDriver": map[string]any{"authType": "awsirsa", "awsIrsa": awsIRSA},
	}}
	return made
}

// TestOCMTheKindsOfTheOperators shows which ARNs they take, and that they drop fields
// that they do not have without a word.
func TestOCMTheKindsOfTheOperators(t *testing.T) {
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMOperators}})
	for name, test := range map[string]struct {
		arn   string
		taken bool
	}{
		"one of the partition aws":           {hubARN, true},
		"one of China":                       {"arn:aws-cn:eks:cn-north-1:111111111111:cluster/eks-hub", false},
		"one of GovCloud":                    {"arn:aws-us-gov:eks:us-gov-west-1:111111111111:cluster/eks-hub", false},
		"one with an underscore in the name": {"arn:aws:eks:us-west-2:111111111111:cluster/eks_hub", false},
		"one with an account of nine digits": {"arn:aws:eks:us-west-2:123456789:cluster/eks-hub", false},
		"one of a role":                      {"arn:aws:iam::111111111111:role/eks-hub", false},
		"a name that eksctl gives a cluster": {"eks-hub.us-west-2.eksctl.io", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, object := range []*unstructured.Unstructured{
				clusterManager(map[string]any{"hubClusterArn": test.arn}),
				klusterlet(map[string]any{"hubClusterArn": test.arn, "managedClusterArn": arnA}),
				klusterlet(map[string]any{"hubClusterArn": hubARN, "managedClusterArn": test.arn}),
			} {
				err := cluster.Create(t.Context(), object, client.DryRunAll)
				if (err == nil) != test.taken || err != nil && !strings.Contains(err.Error(), "should match") {
					t.Errorf("a %s: %v", object.GetKind(), err)
				}
			}
		})
	}
	manager, joining := clusterManager(map[string]any{"hubClusterArn": hubARN, "disableManagedIam": true}),
		klusterlet(map[string]any{"hubClusterArn": hubARN, "managedClusterArn": arnA, "iamConfigSecret": "iam-config"})
	cluster.Make(manager, joining)
	if diff := cmp.Diff(clusterManager(map[string]any{"hubClusterArn": hubARN}).Object["spec"].(map[string]any)["registrationConfiguration"],
		pick(manager, "registrationDrivers")); diff != "" {
		t.Errorf("what is stored of the ClusterManager (-want +got):\n%s", diff)
	}
	if got, _, _ := unstructured.NestedMap(joining.Object, "spec", "registrationConfiguration", "registrationDriver", "awsIrsa"); got["iamConfigSecret"] != nil {
		t.Errorf("what is stored of the Klusterlet: %v", got)
	}
}

// pick is a part of an object's registrationConfiguration, alone.
func pick(object *unstructured.Unstructured, field string) map[string]any {
	part, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "registrationConfiguration", field)
	return map[string]any{field: part}
}

func TestOCMTheOperatorTellsTheHubsControllerOfTheDriver(t *testing.T) {
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"}, map[string]any{"authType": "awsirsa", "awsirsa": map[string]any{
		"hubClusterArn": hubARN, "autoApprovedIdentities": []any{"arn:aws:eks:.*:222222222222:cluster/.*", "another"}, "tags": []any{"env=test", "team=a"},
	}})
	wantWired(t, hub.Cluster, "arn:aws:iam::111111111111:role/eks-hub_managed-cluster-identity-creator",
		"--auto-approved-arn-patterns=arn:aws:eks:.*:222222222222:cluster/.*,another", "--aws-resource-tags=env=test,team=a",
		"--enabled-registration-drivers=csr,awsirsa", "--hub-cluster-arn="+hubARN)
	hub.Merge(ocm.New(ocm.ClusterManager, "", "cluster-manager"), `{"spec": {"registrationConfiguration": {"registrationDrivers": [{"authType": "csr"}]}}}`)
	wantWired(t, hub.Cluster, "", "--enabled-registration-drivers=csr")
}

// wantWired waits until the hub's controller has this role and these arguments of drivers.
func wantWired(t *testing.T, hub *testkit.Cluster, role string, args ...string) {
	t.Helper()
	hub.Await(func() error {
		var deployment appsv1.Deployment
		if err := hub.Get(t.Context(), client.ObjectKey{Namespace: ocm.HubNamespace, Name: "cluster-manager-registration-controller"}, &deployment); err != nil {
			return err
		}
		var account corev1.ServiceAccount
		must.Do(t, hub.Get(t.Context(), client.ObjectKey{Namespace: ocm.HubNamespace, Name: deployment.Spec.Template.Spec.ServiceAccountName}, &account))
		var got []string
		for _, arg := range deployment.Spec.Template.Spec.Containers[0].Args {
			if strings.HasPrefix(arg, "--") && !strings.HasPrefix(arg, "--feature-gates") {
				got = append(got, arg)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(args, got); diff != "" {
			return fmt.Errorf("the arguments of the hub's controller (-want +got):\n%s", diff)
		}
		if now := account.Annotations["eks.amazonaws.com/role-arn"]; now != role {
			return fmt.Errorf("the role of the hub's controller is %q, want %q", now, role)
		}
		return nil
	})
}
