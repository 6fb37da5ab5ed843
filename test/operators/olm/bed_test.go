package olm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

// cluster is a lab with a node on which the Operator Lifecycle Manager and Tabard run.
type cluster struct {
	*bed.Bed
	*testing.T
}

// programs are those of make olm that run as pods.
var programs = []string{"olm", "catalog", "package-server", "opm"}

// open starts the cluster, with a catalogue of the operator.
func open(t *testing.T) (*cluster, unpacker) {
	t.Helper()
	c := &cluster{Bed: bed.Open(t), T: t}
	began := time.Now()
	for _, program := range programs {
		path := filepath.Join(c.Root, "bin", "operator-lifecycle-manager", program)
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%v: run make olm", err)
		}
		c.LoadProgram(path)
	}
	c.loadOperator()
	images := c.unpacker()
	for _, kinds := range []testkit.ForeignKinds{testkit.OLM, testkit.OpenShiftSettings, testkit.OpenShiftConfig, testkit.OpenShiftCredentials} {
		for _, file := range kinds.Files(t) {
			c.Kubectl("apply", "--server-side", "-f", file)
		}
	}
	manifest := string(must.Get(os.ReadFile("manifests/olm.yaml"))(t))
	c.apply(strings.NewReplacer("OPM_IMAGE", images.opm, "UTIL_IMAGE", images.util).Replace(manifest))
	c.serve("vendor", c.catalogue([]string{"1.0.0", "1.1.0"}, nil))
	for _, name := range []string{"olm-operator", "catalog-operator", "packageserver"} {
		c.Kubectl("rollout", "status", "-n", "olm", "deployment/"+name, "--timeout=180s")
	}
	c.Since(began, "installing the Operator Lifecycle Manager")
	return c, images
}

// loadOperator puts the example's operator on the node, under the names that its versions have.
func (c *cluster) loadOperator() {
	c.Helper()
	program := filepath.Join(c.TempDir(), "token-operator")
	build := exec.CommandContext(c.Context(), "go", "build", "-o", program, "./examples/token-operator")
	build.Dir = c.Root
	if said, err := build.CombinedOutput(); err != nil {
		c.Fatalf("%v\n%s", err, said)
	}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		c.LoadProgramAs(program, "registry.example.com/token-operator:"+version)
	}
}

// serve serves a file as the catalogue of a name, and waits until OLM reads it.
func (c *cluster) serve(name string, file []byte) {
	c.Helper()
	path := filepath.Join(c.TempDir(), "catalog.json")
	must.Do(c.T, os.WriteFile(path, file, 0o600))
	c.Kubectl("create", "configmap", name, "-n", "olm", "--from-file="+path)
	manifest := string(must.Get(os.ReadFile("manifests/catalogue.yaml"))(c.T))
	c.apply(strings.ReplaceAll(manifest, "NAME", name))
	address := c.Kubectl("get", "service", name, "-n", "olm", "-o", "jsonpath={.spec.clusterIP}")
	c.apply(fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":%q,"namespace":"olm"},`+
		`"spec":{"sourceType":"grpc","address":"%s:50051","displayName":"Vendor","publisher":"Example"}}`, name, address))
	c.Kubectl("rollout", "status", "-n", "olm", "deployment/"+name, "--timeout=180s")
	c.awaits("READY", "{.status.connectionState.lastObservedState}", "catalogsource", name, "-n", "olm")
}

// apply applies a manifest.
func (c *cluster) apply(manifest string) {
	c.Helper()
	path := filepath.Join(c.TempDir(), "manifest.yaml")
	must.Do(c.T, os.WriteFile(path, []byte(manifest), 0o600))
	c.Kubectl("apply", "-f", path)
}

