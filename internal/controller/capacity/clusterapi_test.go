package capacity_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	fromClusterAPI = "machinedeployment-controller"
	provider       = "infrastructure.cluster.x-k8s.io"
	controlPlane   = "controlplane.cluster.x-k8s.io"
)

// clusterAPI makes objects of one version of Cluster API.
type clusterAPI struct{ version string }

// ref is a reference in the version's form.
func (v clusterAPI) ref(group, kind, name string) string {
	if v.version == "v1beta1" {
		return fmt.Sprintf("{apiVersion: %s/v1beta2, kind: %s, name: %s}", group, kind, name)
	}
	return fmt.Sprintf("{apiGroup: %s, kind: %s, name: %s}", group, kind, name)
}

// group is a MachineDeployment or a MachineSet.
func (v clusterAPI) group(t *testing.T, kind, name, annotations string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, `
apiVersion: cluster.x-k8s.io/%s
kind: %s
metadata: {name: %s, annotations: {%s}}
spec:
  clusterName: %s
  replicas: 0
  selector: {matchLabels: {set: a}}
  template:
    metadata: {labels: {set: a}}
    spec:
      clusterName: %s
      bootstrap: {dataSecretName: none}
      infrastructureRef: %s
`, v.version, kind, name, annotations, name, name, v.ref(provider, "AWSMachineTemplate", name))
}

func (v clusterAPI) cluster(t *testing.T, name, infrastructure, controlPlane string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, `
apiVersion: cluster.x-k8s.io/%s
kind: Cluster
metadata: {name: %s}
spec: {infrastructureRef: %s, controlPlaneRef: %s}
`, v.version, name, infrastructure, controlPlane)
}

