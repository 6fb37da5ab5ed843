package hub

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// object is shorter.
type object = unstructured.Unstructured

// own is that cluster1 writes its ManagedCluster over.
func own(changes ...change) try { return update(ocm.ManagedCluster, "", "cluster1", changes...) }

func ownStatus(body string) try { return patchStatus(ocm.ManagedCluster, "", "cluster1", body) }

// changed is that Tabard's controller has seen other annotations than those that were accepted.
func changed(b *besieged) error {
	return hasAccess(b.Cluster, "cluster1", "False", core.ReasonAnnotationsChanged)
}

// onOwnAnnotations is what an agent may write of who it is in AWS.
func onOwnAnnotations() []attack {
	none := ""
	long := "arn:aws:eks:us-east-1:222222222222:cluster/" + strings.Repeat("a", 100<<10)
	return []attack{
		{"ARN and suffix of cluster2", own(claim(arnB, suffixOfB)), "", changed},
		{"its own ARN, the suffix of cluster2", own(claim(arnA, suffixOfB)), "", changed},
		{"the ARN of cluster2, its own suffix", own(claim(arnB, suffixA)), "", changed},
		{"the suffix of cluster2 without an ARN", own(annotate(map[string]*string{arnAnnotation: nil, suffixAnnotation: new(suffixOfB)})), "", changed},
		{"the ARN of cluster2 without a suffix", own(annotate(map[string]*string{arnAnnotation: new(arnB), suffixAnnotation: nil})), "", changed},
		{"neither ARN nor suffix", own(annotate(map[string]*string{arnAnnotation: nil, suffixAnnotation: nil})), "", changed},
		{"an empty suffix", own(claim(arnA, none)), "", changed},
		{"an empty ARN", own(claim(none, suffixA)), "", changed},
		{"both empty", own(claim(none, none)), "", changed},
		{"an ARN of 100 KiB", own(claim(long, suffixA)), "", changed},
		{"a suffix of 100 KiB", own(claim(arnA, strings.Repeat("a", 100<<10))), "", changed},
		{"the ARN of the hub", own(claim(hubARN, suffixA)), "", changed},
		{"an ARN of another partition", own(claim(strings.Replace(arnA, "arn:aws:", "arn:aws-cn:", 1), suffixA)), "", changed},
		{"a suffix that leads to another role", own(claim(arnA, "../ocm-hub-"+suffixOfB)), "", changed},
		{"an ARN with a policy in it", own(claim(arnA+`"},"Action":"*"`, suffixA)), "", changed},
		{"that it was accepted by itself", own(annotate(map[string]*string{"open-cluster-management.io/automatically-accepted-on": new("2026-01-01T00:00:00Z")})), "", nil},
		{"annotations of 1 MiB", own(annotate(map[string]*string{"example.com/long": new(strings.Repeat("a", 1<<20))})), "metadata.annotations: Too long", nil},
	}
}

// onOwnSpec is what else an agent may write of its ManagedCluster.
func onOwnSpec() []attack {
	config := func(url string) change {
		return set([]any{map[string]any{"url": url, "caBundle": "YQ=="}}, "spec", "managedClusterClientConfigs")
	}
	taint := map[string]any{"key": "example.com/mine", "effect": "NoSelect"}
	return []attack{
		{"accepted again", own(set(true, "spec", "hubAcceptsClient")), "", nil},
		{"a lease of no time", own(set(int64(0), "spec", "leaseDurationSeconds")), "", nil},
		{"a lease of less than no time", own(set(int64(-1), "spec", "leaseDurationSeconds")), "", nil},
		{"a lease for ever", own(set(int64(1<<31-1), "spec", "leaseDurationSeconds")), "", nil},
		{"taints", own(set([]any{taint}, "spec", "taints")), "", nil},
		{"no taints", own(set([]any{}, "spec", "taints")), "", nil},
		{"the API server of cluster2 as its own", own(config("https://cluster2.example.com")), "", nil},
		{"an API server without TLS", own(config("http://cluster2.example.com")), "is invalid in client configs", nil},
		{"no API server", own(set([]any{}, "spec", "managedClusterClientConfigs")), "", nil},
		{"no finalizers", own(func(o *object) { o.SetFinalizers(nil) }), "", nil},
		{"cluster2 as its owner", ownedByCluster2(own), "", nil},
		{"the label with the name of cluster2", own(label("open-cluster-management.io/cluster-name", "cluster2")), "", nil},
		{"a label of the hub's features", own(label("feature.open-cluster-management.io/addon-addon", "available")), "", nil},
		{"a set of clusters that is another's", own(label(ocm.ClusterSetLabel, "others")), "cannot add/remove a ManagedCluster to/from ManagedClusterSet", nil},
		{"the UID of another", own(func(o *object) { o.SetUID("00000000-0000-0000-0000-000000000000") }), "Precondition failed: UID", nil},
		{"the name of cluster2", rename(ocm.ManagedCluster, "cluster1", "cluster2"), "does not match the name", nil},
		{"a patch of itself", patch(ocm.ManagedCluster, "", "cluster1", `{"metadata":{"annotations":{"a":"b"}}}`), forbidden, nil},
		{"its own end", remove(ocm.ManagedCluster, "", "cluster1"), forbidden, nil},
	}
}

