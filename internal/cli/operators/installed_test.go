package operators

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/core/listing"
)

func subscription(namespace, pkg, source, csv string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": map[string]any{"name": pkg, "namespace": namespace},
		"spec":   map[string]any{"name": pkg, "source": source, "sourceNamespace": "olm"},
		"status": map[string]any{"installedCSV": csv, "state": "AtLatestKnown"},
	}}
}

func TestInstalledListsWhatHasASubscription(t *testing.T) {
	var asked Origin
	cluster := serving(&asked, manifest("vendor", "p"), manifest("other", "p"), manifest("vendor", "q"))
	cluster.objects = append(cluster.objects, subscription("shop", "p", "vendor", "p.v1"), subscription("bank", "p", "vendor", ""), subscription("shop", "gone", "vendor", "gone.v1"))
	l := decoded[listDocument](t, cluster.run(t, "", "list", "--installed", "-o", "json").exits(t, 0))
	if len(l.Items) != 1 || l.Items[0].Source.Name != "vendor" {
		t.Fatalf("%+v", l.Items)
	}
	want := []listing.Install{{Namespace: "bank", State: "AtLatestKnown"}, {Namespace: "shop", CSV: "p.v1", State: "AtLatestKnown"}}
	if diff := cmp.Diff(want, l.Items[0].Installed); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
	says(t, cluster.run(t, "", "list", "--installed").exits(t, 0).out, "INSTALLED", "bank: -, shop: p.v1")
	says(t, cluster.run(t, "", "list", "--installed", "-n", "shop").exits(t, 0).out, "shop: p.v1")
	says(t, cluster.run(t, "", "list", "--installed", "-n", "elsewhere").exits(t, 0).out, "No operator")
	silent(t, cluster.run(t, "", "list").exits(t, 0).out, "INSTALLED")
	says(t, cluster.run(t, "", "list", "--installed", "--catalogue", "testdata/p.json").exits(t, 2).errOut, "--installed asks the cluster")
	cluster.forbidden = []string{"subscriptions"}
	says(t, cluster.run(t, "", "list", "--installed").exits(t, 1).errOut, "the right to list subscriptions.operators.coreos.com in all namespaces is missing")
}
