package testkit

import (
	"path/filepath"
	"runtime"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// InstallCRDs installs Tabard's kinds and waits until they are served.
func (s *APIServer) InstallCRDs(t testing.TB) {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	folder := filepath.Join(filepath.Dir(here), "..", "..", "config", "crd")
	_, err := envtest.InstallCRDs(s.Config, envtest.CRDInstallOptions{Paths: []string{folder}, ErrorIfPathMissing: true})
	if err != nil {
		t.Fatal(err)
	}
}
