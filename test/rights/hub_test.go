package rights

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	managedClusters = "tabard-hub-managedclusters"
	hubNamespace    = "open-cluster-management-hub"
	clusterVersion  = "cluster.open-cluster-management.io/v1"
	// cleanup is a finalizer of Open Cluster Management's.
	cleanup = "cluster.open-cluster-management.io/api-resource-cleanup"
)

var (
	theCluster  = reference(clusterVersion, "ManagedCluster", "", "cluster1")
	heldCluster = reference(clusterVersion, "ManagedCluster", "", "cluster2")
	theRecord   = reference("identity.tabard.dev/v1alpha1", "HubAccess", "", "cluster2")
)

// ofHub is the status of an object that the hub's account changes.
func ofHub(target func() client.Object, patch string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, target(), client.RawPatch("application/merge-patch+json", []byte(patch)))
	}
}

// listing lists a kind in a namespace, or everywhere.
func listing(version, kind, namespace string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind+"List"))
		return c.List(ctx, list, client.InNamespace(namespace))
	}
}

// byHub are the attacks of somebody who has taken the controller hubaccess.
var byHub = map[string]attack{
	"its finalizer, its work":                  {merge(theCluster, `{"metadata":{"finalizers":["`+cleanup+`","`+hubaccess.Finalizer+`"]}}`), ""},
	"its finalizer before the others":          {merge(theCluster, `{"metadata":{"finalizers":["`+hubaccess.Finalizer+`","`+cleanup+`"]}}`), ""},
	"its finalizer removed, its work":          {merge(heldCluster, `{"metadata":{"finalizers":["`+cleanup+`"]}}`), ""},
	"its record, its work":                     {merge(theRecord, `{"metadata":{"finalizers":["`+hubaccess.Finalizer+`"]}}`), ""},
	"the pods of the hub's namespace":          {listing("v1", "Pod", hubNamespace), ""},
	"a label, by which placements choose":      {merge(theCluster, `{"metadata":{"labels":{"place":"attack"}}}`), managedClusters},
	"a label less":                             {merge(theCluster, `{"metadata":{"labels":{"place":null}}}`), managedClusters},
	"a label beside its finalizer":             {merge(theCluster, `{"metadata":{"labels":{"place":"attack"},"finalizers":["`+cleanup+`","`+hubaccess.Finalizer+`"]}}`), managedClusters},
	"a label as its finalizer goes":            {merge(heldCluster, `{"metadata":{"labels":{"place":"attack"},"finalizers":["`+cleanup+`"]}}`), managedClusters},
	"an annotation":                            {merge(theCluster, `{"metadata":{"annotations":{"agent.open-cluster-management.io/managed-cluster-arn":"arn:x"},"finalizers":["`+cleanup+`","`+hubaccess.Finalizer+`"]}}`), managedClusters},
	"an annotation less":                       {merge(theCluster, `{"metadata":{"annotations":{"note":null},"finalizers":["`+cleanup+`","`+hubaccess.Finalizer+`"]}}`), managedClusters},
	"the acceptance":                           {merge(theCluster, `{"spec":{"hubAcceptsClient":true},"metadata":{"finalizers":["`+cleanup+`","`+hubaccess.Finalizer+`"]}}`), managedClusters},
	"another field of the spec":                {merge(theCluster, `{"spec":{"leaseDurationSeconds":1}}`), managedClusters},
	"an owner, with which it is deleted":       {merge(theCluster, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}],"finalizers":["`+cleanup+`","`+hubaccess.Finalizer+`"]}}`), managedClusters},
	"another's finalizer":                      {merge(theCluster, `{"metadata":{"finalizers":["`+cleanup+`","example.com/stay"]}}`), managedClusters},
	"another's finalizer removed":              {merge(theCluster, `{"metadata":{"finalizers":null}}`), managedClusters},
	"another's finalizer removed with its own": {merge(heldCluster, `{"metadata":{"finalizers":null}}`), managedClusters},
	"another's in the place of its own":        {merge(heldCluster, `{"metadata":{"finalizers":["`+cleanup+`","example.com/stay"]}}`), managedClusters},
	"its finalizer by an apply with a label": {func(ctx context.Context, c client.Client) error {
		applied := &unstructured.Unstructured{Object: map[string]any{}}
		applied.SetGroupVersionKind(theCluster().GetObjectKind().GroupVersionKind())
		applied.SetName("cluster1")
		applied.SetLabels(map[string]string{"place": "attack"})
		applied.SetFinalizers([]string{hubaccess.Finalizer})
		return apply(ctx, c, applied)
	}, managedClusters},
	"the status of a cluster":   {ofHub(theCluster, `{"status":{"conditions":[]}}`), "rbac"},
	"a cluster made":            {create(func() client.Object { o := theCluster(); o.SetName("new"); return o }), "rbac"},
	"a cluster deleted":         {remove(theCluster), "rbac"},
	"a cluster by an update":    {func(ctx context.Context, c client.Client) error { return c.Update(ctx, theCluster()) }, "rbac"},
	"pods of another namespace": {listing("v1", "Pod", "tabard-system"), "rbac"},
	"a pod of the hub":          {create(func() client.Object { p := pod("default"); p.Namespace = hubNamespace; return p }), "rbac"},
	"the Secrets of the hub":    {listing("v1", "Secret", hubNamespace), "rbac"},
	"a work for a cluster": {create(func() client.Object {
		return reference("work.open-cluster-management.io/v1", "ManifestWork", "default", "new")()
	}), "rbac"},
	"the ClusterManager":                {merge(reference("operator.open-cluster-management.io/v1", "ClusterManager", "", "cluster-manager"), `{"spec":{}}`), "rbac"},
	"its own policy":                    {remove(func() client.Object { return policy(managedClusters) }), "rbac"},
	"the ConfigMap that tells its role": {merge(reference("v1", "ConfigMap", "tabard-system", "tabard-hub"), `{"data":{"roleARN":"arn:x"}}`), "rbac"},
	"the ConfigMap made": {create(func() client.Object {
		return &corev1.ConfigMap{ObjectMeta: tokenSecret("tabard-system", "tabard-hub", "x").ObjectMeta}
	}), "rbac"},
}

// prepareHub makes a cluster without the controller's finalizer, and one with it and its record.
func (w world) prepareHub() {
	w.Helper()
	w.Shell(`kubectl apply -f - <<'END'
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: cluster1, labels: {place: x}, annotations: {note: x}, finalizers: [` + cleanup + `]}
spec: {hubAcceptsClient: false}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: cluster2, labels: {place: x}, annotations: {note: x}, finalizers: [` + cleanup + `, ` + hubaccess.Finalizer + `]}
spec: {hubAcceptsClient: true}
---
apiVersion: identity.tabard.dev/v1alpha1
kind: HubAccess
metadata: {name: cluster2}
spec: {clusterUID: "1"}
END`)
}

// TestTheControllerOfTheHubIsHeld tries every attack, and what the account is there for.
func TestTheControllerOfTheHubIsHeld(t *testing.T) {
	w := install(t)
	testkit.AwaitRights(t, w.Config, "system:serviceaccount:tabard-system:tabard-hub", hubNamespace,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
	w.try(client.NewDryRunClient(w.as("tabard-system", "tabard-hub")), byHub)
}

// TestTheControllerOfTheHubHoldsAClusterUntilItsEnd: its finalizer is put on, keeps a deleted
// cluster, and is the last that goes. These requests are no dry runs.
func TestTheControllerOfTheHubHoldsAClusterUntilItsEnd(t *testing.T) {
	w := install(t)
	account := w.as("tabard-system", "tabard-hub")
	cluster := reference(clusterVersion, "ManagedCluster", "", "ends")
	must.Do(t, w.Create(t.Context(), cluster()))
	must.Do(t, merge(cluster, `{"metadata":{"finalizers":["`+hubaccess.Finalizer+`"]}}`)(t.Context(), account))
	must.Do(t, w.Delete(t.Context(), cluster()))
	kept := cluster()
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil || kept.GetDeletionTimestamp() == nil {
		t.Fatalf("the deleted cluster is not kept: %v", err)
	}
	if err := refused(merge(cluster, `{"metadata":{"labels":{"place":"attack"},"finalizers":null}}`)(t.Context(), account), managedClusters); err != nil {
		t.Errorf("a label as the last finalizer goes: %v", err)
	}
	must.Do(t, merge(cluster, `{"metadata":{"finalizers":null}}`)(t.Context(), account))
	w.Await(func() error {
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(kept), cluster()); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("the cluster is still there"), fmt.Errorf("it was answered %w", err))
		}
		return nil
	})
}
