package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubjoin"
)

var (
	hubAccesses   = schema.GroupVersionKind{Group: "identity.tabard.dev", Version: "v1alpha1", Kind: "HubAccess"}
	manifestWorks = schema.GroupVersionKind{Group: "work.open-cluster-management.io", Version: "v1", Kind: "ManifestWork"}
)

// leaseName is the name of the lease of a cluster's agent.
const leaseName = "managed-cluster-lease"

// page is how many objects one request asks for.
const page = 500

// readOf is how the read of a resource ended.
func readOf(err error, right string) hubjoin.Read {
	switch {
	case err == nil:
		return hubjoin.Read{Exists: true}
	case meta.IsNoMatchError(err):
		return hubjoin.Read{Unserved: true}
	case apierrors.IsNotFound(err):
		return hubjoin.Read{}
	case apierrors.IsForbidden(err):
		return hubjoin.Read{Trouble: err.Error(), Right: right}
	case errors.Is(err, context.DeadlineExceeded):
		return hubjoin.Read{Trouble: fmt.Sprintf("the cluster has not answered for %s", lookTime)}
	}
	return hubjoin.Read{Trouble: command.Shown(err).Error()}
}

// object reads one object of a kind without a Go type.
func object(ctx context.Context, reader client.Reader, kind schema.GroupVersionKind, key client.ObjectKey, right string) (*unstructured.Unstructured, hubjoin.Read) {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	read := readOf(reader.Get(ctx, key, out), right)
	return out, read
}

// hubSeen fills in what the hub's cluster shows.
func hubSeen(ctx context.Context, reader client.Reader, world World, namespace string, e *hubjoin.Evidence) {
	e.Manager = managerSeen(ctx, reader, world)
	e.Controller = controllerSeen(ctx, reader, namespace)
	e.Managed = clusterSeen(ctx, reader, e.Cluster)
	record, read := object(ctx, reader, hubAccesses, client.ObjectKey{Name: e.Cluster}, "get hubaccesses.identity.tabard.dev")
	e.Record = hubjoin.Record{Read: read, Conditions: conditionsOf(record.Object)}
	lease := &coordinationv1.Lease{}
	e.Lease.Read = readOf(reader.Get(ctx, client.ObjectKey{Namespace: e.Cluster, Name: leaseName}, lease), "get leases.coordination.k8s.io in the namespace "+e.Cluster)
	if lease.Spec.RenewTime != nil {
		e.Lease.Renewed = lease.Spec.RenewTime.Time
	}
	e.Works = worksSeen(ctx, reader, e.Cluster)
}

func managerSeen(ctx context.Context, reader client.Reader, world World) hubjoin.Manager {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(clusterManagers.GroupVersion().WithKind(clusterManagers.Kind + "List"))
	out := hubjoin.Manager{Read: readOf(reader.List(ctx, list), "list clustermanagers.operator.open-cluster-management.io")}
	if out.Exists = len(list.Items) > 0; out.Exists {
		out.Name = list.Items[0].GetName()
		out.Seen = world.Manager(ctx, reader)
	}
	return out
}

// controllerSeen reads what Tabard's controller is told.
func controllerSeen(ctx context.Context, reader client.Reader, namespace string) hubjoin.Controller {
	key := client.ObjectKey{Namespace: namespace, Name: core.ControllerName}
	deployment := &appsv1.Deployment{}
	out := hubjoin.Controller{Read: readOf(reader.Get(ctx, key, deployment), "get deployments.apps in the namespace "+namespace), Name: key.String()}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, word := range container.Args {
			if value, is := strings.CutPrefix(word, "--hubaccess-managed-iam="); is {
				out.IAM = core.Switch(value)
			}
			if value, is := strings.CutPrefix(word, "--hubaccess-hub-cluster-arn="); is {
				out.HubARN = value
			}
		}
	}
	if !strings.HasPrefix(out.HubARN, "$(") {
		return out
	}
	config := &corev1.ConfigMap{} // the chart has the ARN from it, by a variable
	if read := readOf(reader.Get(ctx, key, config), "get configmaps in the namespace "+namespace); read.Trouble != "" {
		out.Read = read
	}
	out.HubARN = config.Data["hubARN"]
	return out
}

func clusterSeen(ctx context.Context, reader client.Reader, name string) hubjoin.ManagedCluster {
	cluster, read := object(ctx, reader, managedClusters, client.ObjectKey{Name: name}, "get managedclusters.cluster.open-cluster-management.io")
	out := hubjoin.ManagedCluster{
		Read: read, Annotations: cluster.GetAnnotations(), Deleting: cluster.GetDeletionTimestamp() != nil, Finalizers: cluster.GetFinalizers(),
		Conditions: conditionsOf(cluster.Object),
	}
	out.Accepted, _, _ = unstructured.NestedBool(cluster.Object, "spec", "hubAcceptsClient")
	out.LeaseSeconds, _, _ = unstructured.NestedInt64(cluster.Object, "spec", "leaseDurationSeconds")
	return out
}

// conditionsOf are those of an object's status. What is no list of conditions is none.
func conditionsOf(object map[string]any) []metav1.Condition {
	var out struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &out); err != nil {
		return nil
	}
	return out.Status.Conditions
}

// worksSeen counts the ManifestWorks of a namespace, page by page.
func worksSeen(ctx context.Context, reader client.Reader, namespace string) hubjoin.Works {
	var out hubjoin.Works
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(manifestWorks.GroupVersion().WithKind(manifestWorks.Kind + "List"))
	for next := true; next; next = out.Exists && list.GetContinue() != "" {
		err := reader.List(ctx, list, client.InNamespace(namespace), client.Limit(page), client.Continue(list.GetContinue()))
		out.Read = readOf(err, "list manifestworks.work.open-cluster-management.io in the namespace "+namespace)
		if err != nil {
			break
		}
		for i := range list.Items {
			countWork(&list.Items[i], &out)
		}
	}
	return out
}

func countWork(work *unstructured.Unstructured, into *hubjoin.Works) {
	into.Total++
	applied := meta.FindStatusCondition(conditionsOf(work.Object), "Applied")
	if applied != nil && applied.Status == metav1.ConditionTrue {
		into.Applied++
		return
	}
	if into.First == "" {
		into.First = work.GetName()
		if applied != nil {
			into.Message = applied.Message
		}
	}
}
