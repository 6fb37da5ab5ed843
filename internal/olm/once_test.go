package olm

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestOnceReadsEachListOnce: the looks at many installs of one namespace cost one read for each, not one for
// each pair of them.
func TestOnceReadsEachListOnce(t *testing.T) {
	const many = 60
	objects := []runtime.Object{&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "ns"}}}}
	for i := range many {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": apiV1alpha1, "kind": "Subscription", "metadata": map[string]any{"namespace": "ns", "name": fmt.Sprintf("p%d", i)},
			"spec": map[string]any{"name": fmt.Sprintf("p%d", i), "source": "vendor", "sourceNamespace": "olm"},
		}})
	}
	fake := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		subscriptions: "SubscriptionList", groups: "OperatorGroupList", plans: "InstallPlanList", requests: "CredentialsRequestList",
	}, objects...)
	client := Client{Objects: fake}
	all := must.Get(client.List(t.Context(), ""))(t)
	for _, one := range []Client{client, client.Once()} {
		fake.ClearActions()
		for _, of := range all {
			if seen := must.Get(one.Observe(t.Context(), operator.Follow(of)))(t); len(seen.Subscriptions) != many || !seen.NamespaceExists {
				t.Fatalf("%s: it sees %d Subscriptions, want %d", of.Name, len(seen.Subscriptions), many)
			}
		}
		read := len(fake.Actions())
		if once := one.seen != nil; once && read > 10 || !once && read < 3*many {
			t.Errorf("remembering %t, %d installs took %d reads", once, many, read)
		}
	}
}
