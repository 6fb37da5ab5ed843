package ocm

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// AgentOptions say which cluster joins which hub, and how.
type AgentOptions struct {
	// Klusterlet is the cluster that joins, with the kinds of testkit.OCMSpoke.
	Klusterlet *testkit.Cluster
	// Name is the cluster's at the hub.
	Name string
	// Bootstrap is how the agent reaches the hub before it has joined.
	Bootstrap *rest.Config
	// HubARN is of the hub's EKS cluster: the agent joins by the driver awsirsa. Without
	// it the agent joins by csr.
	HubARN string
	// ManagedARN is of the cluster itself; the agent is told none if it is empty.
	ManagedARN string
	// Suffix is of the role that the agent becomes at the hub.
	Suffix string
	// Environment is the agents', such as that of AWS.
	Environment []string
}

// Agent is a cluster's agents.
type Agent struct {
	Registration *testkit.Process
	// HubKubeconfig is the folder that the registration agent writes what it reaches the
	// hub by to, and from which the work agent reads it.
	HubKubeconfig string

	options AgentOptions
}

// StartAgent starts a cluster's registration agent, and stops it at the end of the test.
func StartAgent(t testing.TB, options AgentOptions) *Agent {
	t.Helper()
	options.Klusterlet = options.Klusterlet.In(t)
	options.Klusterlet.MakeNamespaces(AgentNamespace)
	agent := &Agent{HubKubeconfig: t.TempDir(), options: options}
	bootstrap := filepath.Join(t.TempDir(), "kubeconfig")
	must.Do(t, os.WriteFile(bootstrap, Kubeconfig(t, options.Bootstrap), 0o600))
	command := []string{
		"registration", "agent", "--spoke-cluster-name=" + options.Name,
		"--bootstrap-kubeconfig=" + bootstrap, "--hub-kubeconfig-dir=" + agent.HubKubeconfig,
	}
	if options.HubARN != "" {
		command = append(command, "--registration-auth=awsirsa", "--hub-cluster-arn="+options.HubARN, "--managed-cluster-role-suffix="+options.Suffix)
	}
	if options.ManagedARN != "" {
		command = append(command, "--managed-cluster-arn="+options.ManagedARN)
	}
	agent.Registration = start(t, options.Klusterlet, AgentNamespace, options.Environment, command...)
	return agent
}

// StartWork starts the cluster's work agent, which needs the hub's kubeconfig to be
// there, and stops it at the end of the test.
func (a *Agent) StartWork(t testing.TB) *testkit.Process {
	t.Helper()
	return start(t, a.options.Klusterlet.In(t), AgentNamespace, a.options.Environment,
		"work", "agent", "--spoke-cluster-name="+a.options.Name, "--status-sync-interval=1s",
		"--workload-source-driver=kube", "--workload-source-config="+filepath.Join(a.HubKubeconfig, "kubeconfig"))
}
