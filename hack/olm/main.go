// Command olm builds the programs of the Operator Lifecycle Manager, and opm, which serves
// catalogues, once per version, into a cache outside the checkout. It prints the path of each as a
// line on standard output: olm, catalog, package-server, cpb and opm. What it does meanwhile goes to
// standard error. The module test/olm has their requirements. It is run in the checkout's root
// folder:
//
//	go run ./hack/olm
package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/tabard-dev/tabard/hack/gobuild"
	"github.com/tabard-dev/tabard/internal/lab/localkube"
)

// The modules that test/olm/go.mod requires, and their versions.
const (
	manager         = "github.com/operator-framework/operator-lifecycle-manager"
	managerVersion  = "v0.45.0"
	registry        = "github.com/operator-framework/operator-registry"
	registryVersion = "v1.73.0"
	// registryTags leave out what needs C libraries.
	registryTags = "containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper,json1"
)

// program is one of those that are built.
type program struct{ version, pkg, tags string }

var programs = []program{
	{managerVersion, manager + "/cmd/olm", ""},
	{managerVersion, manager + "/cmd/catalog", ""},
	{managerVersion, manager + "/cmd/package-server", ""},
	{managerVersion, manager + "/util/cpb", ""},
	{registryVersion, registry + "/cmd/opm", registryTags},
}

func main() { os.Exit(run()) }

func run() int {
	for _, p := range programs {
		if p.tags != "" {
			// The go command takes tags from here, too.
			if err := os.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -tags="+p.tags); err != nil {
				fmt.Fprintf(os.Stderr, "olm: %v\n", err)
				return 1
			}
		}
		name := path.Base(p.pkg)
		code := gobuild.Cached{
			Name: name, Version: p.version, Source: filepath.Join("test", "olm"), Package: p.pkg,
			Cache:   filepath.Join(filepath.Dir(localkube.CacheDir(os.Getenv)), "olm"),
			Started: "building " + name + " " + p.version + "; this happens once and takes some minutes",
		}.Main()
		if code != 0 {
			return code
		}
	}
	return 0
}
