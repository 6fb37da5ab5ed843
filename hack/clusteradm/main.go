// Command clusteradm builds Open Cluster Management's command clusteradm as it is released, once per
// version, into a cache outside the checkout, and prints its path as the only line on standard
// output. What it does meanwhile goes to standard error. The module test/clusteradm has its
// requirements: it is clusteradm v1.3.1 with the charts of ocm v1.2.1. It is run in the checkout's
// root folder:
//
//	go run ./hack/clusteradm
package main

import (
	"os"
	"path/filepath"

	"github.com/tabard-dev/tabard/hack/gobuild"
	"github.com/tabard-dev/tabard/internal/lab/localkube"
)

// version is of the module that test/clusteradm/go.mod requires.
const version = "v1.3.1"

func main() {
	os.Exit(gobuild.Cached{
		Name: "clusteradm", Version: version, Source: filepath.Join("test", "clusteradm"),
		Package:     "open-cluster-management.io/clusteradm/cmd/clusteradm",
		Cache:       filepath.Join(filepath.Dir(localkube.CacheDir(os.Getenv)), "clusteradm"),
		Started:     "building clusteradm " + version + "; this happens once and takes some minutes",
		LinkerFlags: "-X open-cluster-management.io/clusteradm/pkg/version.versionFromGit=" + version,
	}.Main())
}
