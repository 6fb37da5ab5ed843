package testkit_test

import (
	"slices"
	"testing"

	"k8s.io/client-go/discovery"

	"github.com/tabard-dev/tabard/internal/testkit"
)

func TestForeignKindsAreServed(t *testing.T) {
	server := testkit.StartAPIServer(t, "https://issuer.example.com")
	server.InstallForeign(t, testkit.MachineAPI, testkit.OpenShiftConfig, testkit.OpenShiftCredentials, testkit.ClusterAPI, testkit.ClusterAPIAWS)
	client, err := discovery.NewDiscoveryClientForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	for version, kinds := range map[string][]string{
		"machine.openshift.io/v1beta1":            {"MachineSet"},
		"config.openshift.io/v1":                  {"Infrastructure", "Authentication"},
		"operator.openshift.io/v1":                {"CloudCredential"},
		"cluster.x-k8s.io/v1beta1":                {"Cluster", "MachineDeployment", "MachineSet"},
		"cluster.x-k8s.io/v1beta2":                {"Cluster", "MachineDeployment", "MachineSet"},
		"infrastructure.cluster.x-k8s.io/v1beta2": {"AWSCluster", "AWSMachineTemplate"},
		"controlplane.cluster.x-k8s.io/v1beta2":   {"AWSManagedControlPlane", "ROSAControlPlane"},
	} {
		served, err := client.ServerResourcesForGroupVersion(version)
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		var names []string
		for _, resource := range served.APIResources {
			names = append(names, resource.Kind)
		}
		for _, kind := range kinds {
			if !slices.Contains(names, kind) {
				t.Errorf("%s serves %q, not %s", version, names, kind)
			}
		}
	}
}