func template(t *testing.T, name, instanceType string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: %s}
spec: {template: {spec: {instanceType: %s}}}
`, name, instanceType)
}

func regionOf(t *testing.T, group, kind, name, region string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, `
apiVersion: %s/v1beta2
kind: %s
metadata: {name: %s}
spec: {region: %s}
`, group, kind, name, region)
}

func largeForUpstream() map[string]string {
	out := large()
	out[cpuKey], out[memoryKey] = "2", "8192Mi"
	return out
}

// testOlder leaves its objects to the next test, of which version they are then.
func testOlder(t *testing.T, f *fixture) {
	f.api.ServeOnly(t, "v1beta1")
	clusterAPI{"v1beta1"}.testObjects(t, f)
}

func (v clusterAPI) testObjects(t *testing.T, f *fixture) {
	f.run(t, wokenByWatchesAlone)
	t.Run("get their annotations when what they refer to is there at last", together(func(t *testing.T) { f.testLate(t, v) }))
	t.Run("take the region of a managed control plane", together(func(t *testing.T) { f.testManaged(t, v) }))
	t.Run("take the region of their annotation", together(func(t *testing.T) { f.testRegionAnnotation(t, v) }))
	t.Run("follow their template", together(func(t *testing.T) { f.testTemplate(t, v) }))
	t.Run("are left alone while they or their cluster are paused", together(func(t *testing.T) { f.testPaused(t, v) }))
	t.Run("that a MachineDeployment owns are left alone", together(func(t *testing.T) { f.testOwned(t, v) }))
}

func (f *fixture) testLate(t *testing.T, v clusterAPI) {
	deployment := v.group(t, "MachineDeployment", "late", "")
	alone := v.group(t, "MachineSet", "late", "")
	f.create(t, deployment, alone)
	f.awaitEvent(t, deployment, event("Warning", fromClusterAPI, "FailedUpdate",
		"Failed to resolve AWSMachineTemplate: AWSMachineTemplate default/late not found"))
	f.create(t, template(t, "late", "m5.large"))
	for _, object := range []*unstructured.Unstructured{deployment, alone} {
		f.awaitEvent(t, object, event("Warning", fromClusterAPI, "FailedUpdate", "Failed to resolve AWS region: unable to determine "+
			"AWS region from AWSCluster or annotation capa.infrastructure.cluster.x-k8s.io/region"))
	}
	f.create(t, v.cluster(t, "late", v.ref(provider, "AWSCluster", "other"), "null"))
	f.create(t, regionOf(t, provider, "AWSCluster", "other", "us-west-2"))
	for _, object := range []*unstructured.Unstructured{deployment, alone} {
		f.awaitAnnotations(t, object, largeForUpstream())
	}
	f.awaitEvent(t, deployment, event("Normal", fromClusterAPI, "CapacityAnnotated",
		"Set autoscaling from zero annotations: m5.large in us-west-2 has 2 vCPU, 8192 MiB, 0 GPU, amd64"))
}

func (f *fixture) testManaged(t *testing.T, v clusterAPI) {
	f.create(t, template(t, "managed", "m5.large"), regionOf(t, controlPlane, "AWSManagedControlPlane", "eks", "eu-west-1"))
	f.create(t, v.cluster(t, "managed", v.ref(provider, "AWSManagedCluster", "eks"), v.ref(controlPlane, "AWSManagedControlPlane", "eks")))
	deployment := v.group(t, "MachineDeployment", "managed", "")
	f.create(t, deployment)
	f.awaitAnnotations(t, deployment, largeForUpstream())
	f.awaitEvent(t, deployment, event("Normal", fromClusterAPI, "CapacityAnnotated",
		"Set autoscaling from zero annotations: m5.large in eu-west-1 has 2 vCPU, 8192 MiB, 0 GPU, amd64"))
	f.patch(t, regionOf(t, controlPlane, "AWSManagedControlPlane", "eks", ""), "kubectl", `{"spec":{"region":"eu-west-2"}}`)
	f.awaitAsked(t, "m5.large", "eu-west-2")
}

func (f *fixture) testRegionAnnotation(t *testing.T, v clusterAPI) {
	const key = "capa.infrastructure.cluster.x-k8s.io/region"
	f.create(t, template(t, "annotated", "m5.large"))
	deployment := v.group(t, "MachineDeployment", "annotated", key+": us-east-2")
	f.create(t, deployment)
	want := largeForUpstream()
	want[key] = "us-east-2"
	f.awaitAnnotations(t, deployment, want)
}

func (f *fixture) testTemplate(t *testing.T, v clusterAPI) {
	f.types.know("first.large", 2, 8192, instancetype.AMD64)
	f.create(t, template(t, "changing", "first.large"), template(t, "changed", "m6g.4xlarge"), regionOf(t, provider, "AWSCluster", "changing", "us-west-2"))
	f.create(t, v.cluster(t, "changing", v.ref(provider, "AWSCluster", "changing"), "null"))
	deployment := v.group(t, "MachineDeployment", "changing", "")
	f.create(t, deployment)
	f.awaitAnnotations(t, deployment, largeForUpstream())
	f.patch(t, regionOf(t, provider, "AWSCluster", "changing", ""), "kubectl", `{"spec":{"region":"us-west-1"}}`)
	f.awaitAsked(t, "first.large", "us-west-1")
	f.create(t, regionOf(t, provider, "AWSCluster", "moved", "us-east-1"))
	f.patch(t, v.cluster(t, "changing", "null", "null"), "kubectl", `{"spec":{"infrastructureRef":{"name":"moved"}}}`)
	f.awaitAsked(t, "first.large", "us-east-1")
	// What CAPA says of the image is better known than what AWS says of the type.
	status := []byte(`{"status":{"nodeInfo":{"architecture":"arm64"}}}`)
	must.Do(t, f.cluster.Status().Patch(t.Context(), template(t, "changing", ""), client.RawPatch("application/merge-patch+json", status)))
	want := largeForUpstream()
	want[labels] = "kubernetes.io/arch=arm64"
	f.awaitAnnotations(t, deployment, want)
	f.patch(t, deployment, "kubectl", `{"spec":{"template":{"spec":{"infrastructureRef":{"name":"changed"}}}}}`)
	f.awaitAnnotations(t, deployment, map[string]string{
		vcpu: "16", memory: "65536", gpu: "0", cpuKey: "16", memoryKey: "65536Mi", labels: "kubernetes.io/arch=arm64",
	})
}

func (f *fixture) testPaused(t *testing.T, v clusterAPI) {
	f.create(t, template(t, "paused", "m5.large"), regionOf(t, provider, "AWSCluster", "paused", "us-west-2"))
	owner := v.cluster(t, "paused", v.ref(provider, "AWSCluster", "paused"), "null")
	must.Do(t, unstructured.SetNestedField(owner.Object, true, "spec", "paused"))
	deployment := v.group(t, "MachineDeployment", "paused", "cluster.x-k8s.io/paused: ''")
	f.create(t, owner, deployment)
	f.awaitAnother(t, v, "after-paused")
	f.checkEvents(t, deployment)
	f.patch(t, deployment, "kubectl", `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}`)
	f.awaitAnother(t, v, "after-unpaused")
	f.awaitAnnotations(t, deployment, map[string]string{})
	f.checkEvents(t, deployment)
	f.patch(t, owner, "kubectl", `{"spec":{"paused":false}}`)
	f.awaitAnnotations(t, deployment, largeForUpstream())
}

func (f *fixture) testOwned(t *testing.T, v clusterAPI) {
	f.create(t, template(t, "owned", "m5.large"))
	const region = "capa.infrastructure.cluster.x-k8s.io/region"
	owned := v.group(t, "MachineSet", "owned", region+": us-west-2")
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/" + v.version, Kind: "MachineDeployment", Name: "owner", UID: "1"}})
	f.create(t, owned)
	f.awaitAnother(t, v, "after-owned")
	f.awaitAnnotations(t, owned, map[string]string{region: "us-west-2"})
	want := largeForUpstream()
	want[region] = "us-west-2"
	f.patch(t, owned, "kubectl", `{"metadata":{"ownerReferences":null}}`)
	f.awaitAnnotations(t, owned, want)
}

// awaitAnother waits until an object that was created after all others is
// annotated: the controller has seen those.
func (f *fixture) awaitAnother(t *testing.T, v clusterAPI, name string) {
	t.Helper()
	const region = "capa.infrastructure.cluster.x-k8s.io/region"
	another := v.group(t, "MachineDeployment", name, region+": us-west-2")
	f.create(t, template(t, name, "m5.large"), another)
	want := largeForUpstream()
	want[region] = "us-west-2"
	f.awaitAnnotations(t, another, want)
}
