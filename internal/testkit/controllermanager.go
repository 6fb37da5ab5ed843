package testkit

import (
	"path/filepath"
	"testing"
)

// StartControllerManager starts Kubernetes' own controllers for the API server, each
// with the rights that it has in a cluster, and stops them at the end of the test. It
// does not wait: what they do is what a test waits for. Flags are more than they have here.
func (s *APIServer) StartControllerManager(t testing.TB, flags ...string) {
	t.Helper()
	kubeconfig := filepath.Join(s.dir, "kube-controller-manager.kubeconfig")
	WriteKubeconfig(t, kubeconfig, s.Config)
	s.run(t, "kube-controller-manager", append([]string{"--kubeconfig=" + kubeconfig, "--use-service-account-credentials",
		"--service-account-private-key-file=" + filepath.Join(s.dir, "sa.key"),
		"--secure-port=0", "--authentication-skip-lookup", "--leader-elect=false", "--kube-api-qps=200", "--kube-api-burst=400"}, flags...)...)
}
