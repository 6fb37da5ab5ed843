package platform

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"

	core "github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const operators = "openshift-cloud-credential-operator"

// world is a cluster whose objects a test writes, and a controller's queue.
type world struct {
	*testkit.Cluster
	queue workqueue.TypedRateLimitingInterface[string]
}

func resource(group, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: name}
}

func (w *world) access(where schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return w.Dynamic.Resource(where)
	}
	return w.Dynamic.Resource(where).Namespace(namespace)
}

// put makes an object what it should be, its status too if there is one.
func (w *world) put(where schema.GroupVersionResource, kind, namespace, name string, fields map[string]any) {
	w.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": where.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": name},
	}}
	status, has := fields["status"]
	for key, value := range fields {
		if key != "status" {
			object.Object[key] = value
		}
	}
	options := metav1.ApplyOptions{FieldManager: "administrator", Force: true}
	must.Get(w.access(where, namespace).Apply(w.Context(), name, object, options))(w)
	if has {
		delete(object.Object, "spec")
		object.Object["status"] = status
		must.Get(w.access(where, namespace).ApplyStatus(w.Context(), name, object, options))(w)
	}
}

func (w *world) remove(where schema.GroupVersionResource, namespace, name string) {
	w.Helper()
	must.Do(w, w.access(where, namespace).Delete(w.Context(), name, metav1.DeleteOptions{}))
}

// woken waits until the controller was told, and until the facts are so.
func (w *world) woken(t *testing.T, r *Reader, what string, is func(core.Facts) bool) {
	t.Helper()
	testkit.Await(t, func() error {
		if w.queue.Len() == 0 {
			return fmt.Errorf("%s: the controller is not woken", what)
		}
		facts, err := r.Facts(t.Context())
		if err == nil && !is(facts) {
			err = fmt.Errorf("%s: the facts are %v", what, facts)
		}
		return err
	})
	item, _ := w.queue.Get()
	w.queue.Done(item)
	if item != "everything" {
		t.Errorf("%s: woken is %q", what, item)
	}
}

// listened is a Reader with a Source that has looked once and has woken nobody by that.
func (w *world) listened(t *testing.T, regularly time.Duration) *Reader {
	t.Helper()
	reader := newReader(t, w.Config, core.Override{}, nil)
	reader.regularly = regularly
	w.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	t.Cleanup(w.queue.ShutDown)
	who := func(context.Context) []string { return []string{"everything"} }
	must.Do(t, Source(reader, who).Start(t.Context(), w.queue))
	testkit.Await(t, func() error {
		if reader.versionNow() != 1 {
			return errors.New("it has not looked")
		}
		return nil
	})
	if w.queue.Len() > 0 {
		t.Error("the first look wakes the controller")
	}
	return reader
}

