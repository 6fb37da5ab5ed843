package testkit

import (
	"path/filepath"
	"runtime"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Root is the repository's folder.
func Root() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..")
}

// InstallCRDs installs Tabard's kinds and waits until they are served.
func (s *APIServer) InstallCRDs(t testing.TB) {
	t.Helper()
	s.InstallCRDsFrom(t, filepath.Join(Root(), "config", "crd"))
}

// InstallCRDsFrom installs the kinds in files and folders and waits until they
// are served.
func (s *APIServer) InstallCRDsFrom(t testing.TB, paths ...string) {
	t.Helper()
	must.Get(envtest.InstallCRDs(s.Config, envtest.CRDInstallOptions{Paths: paths, ErrorIfPathMissing: true}))(t)
}
