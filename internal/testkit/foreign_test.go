package testkit_test

import (
	"slices"
	"testing"
)

func TestForeignKindsAreServed(t *testing.T) {
	client := shared(t).Kube.Discovery()
	for version, kinds := range map[string][]string{
		"machine.openshift.io/v1beta1":              {"MachineSet"},
		"config.openshift.io/v1":                    {"Infrastructure", "Authentication"},
		"operator.openshift.io/v1":                  {"CloudCredential"},
		"cluster.x-k8s.io/v1beta1":                  {"Cluster", "MachineDeployment", "MachineSet"},
		"cluster.x-k8s.io/v1beta2":                  {"Cluster", "MachineDeployment", "MachineSet"},
		"infrastructure.cluster.x-k8s.io/v1beta2":   {"AWSCluster", "AWSMachineTemplate"},
		"controlplane.cluster.x-k8s.io/v1beta2":     {"AWSManagedControlPlane", "ROSAControlPlane"},
		"cluster.open-cluster-management.io/v1":     {"ManagedCluster"},
		"work.open-cluster-management.io/v1":        {"ManifestWork", "AppliedManifestWork"},
		"addon.open-cluster-management.io/v1alpha1": {"ManagedClusterAddOn", "ClusterManagementAddOn"},
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
