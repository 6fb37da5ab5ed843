// Command ocm builds Open Cluster Management's programs as one, ocm, once per version,
// into a cache outside the checkout, and prints its path as the only line on standard
// output. What it does meanwhile goes to standard error. It is run in the checkout's
// root folder:
//
//	go run ./hack/ocm
package main

import (
	"os"
	"path/filepath"

	"github.com/tabard-dev/tabard/hack/gobuild"
	"github.com/tabard-dev/tabard/internal/lab/localkube"
)

// version is of the module that test/ocm/go.mod requires.
const version = "v1.2.1"

func main() {
	os.Exit(gobuild.Cached{
		Name: "ocm", Version: version, Source: filepath.Join("test", "ocm"),
		Cache:       filepath.Join(filepath.Dir(localkube.CacheDir(os.Getenv)), "ocm"),
		Started:     "building Open Cluster Management " + version + "; this happens once and takes some minutes",
		LinkerFlags: "-X open-cluster-management.io/ocm/pkg/version.versionFromGit=" + version,
	}.Main())
}
