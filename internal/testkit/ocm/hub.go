package ocm

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// HubOptions say how the hub's registration controller runs.
type HubOptions struct {
	// Drivers are the registration drivers; none is csr alone.
	Drivers []string
	// ARN is of the hub's EKS cluster, for the driver awsirsa.
	ARN string
	// Environment is the controller's, such as that of AWS.
	Environment []string
	// Flags are more of the controller's.
	Flags []string
}

// Hub is a cluster that others join.
type Hub struct {
	*testkit.Cluster
	// Controller is the registration controller.
	Controller *testkit.Process
	// Bootstrap is how the agent of a cluster reaches the hub that has not joined it.
	Bootstrap *rest.Config
}

// StartHub makes a cluster with the kinds of testkit.OCMHub a hub, and stops its
// registration controller at the end of the test.
func StartHub(t testing.TB, cluster *testkit.Cluster, options HubOptions) *Hub {
	t.Helper()
	cluster = cluster.In(t)
	cluster.MakeNamespaces(OperatorNamespace, HubNamespace)
	hub := &Hub{Cluster: cluster, Bootstrap: MakeBootstrap(t, cluster)}
	if len(options.Drivers) == 0 {
		options.Drivers = []string{"csr"}
	}
	command := []string{"registration", "controller", "--enabled-registration-drivers=" + strings.Join(options.Drivers, ",")}
	if options.ARN != "" {
		command = append(command, "--hub-cluster-arn="+options.ARN)
	}
	hub.Controller = start(t, cluster, HubNamespace, options.Environment, append(command, options.Flags...)...)
	return hub
}

// MakeBootstrap makes the identity of agents that have not joined, with the rights that
// Open Cluster Management's chart gives it. One that is there already stays.
func MakeBootstrap(t testing.TB, hub *testkit.Cluster) *rest.Config {
	t.Helper()
	const templates = "deploy/cluster-manager/chart/cluster-manager/templates/"
	for _, file := range []string{"bootstrap_cluster_role.yaml", "bootstrap_sa.yaml", "bootstrap_sa_cluster_role_binding.yaml"} {
		for _, object := range rendered(t, templates+file) {
			must.Do(t, client.IgnoreAlreadyExists(hub.Create(t.Context(), object)))
		}
	}
	return hub.In(t).Account(OperatorNamespace, "agent-registration-bootstrap")
}

// Accept lets a cluster join, as its administrator does.
func (h *Hub) Accept(name string) {
	h.Helper()
	h.Merge(New(ManagedCluster, "", name), `{"spec": {"hubAcceptsClient": true}}`)
}
