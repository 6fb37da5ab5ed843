// Package bundle checks the bundle for the Operator Lifecycle Manager (OLM) with OLM's own
// library, as the catalogues of OpenShift do.
package bundle

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	root    = "../.."
	csvFile = "manifests/clusterserviceversion_tabard.yaml"
	crdFile = "manifests/customresourcedefinition_oidcissuers_identity.tabard.dev.yaml"
)

// validate are the errors and warnings of all validators. A folder that is no bundle is an error.
func validate(t *testing.T, folder string) (failures, warnings []string) {
	t.Helper()
	bundle, err := manifests.GetBundleFromDir(folder)
	if err != nil {
		return []string{err.Error()}, nil
	}
	// Each validator looks at what it knows: the bundle, its ClusterServiceVersion, its kinds.
	given := []any{bundle, bundle.CSV}
	for _, crd := range bundle.V1CRDs {
		given = append(given, crd)
	}
	for _, o := range bundle.Objects {
		given = append(given, o)
	}
	all := append(slices.Clone(validation.DefaultBundleValidators), validation.ObjectValidator,
		validation.OperatorHubV2Validator, validation.StandardCapabilitiesValidator, validation.StandardCategoriesValidator,
		validation.GoodPracticesValidator, validation.AlphaDeprecatedAPIsValidator)
	for _, result := range all.Validate(given...) {
		for _, e := range result.Errors {
			failures = append(failures, e.Error())
		}
		for _, w := range result.Warnings {
			warnings = append(warnings, w.Error())
		}
	}
	return failures, warnings
}

func TestOLMsValidatorsAcceptTheBundle(t *testing.T) {
	failures, warnings := validate(t, filepath.Join(root, "bundle"))
	for _, failure := range failures {
		t.Error(failure)
	}
	for _, warning := range warnings {
		// Tabard has no logo.
		if !strings.Contains(warning, "csv.Spec.Icon not specified") {
			t.Error(warning)
		}
	}
	// A field that OLM does not know would be dropped without a word.
	text, err := os.ReadFile(filepath.Join(root, "bundle", csvFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &v1alpha1.ClusterServiceVersion{}); err != nil {
		t.Error(err)
	}
}

// TestOLMsValidatorsRefuseABrokenBundle plants one fault for each case into a copy: old is
// replaced by new in the file, or the file is removed if old is empty.
func TestOLMsValidatorsRefuseABrokenBundle(t *testing.T) {
	tests := map[string]struct{ file, old, new, want string }{
		"a bundle without its ClusterServiceVersion":   {csvFile, "", "", "unable to find a csv"},
		"a kind of ours that is not among the files":   {crdFile, "", "", "not found in bundle"},
		"a version that is no semantic version":        {csvFile, "version: 0.0.0-devel", "version: devel", "unable to parse CSV"},
		"a bundle that supports no installation":       {csvFile, "supported: true", "supported: false", "none of InstallModeTypes are supported"},
		"a kind of ours with another name":             {csvFile, "kind: OIDCIssuer\n      name", "kind: Issuer\n      name", "not found in bundle"},
		"a capability that catalogues do not know":     {csvFile, "capabilities: Basic Install", "capabilities: Some", "csv.Metadata.Annotations.Capabilities"},
		"a category that catalogues do not know":       {csvFile, "categories: Security", "categories: Identity", "csv.Metadata.Annotations"},
		"an example that is no JSON":                   {csvFile, "\"apiVersion\": \"identity", "apiVersion: \"identity", "invalid example"},
		"an example of a kind that is not ours":        {csvFile, "\"kind\": \"OIDCIssuer\"", "\"kind\": \"Other\"", "example must have a provided API"},
		"a least version of Kubernetes that is a word": {csvFile, "minKubeVersion: 1.31.0", "minKubeVersion: new", "MinKubeVersion has an invalid value"},
		"a provider without a name":                    {csvFile, "  provider:\n    name: Tabard\n", "  provider:\n", "Provider.Name not specified"},
		"an account that is in the bundle twice": {
			"manifests/role_tabard-issuer.yaml", "rbac.authorization.k8s.io/v1\nkind: Role\n", "v1\nkind: ServiceAccount\n", "invalid service account found in bundle",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "bundle"))); err != nil {
				t.Fatal(err)
			}
			plant(t, filepath.Join(folder, test.file), test.old, test.new)
			failures, _ := validate(t, folder)
			if !slices.ContainsFunc(failures, func(f string) bool { return strings.Contains(f, test.want) }) {
				t.Errorf("errors are %q, want one with %q", failures, test.want)
			}
		})
	}
}

func plant(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if old == "" {
		err = os.Remove(path)
	} else {
		if !bytes.Contains(text, []byte(old)) {
			t.Fatalf("%s has no %q", path, old)
		}
		err = os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhatOLMMakesOfTheBundleOpensNoWay searches the rights that OLM makes of the bundle for
// ways from one account to another. No ValidatingAdmissionPolicy comes with a bundle, so the
// components that need one are not in it.
func TestWhatOLMMakesOfTheBundleOpensNoWay(t *testing.T) {
	bundle, err := manifests.GetBundleFromDir(filepath.Join(root, "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	made := installed(t, bundle)
	if out, err := ways(t, made); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	secrets := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}
	spec := &bundle.CSV.Spec.InstallStrategy.StrategySpec
	spec.ClusterPermissions[0].Rules = append(spec.ClusterPermissions[0].Rules, secrets)
	if out, err := ways(t, installed(t, bundle)); err == nil {
		t.Errorf("the search does not see that an account reads all Secrets:\n%s", out)
	}
}

// installed are the objects that OLM makes of a bundle, and those that are applied before.
func installed(t *testing.T, bundle *manifests.Bundle) []byte {
	t.Helper()
	namespace := bundle.CSV.Annotations["operatorframework.io/suggested-namespace"]
	var all []any
	spec := bundle.CSV.Spec.InstallStrategy.StrategySpec
	for _, p := range spec.ClusterPermissions {
		named := metav1.ObjectMeta{Name: "olm-" + p.ServiceAccountName}
		all = append(all, corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: metav1.ObjectMeta{Name: p.ServiceAccountName, Namespace: namespace},
		}, rbacv1.ClusterRole{
			TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: named, Rules: p.Rules,
		}, rbacv1.ClusterRoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"}, ObjectMeta: named,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: named.Name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: p.ServiceAccountName, Namespace: namespace}},
		})
	}
	for _, d := range spec.DeploymentSpecs {
		all = append(all, map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": d.Name, "namespace": namespace, "labels": d.Label}, "spec": d.Spec,
		})
	}
	for _, o := range bundle.Objects {
		if o.GetKind() != "ClusterServiceVersion" {
			all = append(all, o.Object)
		}
	}
	out, err := os.ReadFile(filepath.Join(root, "bundle/prerequisites.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, "---\n"...), text...)
	}
	return out
}

// ways runs the search for them, which fails if there is one.
func ways(t *testing.T, text []byte) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "installed.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	search := exec.CommandContext(t.Context(), "go", "run", ".", file)
	search.Dir = filepath.Join(root, "hack/rights")
	out, err := search.CombinedOutput()
	return string(out), err
}
