package console

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// trap counts the connections to an address of this machine.
func trap(t *testing.T) (address string, connections *atomic.Int64) {
	t.Helper()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	connections = &atomic.Int64{}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = connection.Close()
		}
	}()
	return listener.Addr().String(), connections
}

// TestAnAddressThatReachesInsideIsNotAsked: who may write a catalogue's object in the cluster does not
// choose what a person's machine, or the API server with the person's rights, asks. The console shows
// the other catalogues, and says which addresses it did not ask.
func TestAnAddressThatReachesInsideIsNotAsked(t *testing.T) {
	address, connections := trap(t)
	c := testkit.StartCluster(t, testkit.ClusterOptions{
		CRDs: []string{testkit.CRDs}, Foreign: []testkit.ForeignKinds{testkit.OLM, testkit.OpenShiftConfig, testkit.OpenShiftCredentials},
		Schemes: []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme},
	})
	inTokenMode(c)
	withPackages(c)
	withClusterCatalogs(c)
	object(c, fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"inside","namespace":"olm"},"spec":{"sourceType":"grpc","address":%q}}`, address))
	_, port, _ := strings.Cut(address, ":")
	bases := []string{
		"http://" + address + "/catalogs/x", "https://" + address + "/catalogs/x", "https://localhost:" + port + "/catalogs/x",
		"https://169.254.169.254/catalogs/x", "file:///etc/passwd", "https://kubernetes.default.svc/api/v1/secrets",
		"https://kubernetes.default.svc/catalogs/../api/v1/secrets", "https://kubernetes.default.svc/catalogs/%2e%2e/%2e%2e/api", "https://a@catalogd.olm.svc/catalogs/x",
		"https://catalogd.olm.svc:" + port + "/catalogs/x",
	}
	for i, base := range bases {
		made := object(c, fmt.Sprintf(`{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterCatalog","metadata":{"name":"inside-%d"},"spec":{"availabilityMode":"Available"}}`, i))
		c.MergeStatus(made, fmt.Sprintf(`{"status":{"urls":{"base":%q},"conditions":[{"type":"Serving","status":"True","reason":"Available","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, base))
	}
	var got struct {
		Items    []struct{ Package string }
		Findings []struct{ Message string }
	}
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).open().get("operators", &got)
	if len(got.Items) != 3 {
		t.Errorf("the list has %v, want the three packages of the other catalogue", got.Items)
	}
	said := string(must.Get(json.Marshal(got.Findings))(t))
	if refused := strings.Count(said, "it was not asked"); refused != len(bases) {
		t.Errorf("of %d addresses %d were refused: %s", len(bases), refused, said)
	}
	if n := connections.Load(); n > 0 {
		t.Errorf("the address %s was asked %d times", address, n)
	}
}

// withClusterCatalogs serves the kind ClusterCatalog of OLM v1.
func withClusterCatalogs(c *testkit.Cluster) {
	yes := true
	c.Make(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "clustercatalogs.olm.operatorframework.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "olm.operatorframework.io", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "clustercatalogs", Singular: "clustercatalog", Kind: "ClusterCatalog", ListKind: "ClusterCatalogList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}},
			}},
		},
	})
	c.Await(func() error {
		all := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalogList"}}
		return c.List(c.Context(), all)
	})
}
