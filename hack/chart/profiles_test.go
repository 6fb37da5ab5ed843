package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

// profiles are the values files of the chart's folder of that name, by name.
func profiles() (map[string]values, error) {
	folder := filepath.Join(root, chartFolder, "profiles")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := map[string]values{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		var with values
		if err := yaml.UnmarshalStrict(text, &with); err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(entry.Name(), ".yaml")] = with
	}
	return out, nil
}

// TestProfilesTurnOnWhatTheirPlatformLacks renders each with the schema, and looks at what
// is deployed and which kinds of others are used. Lint is that of helm lint --strict.
func TestProfilesTurnOnWhatTheirPlatformLacks(t *testing.T) {
	all, err := profiles()
	if err != nil {
		t.Fatal(err)
	}
	// The Deployment of injection is tabard-operator.
	usual := []string{"certificate", "issuer", "operator", "webhook"}
	want := map[string][]string{
		"kubeadm": usual, "k3s": usual, "kops": usual, "talos": usual,
		"eks":                  {"operator", "selectorreport"},
		"openshift":            {"issuer", "operator"},
		"hosted-control-plane": {"issuer", "operator"},
	}
	if got, names := slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, names) {
		t.Errorf("the profiles are %v, want %v", got, names)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	c, version := load(t), chartutil.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"}
	for name, with := range all {
		t.Run(name, func(t *testing.T) {
			for _, message := range lint.AllWithKubeVersion(filepath.Join(root, chartFolder), with, system, &version).Messages {
				if message.Severity > support.InfoSev {
					t.Error(message)
				}
			}
			rendered, err := render(c, with, "Helm")
			if err != nil {
				t.Fatal(err)
			}
			deployed, foreign := whatIs(t, rendered)
			if !slices.Equal(deployed, want[name]) {
				t.Errorf("the Deployments are %v, want %v", deployed, want[name])
			}
			if foreign != (name == "openshift") {
				t.Errorf("kinds of the Prometheus operator are used: %t; only OpenShift always has them", foreign)
			}
			if !strings.Contains(string(page), "profiles/"+name+".yaml`") {
				t.Errorf("docs/install.md does not list profiles/%s.yaml", name)
			}
		})
	}
}

// whatIs are the Deployments without their prefix, and whether kinds of the Prometheus
// operator are among the objects.
func whatIs(t *testing.T, rendered map[string]string) (deployments []string, monitoring bool) {
	t.Helper()
	for file, text := range rendered {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for each := range strings.SplitSeq(text, "\n---\n") {
			var object struct {
				APIVersion, Kind string
				Metadata         struct{ Name string }
			}
			if err := yaml.Unmarshal([]byte(each), &object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			monitoring = monitoring || strings.HasPrefix(object.APIVersion, "monitoring.coreos.com/")
			if object.Kind == "Deployment" {
				deployments = append(deployments, strings.TrimPrefix(object.Metadata.Name, "tabard-"))
			}
		}
	}
	slices.Sort(deployments)
	return deployments, monitoring
}
