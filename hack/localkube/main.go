// Command localkube builds the localkube program once per version, into a cache
// outside the checkout, and prints its path as the only line on standard
// output. What it does meanwhile goes to standard error. It is run in the
// checkout's root folder:
//
//	go run ./hack/localkube
package main

import (
	"os"
	"strings"

	"github.com/tabard-dev/tabard/hack/gobuild"
	"github.com/tabard-dev/tabard/internal/lab/localkube"
)

func main() {
	os.Exit(gobuild.Cached{
		Name: "localkube", Version: localkube.Version, Source: "localkube", Cache: localkube.CacheDir(os.Getenv),
		Started:     "building Kubernetes " + localkube.Version + " and etcd; this happens once and takes some minutes",
		LinkerFlags: linkerFlags(localkube.Version),
	}.Main())
}

// linkerFlags put the version into the program, as Kubernetes' own builds do:
// without it every component calls itself v0.0.0.
func linkerFlags(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	const at = "k8s.io/component-base/version."
	return strings.Join([]string{
		"-X", at + "gitVersion=" + version,
		"-X", at + "gitMajor=" + parts[0],
		"-X", at + "gitMinor=" + parts[1],
		"-X", at + "gitTreeState=clean",
	}, " ")
}
