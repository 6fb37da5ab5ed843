package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const root = "../.."

// files are those below a folder, by name.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		out[name] = string(text)
		return err
	}))
	return out
}

func TestTheBundleIsWhatTheChartSays(t *testing.T) {
	out := filepath.Join(t.TempDir(), "bundle")
	must.Do(t, run(root, options{out: out}))
	if diff := cmp.Diff(files(t, out), files(t, filepath.Join(root, "bundle"))); diff != "" {
		t.Errorf("bundle is not what the chart renders; run make generate (-chart +bundle):\n%s", diff)
	}
}

// csvOf is the ClusterServiceVersion in a folder.
func csvOf(t *testing.T, folder string) *unstructured.Unstructured {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(folder, "manifests/clusterserviceversion_tabard.yaml")))(t)
	return must.Get(parse(text))(t)[0]
}

func TestAReleaseSaysVersionAndImage(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	tests := map[string]struct {
		options                           options
		name, version, image, disconnects string
	}{
		"the bundle of the repository":     {options{}, "tabard.v0.0.0-devel", "0.0.0-devel", "ghcr.io/tabard-dev/tabard:devel", "false"},
		"a release has its tag":            {options{version: "v0.1.0"}, "tabard.v0.1.0", "0.1.0", "ghcr.io/tabard-dev/tabard:v0.1.0", "false"},
		"a release before another":         {options{version: "v0.2.0-rc.1"}, "tabard.v0.2.0-rc.1", "0.2.0-rc.1", "ghcr.io/tabard-dev/tabard:v0.2.0-rc.1", "false"},
		"a digest can be mirrored":         {options{version: "v0.1.0", image: "registry.example.com:5000/t/tabard" + digest}, "tabard.v0.1.0", "0.1.0", "registry.example.com:5000/t/tabard" + digest, "true"},
		"an image without another version": {options{image: "registry.example.com/own:1"}, "tabard.v0.0.0-devel", "0.0.0-devel", "registry.example.com/own:1", "false"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.options.out = t.TempDir()
			must.Do(t, run(root, test.options))
			csv := csvOf(t, test.options.out)
			version, _, _ := unstructured.NestedString(csv.Object, "spec", "version")
			said := csv.GetAnnotations()
			got := []string{csv.GetName(), version, said["containerImage"], said["features.operators.openshift.io/disconnected"]}
			if diff := cmp.Diff([]string{test.name, test.version, test.image, test.disconnects}, got); diff != "" {
				t.Errorf("name, version, image, disconnected (-want +got):\n%s", diff)
			}
			text := string(must.Get(yaml.Marshal(csv.Object))(t))
			// An image is named by the annotation, by each of the two Deployments and in relatedImages.
			if named := strings.Count(text, "mage: "+test.image+"\n"); named != 4 {
				t.Errorf("the image is named %d times, want 4:\n%s", named, text)
			}
		})
	}
}

func TestAWrongVersionWritesNothing(t *testing.T) {
	for _, version := range []string{"0.1.0", "v0.1", "v0.1.0+build", "devel"} {
		out := filepath.Join(t.TempDir(), "bundle")
		if err := run(root, options{version: version, out: out}); err == nil || !strings.Contains(err.Error(), "--version is") {
			t.Errorf("%s: %v, want an error that names --version", version, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a bundle was written", version)
		}
	}
}

func TestAFileOfAnEarlierBundleIsRemoved(t *testing.T) {
	out := t.TempDir()
	old := filepath.Join(out, "manifests", "clusterrole_old.yaml")
	must.Do(t, os.MkdirAll(filepath.Dir(old), 0o750))
	must.Do(t, os.WriteFile(old, []byte("kind: ClusterRole\n"), 0o600))
	must.Do(t, run(root, options{out: out}))
	if _, err := os.Stat(old); err == nil {
		t.Error("OLM would install what an earlier bundle had")
	}
}

// TestEachRightIsGrantedOnceAndWhereTheChartGrantsIt: OLM would bind the rules of a namespace
// in all of them, if they were permissions of the ClusterServiceVersion.
func TestEachRightIsGrantedOnceAndWhereTheChartGrantsIt(t *testing.T) {
	s := must.Get(read(root))(t)
	is := must.Get(sortOut(s.objects))(t)
	want, got := map[string]int{}, map[string]int{}
	roles := map[string][]rbacv1.PolicyRule{}
	for _, o := range s.objects {
		switch o.GetKind() {
		case "Role", "RoleBinding":
			want[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()]++
		case "ClusterRole":
			var role rbacv1.ClusterRole
			must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role))
			roles[role.Name] = role.Rules
		}
	}
	for _, o := range is.manifests {
		if o.GetNamespace() != "tabard-system" {
			t.Errorf("OLM would move the %s %s from %s to its namespace", o.GetKind(), o.GetName(), o.GetNamespace())
		}
	}
	for _, o := range slices.Concat(is.manifests, is.prerequisites) {
		if o.GetKind() != "Namespace" {
			got[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 8 {
		t.Errorf("Roles and RoleBindings (-chart +bundle):\n%s", diff)
	}
	permissions := map[string][]rbacv1.PolicyRule{}
	for _, p := range is.permissions {
		permissions[p.ServiceAccountName] = append(permissions[p.ServiceAccountName], p.Rules...)
	}
	if diff := cmp.Diff(map[string][]rbacv1.PolicyRule{"tabard-issuer": roles["tabard-issuer"], "tabard-operator": roles["tabard-injection"]}, permissions); diff != "" {
		t.Errorf("clusterPermissions (-chart +bundle):\n%s", diff)
	}
	csv := must.Get(clusterServiceVersion(s, is, "0.1.0"))(t)
	if _, has, _ := unstructured.NestedFieldNoCopy(csv.Object, "spec", "install", "spec", "permissions"); has {
		t.Error("the ClusterServiceVersion has permissions, which OLM makes ClusterRoles")
	}
}

func TestWhatOLMWouldInstallOtherwiseIsRefused(t *testing.T) {
	tests := map[string]struct{ plant, want string }{
		"a kind that OLM does not have": {
			"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w}}", "no rule says how OLM installs it",
		},
		"a ServiceAccount of another namespace": {
			"{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: tabard-certificate}}", "no rule says how OLM installs it",
		},
		"a Deployment of another namespace": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: tabard-certificate}}", "in one namespace",
		},
		"a Deployment with an account that has no ClusterRole": {
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: tabard-system}, spec: {template: {spec: {serviceAccountName: default}}}}", `runs as "default"`,
		},
		"a ClusterRole of no account": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [\"\"], resources: [pods], verbs: [get]}]}", "bound to no account",
		},
		"a ClusterRole from elsewhere": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: cluster-admin}}", "names the ClusterRole cluster-admin",
		},
		"rights of a group": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: tabard-issuer}, subjects: [{kind: Group, name: g}]}", "expected a ServiceAccount",
		},
		"a kind of ours without an example": {
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: xs.tabard.dev}, spec: {names: {kind: X}}}", "no block of YAML with one X",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := must.Get(read(root))(t)
			s.objects = append(s.objects, must.Get(parse([]byte(test.plant)))(t)...)
			if files, err := bundle(s, options{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v with %v, want an error with %q", slices.Sorted(maps.Keys(files)), err, test.want)
			}
		})
	}
}
