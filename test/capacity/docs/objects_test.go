package docs

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// machineSet is one of the Machine API that names a Secret, as most do.
func machineSet(namespace, called, instanceType, in string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
		"metadata": map[string]any{"namespace": namespace, "name": called},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{
			"kind": "AWSMachineProviderConfig", "instanceType": instanceType, "placement": map[string]any{"region": in},
			"credentialsSecret": map[string]any{"name": "aws-cloud-credentials"},
		}}}}},
	}}
}

func setField(t testing.TB, object *unstructured.Unstructured, value any, fields ...string) {
	t.Helper()
	must.Do(t, unstructured.SetNestedField(object.Object, value, fields...))
}

// machineDeployment names one in the namespace default.
func machineDeployment(called string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment", "metadata": map[string]any{"namespace": "default", "name": called},
	}}
}

// template is a MachineDeployment of a cluster that refers to a template.
func (b *bench) template(of, called, template string) *unstructured.Unstructured {
	made := machineDeployment(called)
	reference := map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachineTemplate", "name": template}
	labels := map[string]any{"group": called}
	made.Object["spec"] = map[string]any{
		"clusterName": of, "replicas": int64(0), "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"clusterName": of, "bootstrap": map[string]any{"dataSecretName": ""}, "infrastructureRef": reference},
		},
	}
	return made
}

// makeClusterAPI makes a cluster of Cluster API with one group, both called web.
func (b *bench) makeClusterAPI() {
	b.Helper()
	provided := func(kind string, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": kind,
			"metadata": map[string]any{"namespace": "default", "name": "web"}, "spec": spec,
		}}
	}
	b.Make(provided("AWSCluster", map[string]any{"region": region}))
	b.Make(provided("AWSMachineTemplate", map[string]any{"template": map[string]any{"spec": map[string]any{"instanceType": "m5.large"}}}))
	b.Make(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"namespace": "default", "name": "web"},
		"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSCluster", "name": "web"}},
	}})
	b.Make(b.template("web", "web", "web"))
}

// awaitAnnotations waits until an object has these annotations; others of the
// autoscaler count, too, if there is more than one.
func (b *bench) awaitAnnotations(object *unstructured.Unstructured, want map[string]string) {
	b.Helper()
	b.Await(func() error {
		if err := b.Get(b.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			if apierrors.IsNotFound(err) {
				b.Fatal(err)
			}
			return err
		}
		got := maps.Clone(object.GetAnnotations())
		delete(got, corev1.LastAppliedConfigAnnotation)
		if len(want) < 4 { // a part of them
			maps.DeleteFunc(got, func(key, _ string) bool { _, wanted := want[key]; return !wanted })
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("%s's annotations (-want +got):\n%s", object.GetName(), diff)
		}
		return nil
	})
}

// awaitEvent waits for a warning about an object that begins and ends so, or has
// that in it.
func (b *bench) awaitEvent(object *unstructured.Unstructured, begin, within string) {
	b.Helper()
	b.Await(func() error {
		var list corev1.EventList
		if err := b.List(b.Context(), &list, client.InNamespace(object.GetNamespace())); err != nil {
			return err
		}
		var seen []string
		for _, one := range list.Items {
			if one.InvolvedObject.UID != object.GetUID() {
				continue
			}
			if strings.HasPrefix(one.Message, begin) && strings.Contains(one.Message, within) {
				return nil
			}
			seen = append(seen, one.Message)
		}
		return fmt.Errorf("%s has the events %q, want %s…%s", object.GetName(), seen, begin, within)
	})
}
