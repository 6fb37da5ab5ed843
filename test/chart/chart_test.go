// Package chart installs the chart with the real helm into a real API server, and compares
// the ways to install it. Nothing runs pods: test/node/10-chart does.
package chart

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// everything turns on what can be on at once. The Prometheus operator's kinds are not there.
const everything = "--set credentials.enabled=true,hub.enabled=true,ocm.enabled=true,capacity.enabled=true,roleSelectors.enabled=true,roleSelectors.warnings=true," +
	"roleSelectors.report.enabled=true,metrics.service.enabled=true,metrics.dashboard.enabled=true"

// hubNamespace is of Open Cluster Management, whose hub has to be there first.
const hubNamespace = "open-cluster-management-hub"

var helm string

func TestMain(m *testing.M) { os.Exit(testkit.RunWithHelm(m, &helm)) }

// world is a cluster, and a shell with helm in it.
type world struct{ *testkit.Cluster }

func newWorld(t *testing.T) world {
	t.Helper()
	t.Parallel()
	w := world{testkit.StartCluster(t, testkit.ClusterOptions{ControllerManager: true})}
	w.MakeNamespaces(hubNamespace)
	return w
}

func (w world) shell(script string) string {
	w.Helper()
	home := w.TempDir()
	return w.Shell("export PATH=" + filepath.Dir(helm) + ":$PATH HELM_CACHE_HOME=" + home + " HELM_CONFIG_HOME=" + home + " HELM_DATA_HOME=" + home + "\n" + script)
}

var (
	// ours are names of what the chart makes, and others are kinds that Kubernetes makes of it.
	ours   = regexp.MustCompile(`tabard|cloudcredential\.openshift\.io$|services\.k8s\.aws$`)
	others = []string{"APIService", "ComponentStatus", "Endpoints", "EndpointSlice", "Event", "Pod", "ReplicaSet"}
)

// objects are all objects of Tabard's by kind, namespace and name, as they were asked for.
func (w world) objects() map[string]string { return w.each(asked) }

// each is what is said of all objects of Tabard's, by kind, namespace and name.
func (w world) each(say func(*unstructured.Unstructured) string) map[string]string {
	w.Helper()
	out := map[string]string{}
	lists := must.Get(discovery.NewDiscoveryClientForConfigOrDie(w.Config).ServerPreferredResources())(w)
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(others, resource.Kind) {
				continue
			}
			group, version, _ := strings.Cut(list.GroupVersion, "/")
			if version == "" {
				group, version = "", group
			}
			gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource.Name}
			found, err := w.Dynamic.Resource(gvr).List(w.Context(), metav1.ListOptions{})
			must.Do(w, err)
			for i := range found.Items {
				if object := &found.Items[i]; ours.MatchString(object.GetName()) {
					out[resource.Kind+" "+object.GetNamespace()+"/"+object.GetName()] = say(object)
				}
			}
		}
	}
	return out
}

// asked is an object without what the API server, helm and kubectl add.
func asked(object *unstructured.Unstructured) string {
	labels := object.GetLabels()
	for _, label := range []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart"} {
		delete(labels, label)
	}
	for _, field := range []string{"clusterIP", "clusterIPs"} { // the API server chooses one
		unstructured.RemoveNestedField(object.Object, "spec", field)
	}
	delete(object.Object, "status")
	delete(object.Object, "metadata")
	if len(labels) > 0 {
		object.Object["metadata"] = map[string]any{"labels": labels}
	}
	text, err := json.MarshalIndent(object.Object, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestAllWaysToInstallComeToTheSame(t *testing.T) {
	// A release's namespace is made by helm, and by the others by the chart.
	const render = "helm template tabard charts/tabard --skip-tests -n tabard-system --kube-version 1.35.4 --set namespaces.system=true,crds.keep=true " + everything
	ways := map[string]string{
		"helm, twice":   "for i in 1 2; do helm upgrade --install tabard charts/tabard -n tabard-system --create-namespace " + everything + "; done",
		"kubectl apply": render + " | kubectl apply -f -",
		"server-side":   render + " | kubectl apply --server-side --force-conflicts -f -",
		"kustomize":     "dir=$(mktemp -d) && " + render + " > $dir/all.yaml && printf 'resources: [all.yaml]\\n' > $dir/kustomization.yaml && kubectl apply -k $dir; rm -r $dir",
	}
	var want map[string]string
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		w := world{testkit.StartCluster(t, testkit.ClusterOptions{})}
		w.MakeNamespaces(hubNamespace)
		w.shell(ways[way])
		got := w.objects()
		for key := range got { // a release is a Secret; the namespace has a label less
			if strings.HasPrefix(key, "Secret tabard-system/sh.helm.release") || key == "Namespace /tabard-system" {
				delete(got, key)
			}
		}
		if want == nil {
			if want = got; len(want) < 60 {
				t.Fatalf("%s makes %d objects", way, len(want))
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s comes to something else (-want +got):\n%s", way, diff)
		}
	}
}
