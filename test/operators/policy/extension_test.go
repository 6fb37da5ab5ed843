package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
)

const inList = " in the list of the ValidatingAdmissionPolicy tabard-operators-extensions"

// extension is a ClusterExtension of a catalogue's package, whose version may be empty.
func extension(name, pkg, version string) *unstructured.Unstructured {
	catalog := map[string]any{"packageName": pkg}
	if version != "" {
		catalog["version"] = version
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"namespace": "team", "source": map[string]any{"sourceType": "Catalog", "catalog": catalog}},
	}}
}

func testExtensions(c *testkit.Cluster) {
	old := extension("old", "unlisted-operator", "0.1.0")
	old.SetFinalizers([]string{"example.com/wait"})
	c.Make(old)
	c.MakeFiles("config/operators/extension-policy.yaml")
	holds(c, func() error {
		return c.Create(c.Context(), extension("first", "unlisted-operator", "1.0.0"), client.DryRunAll)
	})
	const ofTheExample, none = "expected one of 1.0.0, 1.1.0, which are" + inList, "expected a package that is" + inList
	for i, row := range []struct{ pkg, version, says string }{
		{"example-operator", "1.0.0", ""},
		{"example-operator", "1.1.0", ""},
		{"another-operator", "2.3.1", ""},
		{"example-operator", "2.3.1", "the version 2.3.1 of the package example-operator, " + ofTheExample},
		{"example-operator", ">=1.0.0", "the version >=1.0.0 of the package example-operator, " + ofTheExample},
		{"example-operator", "1.0", "the version 1.0 of the package example-operator, " + ofTheExample},
		{"example-operator", "1.0.0 ", "the version 1.0.0  of the package example-operator, " + ofTheExample},
		{"example-operator", "", "any version of the package example-operator, " + ofTheExample},
		{"unlisted-operator", "1.0.0", "the version 1.0.0 of the package unlisted-operator, " + none},
		{"", "1.0.0", "the version 1.0.0 of the package , " + none},
	} {
		name := fmt.Sprintf("extension-%d", i)
		err := c.Create(c.Context(), extension(name, row.pkg, row.version))
		refused(c, fmt.Sprintf("%q in %q", row.pkg, row.version), err, row.says)
	}
	bare := extension("bare", "", "")
	bare.Object["spec"].(map[string]any)["source"] = map[string]any{"sourceType": "Other"}
	refused(c, "of no catalogue", c.Create(c.Context(), bare), none)
	testChanges(c, old)
}

// testChanges: an upgrade goes by the list too; what was there before the policy may stay, and go.
func testChanges(c *testkit.Cluster, old *unstructured.Unstructured) {
	version := func(text string) string {
		return fmt.Sprintf(`{"spec":{"source":{"catalog":{"version":%q}}}}`, text)
	}
	listed := extension("listed", "example-operator", "1.0.0")
	c.Make(listed)
	refused(c, "an upgrade in the list", patch(c, listed, version("1.1.0")), "")
	refused(c, "an upgrade that is not", patch(c, listed, version("1.2.0")), "expected one of 1.0.0, 1.1.0, which are"+inList)
	refused(c, "a pin that is taken away", patch(c, listed, `{"spec":{"source":{"catalog":{"version":null}}}}`), "expected one of 1.0.0, 1.1.0, which are"+inList)
	refused(c, "a label of what was there before", patch(c, old, `{"metadata":{"labels":{"a":"b"}}}`), "")
	refused(c, "an upgrade of what was there before", patch(c, old, version("0.2.0")), "expected a package that is"+inList)
	refused(c, "deleting what was there before", c.Delete(c.Context(), old), "")
	refused(c, "its finalizer", patch(c, old, `{"metadata":{"finalizers":null}}`), "")
}