// TestAClusterThatChangesWakesItsControllers is the life of a cluster: the kinds of
// OpenShift come, its objects, a Cloud Credential Operator comes, is drained and goes.
func TestAClusterThatChangesWakesItsControllers(t *testing.T) {
	w := &world{Cluster: testkit.StartCluster(t, testkit.ClusterOptions{})}
	reader := w.listened(t, 100*time.Millisecond) // what is not served is not watched: it is looked for
	w.InstallForeign(t, testkit.OpenShiftOperators, testkit.OpenShiftConfig, testkit.OpenShiftCredentials)
	w.woken(t, reader, "config.openshift.io is served", func(f core.Facts) bool { return f.OpenShift && !f.Known() && f.ClusterOwnsCRD })

	reader = w.listened(t, time.Hour) // from here on by the events of the objects alone
	infrastructures, authentications := resource("config.openshift.io", "infrastructures"), resource("config.openshift.io", "authentications")
	w.put(authentications, "Authentication", "", "cluster", map[string]any{"spec": map[string]any{"serviceAccountIssuer": "https://oidc.example"}})
	w.put(infrastructures, "Infrastructure", "", "cluster", map[string]any{"spec": map[string]any{}, "status": map[string]any{
		"infrastructureName": "prod-x7k2p", "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "HighlyAvailable",
		"platformStatus": map[string]any{"type": "AWS", "aws": map[string]any{
			"region": "eu-central-1", "resourceTags": []any{map[string]any{"key": "team", "value": "a"}},
		}},
	}})
	w.woken(t, reader, "Infrastructure and Authentication", func(f core.Facts) bool {
		return f.Known() && f.Has(core.AWS) && !f.Has(core.GCP) && f.Infrastructure == "prod-x7k2p" && f.Region == "eu-central-1" &&
			f.ResourceTags["team"] == "a" && f.Issuer == "https://oidc.example" && f.Mode == core.Unknown && !f.Operator.Live
	})

	credentials := resource("operator.openshift.io", "cloudcredentials")
	w.put(credentials, "CloudCredential", "", "cluster", map[string]any{"spec": map[string]any{"credentialsMode": "Mint"}})
	w.woken(t, reader, "Mint", func(f core.Facts) bool { return f.Mode == core.Mint })
	w.MakeNamespaces(operators)
	configMaps := resource("", "configmaps")
	w.put(configMaps, "ConfigMap", operators, "cloud-credential-operator-config", map[string]any{"data": map[string]any{"disabled": "true"}})
	w.woken(t, reader, "the ConfigMap contradicts", func(f core.Facts) bool { return f.Mode == core.Conflict })
	w.put(credentials, "CloudCredential", "", "cluster", map[string]any{"spec": map[string]any{"credentialsMode": "Manual"}})
	w.woken(t, reader, "Manual", func(f core.Facts) bool { return f.Mode == core.Manual })

	w.operatorComesAndGoes(t, reader)
}

func (w *world) operatorComesAndGoes(t *testing.T, reader *Reader) {
	t.Helper()
	live := func(f core.Facts) bool { return f.Operator.Live }
	leases, deployments := resource("coordination.k8s.io", "leases"), resource("apps", "deployments")
	lease := func(at time.Time) {
		w.put(leases, "Lease", operators, "cloud-credential-operator-leader", map[string]any{"spec": map[string]any{
			"holderIdentity": "a pod", "leaseDurationSeconds": int64(360), "renewTime": at.UTC().Format("2006-01-02T15:04:05.000000Z"),
		}})
	}
	lease(time.Now())
	w.woken(t, reader, "a Lease", func(f core.Facts) bool { return f.Operator.Live && !f.Operator.Until.IsZero() })
	before := must.Get(reader.Look(t.Context()))(t).Operator.Until
	lease(time.Now())
	if after := must.Get(reader.Look(t.Context()))(t).Operator.Until; !after.After(before) || w.queue.Len() > 0 {
		t.Errorf("a renewed Lease holds until %v (before: until %v) and wakes %d", after, before, w.queue.Len())
	}
	lease(time.Now().Add(-time.Hour))
	w.woken(t, reader, "a Lease that is over", func(f core.Facts) bool { return !f.Operator.Live })

	replicas := func(number int) {
		w.put(deployments, "Deployment", operators, "cloud-credential-operator", map[string]any{"spec": map[string]any{
			"replicas": int64(number), "selector": map[string]any{"matchLabels": map[string]any{"app": "it"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "it"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "it", "image": "it"}}},
			},
		}})
	}
	replicas(1)
	w.woken(t, reader, "a Deployment", live)
	clusterOperators := resource("config.openshift.io", "clusteroperators")
	w.put(clusterOperators, "ClusterOperator", "", "cloud-credential", map[string]any{"spec": map[string]any{}})
	w.woken(t, reader, "a ClusterOperator", live)
	replicas(0)
	w.woken(t, reader, "a drained operator", live)
	w.remove(clusterOperators, "", "cloud-credential")
	w.woken(t, reader, "an operator that is gone", func(f core.Facts) bool { return !f.Operator.Live })
}
