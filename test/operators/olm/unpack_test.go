package olm

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// unpacker are the images of the Job by which OLM unpacks a bundle.
type unpacker struct{ registry, opm, util string }

// unpacker pushes them to a registry of the node. OLM pulls the image of a bundle by its digest.
func (c *cluster) unpacker() unpacker {
	c.Helper()
	programs := filepath.Join(c.Root, "bin", "operator-lifecycle-manager")
	cp := filepath.Join(c.TempDir(), "cp")
	build := exec.CommandContext(c.Context(), "go", "build", "-o", cp, "./cp")
	if said, err := build.CombinedOutput(); err != nil {
		c.Fatalf("%v\n%s", err, said)
	}
	out := unpacker{registry: c.Registry()}
	out.opm = c.push(out.registry+"/opm", map[string]string{"bin/opm": filepath.Join(programs, "opm")})
	out.util = c.push(out.registry+"/util", map[string]string{"bin/cp": cp, "bin/cpb": filepath.Join(programs, "cpb")})
	return out
}

// push makes an image of files, and pushes it. It returns its name with the digest.
func (c *cluster) push(repository string, files map[string]string) string {
	c.Helper()
	var layer bytes.Buffer
	to := tar.NewWriter(&layer)
	folders := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if folder := filepath.Dir(path); !folders[folder] {
			folders[folder] = true
			must.Do(c.T, to.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}))
		}
		text := must.Get(os.ReadFile(files[path]))(c.T)
		must.Do(c.T, to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o755, Size: int64(len(text))}))
		must.Get(to.Write(text))(c.T)
	}
	must.Do(c.T, to.Close())
	made := must.Get(tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil }))(c.T)
	image := must.Get(mutate.AppendLayers(empty.Image, made))(c.T)
	image = must.Get(mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH, RootFS: must.Get(image.ConfigFile())(c.T).RootFS,
		Config: v1.Config{User: "65532:65532", Env: []string{"PATH=/bin"}},
	}))(c.T)
	reference := must.Get(name.ParseReference(repository+":1", name.Insecure))(c.T)
	must.Do(c.T, remote.Write(reference, image, remote.WithContext(c.Context())))
	return repository + "@" + must.Get(image.Digest())(c.T).String()
}

// bundle pushes the bundle of a version, as "docker build" makes it of the bundle's folder.
func (c *cluster) bundle(u unpacker, version string) string {
	c.Helper()
	folder := filepath.Join(c.Root, "examples", "token-operator", "bundle", version)
	files := map[string]string{}
	for _, below := range []string{"manifests", "metadata"} {
		for _, file := range must.Get(filepath.Glob(filepath.Join(folder, below, "*.yaml")))(c.T) {
			files[below+"/"+filepath.Base(file)] = file
		}
	}
	return c.push(u.registry+"/bundle-"+version, files)
}

// unpacksABundle: OLM unpacks the images of bundles by a Job, so that an InstallPlan has only the name of a
// ConfigMap, in which the commands find what is asked for.
func (c *cluster) unpacksABundle(u unpacker) {
	const other = "team-c"
	c.serve("bundled", c.catalogue([]string{"1.0.0", "1.1.0"}, func(version string) string { return c.bundle(u, version) }))
	c.Kubectl("create", "namespace", other)
	arn := c.handOff(other, "1.1.0")
	install := []string{"operators", "install", "token-operator", "-n", other, "--source", "olm/bundled", "--role-arn", arn}
	says(c.T, c.Bed.Run(install...), "token-operator.v1.1.0: Satisfied", "+ Subscription  team-c/token-operator")
	c.awaits("token-operator.v1.1.0", "{.status.currentCSV}", "subscription.operators.coreos.com", "token-operator", "-n", other)
	plan := c.planIn(other, "token-operator.v1.1.0")
	c.awaits("RequiresApproval", "{.status.phase}", "installplan", plan, "-n", other)
	says(c.T, c.Kubectl("get", "installplan", plan, "-n", other, "-o", "jsonpath={.status.plan[*].resource.manifest}"), `"catalogSourceName":"bundled"`)
	c.noted(other, plan, operator.VerdictSatisfied, operator.ReasonSatisfied)
	// Without OpenShift's Authentication the issuer is the one that the API server names.
	c.Kubectl("delete", "authentication.config.openshift.io", "cluster")
	says(c.T, c.Bed.Run("operators", "approve", "token-operator", "-n", other), "token-operator.v1.1.0: Satisfied", "approved InstallPlan "+other+"/")
	c.awaits("Complete", "{.status.phase}", "installplan", plan, "-n", other)
}