func label(key, value string) change {
	return func(o *object) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = value
		o.SetLabels(labels)
	}
}

// ownedByCluster2 is that an object of cluster1 has cluster2 as its owner, with its UID, which an agent
// cannot know.
func ownedByCluster2(write func(...change) try) try {
	return func(ctx context.Context, h *hand) error {
		second := ocm.New(ocm.ManagedCluster, "", "cluster2")
		if err := h.cluster.Get(ctx, client.ObjectKeyFromObject(second), second); err != nil {
			return err
		}
		return write(func(o *object) {
			o.SetOwnerReferences([]metav1.OwnerReference{{
				APIVersion: second.GetAPIVersion(), Kind: second.GetKind(), Name: second.GetName(), UID: second.GetUID(), BlockOwnerDeletion: new(true),
			}})
		})(ctx, h)
	}
}

// onOwnStatus is what an agent reports of its cluster.
func onOwnStatus() []attack {
	condition := func(kind, status string) string {
		return `{"type":"` + kind + `","status":"` + status + `","reason":"Forged","message":"forged","lastTransitionTime":"2026-01-01T00:00:00Z"}`
	}
	conditions := func(all ...string) string { return `{"status":{"conditions":[` + strings.Join(all, ",") + `]}}` }
	var many, claims []string
	for i := range 500 {
		many = append(many, condition(fmt.Sprint("Forged", i), "True"))
	}
	for i := range 10_000 {
		claims = append(claims, fmt.Sprintf(`{"name":"claim-%d","value":"value"}`, i))
	}
	return []attack{
		{"not accepted", ownStatus(conditions(condition("HubAcceptedManagedCluster", "False"))), "", nil},
		{"joined and available", ownStatus(conditions(condition("ManagedClusterJoined", "True"), condition("ManagedClusterConditionAvailable", "True"))), "", nil},
		{"no conditions", ownStatus(`{"status":{"conditions":[]}}`), "", nil},
		{"500 conditions", ownStatus(conditions(many...)), "", nil},
		{"the claims of cluster2", ownStatus(`{"status":{"clusterClaims":[{"name":"id.k8s.io","value":"cluster2"},{"name":"product.open-cluster-management.io","value":"EKS"}]}}`), "", nil},
		{"a claim twice", ownStatus(`{"status":{"clusterClaims":[{"name":"id.k8s.io","value":"cluster1"},{"name":"id.k8s.io","value":"cluster2"}]}}`), "", nil},
		{"10,000 claims", ownStatus(`{"status":{"clusterClaims":[` + strings.Join(claims, ",") + `]}}`), "", nil},
		{"a version of 100 KiB", ownStatus(`{"status":{"version":{"kubernetes":"` + strings.Repeat("v", 100<<10) + `"}}}`), "", nil},
		{"a capacity below nothing", ownStatus(`{"status":{"capacity":{"cpu":"-1"},"allocatable":{"cpu":"1E"}}}`), "", nil},
		{"annotations by way of the status", ownStatus(`{"metadata":{"annotations":{"` + suffixAnnotation + `":"` + suffixOfB + `"}}}`), "", hasOwnSuffix},
		{"acceptance by way of the status", ownStatus(`{"spec":{"hubAcceptsClient":false}}`), "", hasOwnSuffix},
		{"a status of 4 MiB", ownStatus(`{"status":{"version":{"kubernetes":"` + strings.Repeat("v", 4<<20) + `"}}}`), "too large", nil},
	}
}

// hasOwnSuffix is that cluster1 is accepted and says of itself what it did.
func hasOwnSuffix(b *besieged) error {
	cluster := ocm.New(ocm.ManagedCluster, "", "cluster1")
	if err := b.Get(b.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		return err
	}
	accepted, _, _ := unstructured.NestedBool(cluster.Object, "spec", "hubAcceptsClient")
	if got := cluster.GetAnnotations()[suffixAnnotation]; got != suffixA || !accepted {
		return fmt.Errorf("cluster1 has the suffix %q, and accepted is %t", got, accepted)
	}
	return nil
}

// atTheEnd is how a cluster can try to stay, or to come back as another.
func atTheEnd() []attack {
	return []attack{
		{"a finalizer of its own", own(func(o *object) { o.SetFinalizers(append(o.GetFinalizers(), "example.com/never")) }), "", nil},
		{"it is not accepted", own(set(false, "spec", "hubAcceptsClient")), "", func(b *besieged) error {
			return hasAccess(b.Cluster, "cluster1", "False", core.ReasonWaitingForWorks)
		}},
		{"it is accepted as cluster2", own(claim(arnB, suffixOfB), set(true, "spec", "hubAcceptsClient")), "cannot update", nil},
	}
}
