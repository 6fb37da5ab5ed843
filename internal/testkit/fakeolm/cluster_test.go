package fakeolm_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

var cluster = testkit.SharedCluster(testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OLM}})

// packages are p with two versions and q with one.
func packages() []fakeolm.Package {
	return []fakeolm.Package{
		{Name: "p", Channel: "stable", CSVs: []fakeolm.CSV{version("p", "1.0.0"), version("p", "1.1.0")}},
		{Name: "q", Channel: "stable", CSVs: []fakeolm.CSV{version("q", "1.0.0")}},
	}
}

// version is one of a package, with a Deployment that has an environment of its own.
func version(name, number string) fakeolm.CSV {
	labels := map[string]string{"app": name}
	return fakeolm.CSV{
		Name: name + ".v" + number, Annotations: map[string]string{"says": number}, Spec: map[string]any{"version": number},
		Deployments: map[string]appsv1.DeploymentSpec{name + "-controller": {
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{
					{Name: "first", Image: "image:" + number, Env: []corev1.EnvVar{{Name: "ROLEARN", Value: "none"}, {Name: "OWN", Value: "kept"}}},
					{Name: "second", Image: "image:" + number},
				}},
			},
		}},
	}
}

// world is a namespace of a test in which a fake acts.
type world struct {
	*testkit.Cluster
	olm       *fakeolm.OLM
	namespace string
	looks     int
}

// begin starts a fake in a namespace with a catalogue and an OperatorGroup. The faults are there from
// the beginning.
func begin(t *testing.T, faults map[string]fakeolm.Fault) *world {
	t.Helper()
	w := &world{Cluster: cluster(t)}
	return w.begin(t, w.Dynamic, faults)
}

// begin is as the function, with a client of the fake's own.
func (w *world) begin(t *testing.T, client dynamic.Interface, faults map[string]fakeolm.Fault) *world {
	t.Helper()
	w.namespace = w.NewNamespace()
	w.olm = fakeolm.Start(t, client, w.Kube, fakeolm.Script{Packages: packages(), Namespaces: []string{w.namespace}, Faults: faults})
	w.create("v1alpha1", "CatalogSource", "catalogue", map[string]any{"sourceType": "grpc", "address": "catalogue:50051"})
	w.create("v1", "OperatorGroup", "group", map[string]any{"targetNamespaces": []any{w.namespace}})
	return w
}

func (w *world) create(version, kind, name string, spec map[string]any) {
	w.Helper()
	w.Make(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/" + version, "kind": kind, "metadata": map[string]any{"namespace": w.namespace, "name": name}, "spec": spec,
	}})
}

// subscribe makes a Manual Subscription of a package, named as the package, with more of its spec.
func (w *world) subscribe(name string, more map[string]any) {
	w.Helper()
	spec := map[string]any{"name": name, "channel": "stable", "source": "catalogue", "sourceNamespace": w.namespace, "installPlanApproval": "Manual"}
	for field, value := range more {
		spec[field] = value
	}
	w.create("v1alpha1", "Subscription", name, spec)
}

func (w *world) of(resource string) dynamic.ResourceInterface {
	version := "v1alpha1"
	if resource == "operatorgroups" {
		version = "v1"
	}
	return w.Dynamic.Resource(schema.GroupVersionResource{Group: "operators.coreos.com", Version: version, Resource: resource}).Namespace(w.namespace)
}

// field is one of an object as text; empty where either is not there.
func (w *world) field(resource, name, path string) string {
	w.Helper()
	got, err := w.of(resource).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	value, _, _ := unstructured.NestedFieldNoCopy(got.Object, strings.Split(path, ".")...)
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// await waits until a field of an object has a value.
func (w *world) await(resource, name, path, want string) {
	w.Helper()
	w.Await(func() error {
		if got := w.field(resource, name, path); got != want {
			return fmt.Errorf("%s of %s %s is %q, want %q", path, resource, name, got, want)
		}
		return nil
	})
}

// awaitCondition waits until an object has a condition: TYPE REASON MESSAGE, and none of those that
// are not wanted.
func (w *world) awaitCondition(resource, name, want string, unwanted ...string) {
	w.Helper()
	w.Await(func() error {
		all := w.conditions(resource, name)
		if !slices.Contains(all, want) {
			return fmt.Errorf("%s %s has %q, want %q", resource, name, all, want)
		}
		for _, each := range all {
			if kind, _, _ := strings.Cut(each, " "); slices.Contains(unwanted, kind) {
				return fmt.Errorf("%s %s has %q", resource, name, each)
			}
		}
		return nil
	})
}

// conditions are those of an object that are true, and InstallPlans' that are false.
func (w *world) conditions(resource, name string) (all []string) {
	w.Helper()
	got, err := w.of(resource).Get(w.Context(), name, metav1.GetOptions{})
	must.Do(w, err)
	conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
	for _, each := range conditions {
		c := each.(map[string]any)
		if c["status"] == "False" && resource == "subscriptions" {
			continue
		}
		kind, _ := c["type"].(string)
		if kind == "" {
			kind, _ = c["phase"].(string)
		}
		reason, _ := c["reason"].(string)
		message, _ := c["message"].(string)
		all = append(all, strings.TrimSpace(kind+" "+reason+" "+message))
	}
	return all
}

// plan waits until a Subscription refers to an InstallPlan of some versions, and returns its name.
func (w *world) plan(subscription string, want ...string) (name string) {
	w.Helper()
	w.Await(func() error {
		name = w.field("subscriptions", subscription, "status.installPlanRef.name")
		if got := w.field("installplans", name, "spec.clusterServiceVersionNames"); got != fmt.Sprint(want) {
			return fmt.Errorf("the plan %q of %s is of %s, want %s", name, subscription, got, want)
		}
		return nil
	})
	return name
}

func (w *world) approve(plan string) {
	w.Helper()
	_, err := w.of("installplans").Patch(w.Context(), plan, types.MergePatchType, []byte(`{"spec":{"approved":true}}`), metav1.PatchOptions{})
	must.Do(w, err)
}

// phases are those to which a ClusterServiceVersion came, each with its reason.
func (w *world) phases(csv string) (all []string) {
	w.Helper()
	for _, each := range w.conditions("clusterserviceversions", csv) {
		words := strings.Fields(each)
		all = append(all, words[0]+" "+words[1])
	}
	return all
}
