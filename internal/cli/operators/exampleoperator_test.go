package operators

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	reader "github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// exampleVersions are those of the example's bundle.
var exampleVersions = []string{"1.0.0", "1.1.0"}

// within is what a document of YAML in the example says at a path.
func within(t *testing.T, text []byte, path ...string) any {
	t.Helper()
	var out any
	must.Do(t, yaml.Unmarshal(text, &out))
	for _, key := range path {
		inner, ok := out.(map[string]any)
		if !ok {
			t.Fatalf("no %s in it", strings.Join(path, "."))
		}
		out = inner[key]
	}
	return out
}

// TestTheExamplesBundles: each version is clean, installs what the plain manifests do, and its
// catalogue says what it says.
func TestTheExamplesBundles(t *testing.T) {
	example := filepath.Join(testkit.Root(), "examples/token-operator")
	read := func(path ...string) []byte {
		return must.Get(os.ReadFile(filepath.Join(append([]string{example}, path...)...)))(t)
	}
	inCatalogue := must.Get(reader.Reader{}.Read(t.Context(), filepath.Join(example, "catalog.json")))(t)
	for _, version := range exampleVersions {
		folder := filepath.Join("bundle", version)
		says(t, lint(t, filepath.Join(example, folder)).exits(t, 0).out, "Nothing is wrong.")
		csv := read(folder, "manifests/token-operator.clusterserviceversion.yaml")
		strategy := within(t, csv, "spec", "install", "spec").(map[string]any)

		deployed := strategy["deployments"].([]any)[0].(map[string]any)["spec"]
		want := within(t, bytes.ReplaceAll(read("manifests/deployment.yaml"), []byte(":devel"), []byte(":"+version)), "spec")
		if version == "1.1.0" { // It asks for one right more, which is for show.
			pods := want.(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			pods["containers"].([]any)[0].(map[string]any)["args"] = []any{"-ask=s3:ListAllMyBuckets"}
		}
		if diff := cmp.Diff(want, deployed); diff != "" {
			t.Errorf("%s: the Deployment (-manifests +bundle):\n%s", version, diff)
		}
		for _, document := range strings.Split(string(read("manifests/rbac.yaml")), "\n---\n") {
			field := map[any]string{"Role": "permissions", "ClusterRole": "clusterPermissions"}[within(t, []byte(document), "kind")]
			if field == "" {
				continue
			}
			if diff := cmp.Diff(within(t, []byte(document), "rules"), strategy[field].([]any)[0].(map[string]any)["rules"]); diff != "" {
				t.Errorf("%s: %s (-manifests +bundle):\n%s", version, field, diff)
			}
		}
		if diff := cmp.Diff(within(t, read("manifests/crd.yaml")), within(t, read(folder, "manifests/whoamis.crd.yaml"))); diff != "" {
			t.Errorf("%s: the kind (-manifests +bundle):\n%s", version, diff)
		}
		inFile, ok := inCatalogue.Packages[0].Bundle("token-operator.v" + version)
		declared := within(t, csv, "metadata", "annotations").(map[string]any)[catalogue.CredentialsRequests]
		if !ok || inFile.Metadata.Annotations[catalogue.CredentialsRequests] != declared {
			t.Errorf("the catalogue's %s declares %+v, and the bundle %v", version, inFile.Metadata, declared)
		}
	}
}

// TestTheExampleDeclaresWhatItCreates: the page shows the request of the first version, whose
// annotation is that of its file.
func TestTheExampleDeclaresWhatItCreates(t *testing.T) {
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/operator-bundle.md")))(t))
	for _, version := range exampleVersions {
		folder := filepath.Join(testkit.Root(), "examples/token-operator/bundle", version)
		request := must.Get(os.ReadFile(filepath.Join(folder, "credentials-requests/token-operator.yaml")))(t)
		csv := must.Get(os.ReadFile(filepath.Join(folder, "manifests/token-operator.clusterserviceversion.yaml")))(t)
		var declared []any
		must.Do(t, json.Unmarshal([]byte(within(t, csv, "metadata", "annotations").(map[string]any)[catalogue.CredentialsRequests].(string)), &declared))
		if diff := cmp.Diff([]any{within(t, request)}, declared); diff != "" {
			t.Errorf("%s (-file +annotation):\n%s", version, diff)
		}
		if shown := testkit.Blocks(page, "yaml"); version == "1.0.0" && cmp.Diff(within(t, request), within(t, []byte(shown[0]))) != "" {
			t.Errorf("the page shows\n%s", shown[0])
		}
	}
}
