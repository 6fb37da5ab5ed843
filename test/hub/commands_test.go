package hub

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// typed runs "tabard hub …" at a cluster, and returns what it has said.
func typed(t *testing.T, at *testkit.Cluster, args ...string) string {
	t.Helper()
	process := testkit.StartTabard(t, nil, append(append([]string{"hub"}, args...), "--kubeconfig="+at.Kubeconfig(at.Config))...)
	if code := process.ExitCode(); code != 0 {
		t.Fatalf("tabard hub %s: exit code %d: %s", args[0], code, process.Log())
	}
	return process.Log()
}

// TestOCMTheCommandsMakeAClusterFromAnywhereJoin types what the requirement's stories type, over
// Open Cluster Management's own operators.
func TestOCMTheCommandsMakeAClusterFromAnywhereJoin(t *testing.T) {
	a := startAnywhere(t, "")
	typed(t, a.Hub.Cluster, "init", "--registration-drivers", "awsirsa", "--disable-managed-iam", "--hub-cluster-arn", hubARN)
	a.Hub.Await(func() error { // the operator has made the kinds of a hub
		err := a.Hub.Get(t.Context(), client.ObjectKey{Name: "onprem-1"}, ocm.New(ocm.ManagedCluster, "", "onprem-1"))
		return client.IgnoreNotFound(err)
	})
	a.aws.User(spokeAccount, "onprem-broker", mayAssume)
	a.key = a.aws.Key(spokeAccount, "onprem-broker")
	a.spoke.Make(iamConfig(a.key))
	said := a.asksByCommand(t, "--iam-config-secret", "iam-config")
	if !strings.Contains(said, "is treated as one outside EKS") {
		t.Errorf("join says:\n%s", said)
	}
	a.admit(t, trustBroker)
	if said = typed(t, a.Hub.Cluster, "accept", "--clusters", "onprem-1", "--wait", "--timeout", "120"); !strings.Contains(said, "onprem-1 has joined") {
		t.Errorf("accept says:\n%s", said)
	}
	wantArrives(t, a.Hub.Cluster, a.spoke.Cluster, "onprem-1")
	wantAddOn(t, a.Hub.Cluster, a.spoke.Cluster, "onprem-1")
}