// catalogue is a file-based catalogue of the example's bundles: with all of their manifests in it, or
// with the images that image names by version.
func (c *cluster) catalogue(versions []string, image func(version string) string) []byte {
	c.Helper()
	const name = "token-operator"
	var entries []any
	var bundles []map[string]any
	previous := ""
	for _, version := range versions {
		entry := map[string]any{"name": name + ".v" + version}
		if previous != "" {
			entry["replaces"] = previous
		}
		previous = name + ".v" + version
		entries = append(entries, entry)
		bundle := map[string]any{"schema": "olm.bundle", "package": name, "name": previous, "image": "", "properties": c.properties(name, version, image == nil)}
		if image != nil {
			bundle["image"] = image(version)
		}
		bundles = append(bundles, bundle)
	}
	var text []byte
	for _, document := range append([]map[string]any{
		{"schema": "olm.package", "name": name, "defaultChannel": "stable"},
		{"schema": "olm.channel", "package": name, "name": "stable", "entries": entries},
	}, bundles...) {
		text = append(text, must.Get(json.Marshal(document))(c.T)...)
		text = append(text, '\n')
	}
	return text
}

// properties are those of a bundle, as "opm render" writes them. Without the manifests there is the
// metadata of the ClusterServiceVersion.
func (c *cluster) properties(name, version string, manifests bool) []any {
	c.Helper()
	out := []any{
		map[string]any{"type": "olm.package", "value": map[string]any{"packageName": name, "version": version}},
		map[string]any{"type": "olm.gvk", "value": map[string]any{"group": "example.tabard.dev", "kind": "Whoami", "version": "v1"}},
	}
	folder := filepath.Join(c.Root, "examples", name, "bundle", version, "manifests")
	for _, file := range must.Get(filepath.Glob(filepath.Join(folder, "*.yaml")))(c.T) {
		text := must.Get(yaml.YAMLToJSON(must.Get(os.ReadFile(file))(c.T)))(c.T)
		if !manifests {
			if strings.Contains(file, "clusterserviceversion") {
				out = append(out, map[string]any{"type": "olm.csv.metadata", "value": c.metadata(text)})
			}
			continue
		}
		if strings.Contains(file, "clusterserviceversion") {
			text = c.inLab(text)
		}
		out = append(out, map[string]any{"type": "olm.bundle.object", "value": map[string]any{"data": base64.StdEncoding.EncodeToString(text)}})
	}
	return out
}

// metadata is what a catalogue keeps of a ClusterServiceVersion.
func (c *cluster) metadata(csv []byte) map[string]any {
	c.Helper()
	var object struct {
		Metadata struct{ Annotations map[string]string }
		Spec     map[string]any
	}
	must.Do(c.T, json.Unmarshal(csv, &object))
	out := map[string]any{"annotations": object.Metadata.Annotations, "crdDescriptions": object.Spec["customresourcedefinitions"]}
	for _, field := range []string{"displayName", "description", "installModes", "keywords", "maturity", "minKubeVersion", "provider"} {
		out[field] = object.Spec[field]
	}
	return out
}

// inLab gives the operator's container what any pod needs to find the lab's AWS: docs/lab.md tells of it.
func (c *cluster) inLab(csv []byte) []byte {
	c.Helper()
	var object map[string]any
	must.Do(c.T, json.Unmarshal(csv, &object))
	at := object
	for _, key := range []string{"spec", "install", "spec"} {
		at = at[key].(map[string]any)
	}
	pod := at["deployments"].([]any)[0].(map[string]any)["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	pod["volumes"] = append(pod["volumes"].([]any), map[string]any{"name": "lab-ca", "configMap": map[string]any{"name": "tabard-lab-aws-ca"}})
	container := pod["containers"].([]any)[0].(map[string]any)
	container["envFrom"] = []any{map[string]any{"configMapRef": map[string]any{"name": "tabard-lab-aws"}}}
	container["volumeMounts"] = append(container["volumeMounts"].([]any), map[string]any{"name": "lab-ca", "mountPath": "/etc/tabard-lab"})
	return must.Get(json.Marshal(object))(c.T)
}

// awaits waits until a field of an object is as wanted.
func (c *cluster) awaits(want, path string, object ...string) {
	c.Helper()
	c.Eventually(fmt.Sprintf("%s of %s is %q", path, strings.Join(object, " "), want), func(ctx context.Context) error {
		said, err := c.Lab.Kubectl(ctx, append([]string{"get", "-o", "jsonpath=" + path}, object...)...)
		if err == nil && said != want {
			err = errors.New("it is " + said)
		}
		return err
	})
}
