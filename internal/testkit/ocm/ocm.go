// Package ocm starts Open Cluster Management's own programs for tests: the hub's
// registration controller, and the agents of clusters that join it. They are the
// released programs, which make ocm builds, and reach real API servers.
//
// They run as processes of this machine by an administrator's rights. Node runs them
// as the pods that Open Cluster Management's operators make, by the rights of these.
package ocm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The namespaces that Open Cluster Management uses unless it is told otherwise.
const (
	OperatorNamespace = "open-cluster-management"
	HubNamespace      = "open-cluster-management-hub"
	AgentNamespace    = "open-cluster-management-agent"
)

// Kinds of Open Cluster Management, for New and List.
var (
	ManagedCluster      = schema.GroupVersionKind{Group: "cluster.open-cluster-management.io", Version: "v1", Kind: "ManagedCluster"}
	ManifestWork        = schema.GroupVersionKind{Group: "work.open-cluster-management.io", Version: "v1", Kind: "ManifestWork"}
	AppliedManifestWork = schema.GroupVersionKind{Group: "work.open-cluster-management.io", Version: "v1", Kind: "AppliedManifestWork"}
	ManagedClusterAddOn = schema.GroupVersionKind{Group: "addon.open-cluster-management.io", Version: "v1alpha1", Kind: "ManagedClusterAddOn"}
	ClusterManager      = schema.GroupVersionKind{Group: "operator.open-cluster-management.io", Version: "v1", Kind: "ClusterManager"}
	Klusterlet          = schema.GroupVersionKind{Group: "operator.open-cluster-management.io", Version: "v1", Kind: "Klusterlet"}
)

// New is an object of a kind, to be read or made. The repository has no Go types of
// Open Cluster Management.
func New(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{}}
	made.SetGroupVersionKind(kind)
	made.SetNamespace(namespace)
	made.SetName(name)
	return made
}

// Condition is the status and the message of an object's condition; a condition that
// the object does not have has no status.
func Condition(object *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		if condition, ok := each.(map[string]any); ok && condition["type"] == kind {
			return fmt.Sprint(condition["status"]), fmt.Sprint(condition["message"])
		}
	}
	return "", ""
}

// Program is the built program, with all components.
func Program(t testing.TB) (path string) {
	t.Helper()
	path, err := filepath.Abs(os.Getenv("TABARD_OCM"))
	if err != nil || os.Getenv("TABARD_OCM") == "" {
		t.Fatal("TABARD_OCM is not set: run make interop, or make ocm and set it to bin/ocm")
	}
	return path
}

// start starts a component in a cluster, as its administrator. Its environment has what
// is given and nothing of AWS, and its home is empty.
func start(t testing.TB, cluster *testkit.Cluster, namespace string, environment []string, command ...string) *testkit.Process {
	t.Helper()
	args := append(slices.Clone(command), "--kubeconfig="+cluster.Kubeconfig(cluster.Config), "--namespace="+namespace,
		fmt.Sprintf("--listen=127.0.0.1:%d", testkit.FreePort(t)), "--disable-leader-election")
	process := exec.CommandContext(context.WithoutCancel(t.Context()), Program(t), args...)
	process.Env = append([]string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "POD_NAME=" + command[0] + "-0"}, environment...)
	return testkit.StartProcess(t, process)
}

// Kubeconfig is the text of a file by which a program reaches a cluster so; it needs no
// other file.
func Kubeconfig(t testing.TB, config *rest.Config) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	testkit.WriteKubeconfig(t, path, config)
	written := must.Get(clientcmd.LoadFromFile(path))(t)
	for _, cluster := range written.Clusters {
		cluster.CertificateAuthorityData = must.Get(os.ReadFile(cluster.CertificateAuthority))(t)
		cluster.CertificateAuthority = ""
	}
	return must.Get(clientcmd.Write(*written))(t)
}
