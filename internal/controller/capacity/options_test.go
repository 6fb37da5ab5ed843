package capacity_test

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/controller/capacity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// testBeyond: all that an administrator may ask for at once, on objects that differ.
func testBeyond(t *testing.T, f *fixture) {
	f.run(t, wokenByWatchesAlone, func(o *capacity.Options) {
		o.Decision = core.Options{OnlyAutoscaled: true, MemoryReserve: 10, DeferToTemplate: true, Predecessors: []string{"predecessor"}}
	})
	t.Run("only what is autoscaled", together(f.testOnlyAutoscaled))
	t.Run("the template's status first", together(f.testDeferred))
	t.Run("the values of a predecessor", together(f.testPredecessor))
}

const (
	machineAPIMin = "machine.openshift.io/cluster-api-autoscaler-node-group-min-size"
	clusterAPIMax = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
)

// reserved are annotations of an m5.large, of which a tenth of the memory is
// reserved, beside others.
func reserved(others map[string]string) map[string]string {
	out := large()
	out[memory] = "7372"
	maps.Copy(out, others)
	return out
}

func (f *fixture) testOnlyAutoscaled(t *testing.T) {
	set := machines(t, "fixed", "m5.large", "")
	f.create(t, set)
	f.awaitAutoscaled(t, "after-fixed")
	f.awaitAnnotations(t, set, map[string]string{})
	f.checkEvents(t, set)

	f.patch(t, set, "kubectl", `{"metadata":{"annotations":{"`+machineAPIMin+`":"0"}}}`)
	f.awaitAnnotations(t, set, reserved(map[string]string{machineAPIMin: "0"}))
	f.awaitEvent(t, set, event("Normal", fromMachineAPI, "CapacityAnnotated",
		"Set autoscaling from zero annotations: m5.large in us-west-2 has 2 vCPU, 7372 MiB (8192 MiB less 10 %), 0 GPU, amd64"))

	// It is fixed again, and of another type: what was written stays.
	f.patch(t, set, "kubectl", `{"metadata":{"annotations":{"`+machineAPIMin+`":null}},
		"spec":{"template":{"spec":{"providerSpec":{"value":{"instanceType":"m6g.4xlarge"}}}}}}`)
	f.awaitAutoscaled(t, "after-fixed-again")
	f.awaitAnnotations(t, set, reserved(nil))
	f.checkEvents(t, set, "CapacityAnnotated")
}

// awaitAutoscaled waits until an object that was created after all others is
// annotated: the controller has seen those.
func (f *fixture) awaitAutoscaled(t *testing.T, name string) {
	t.Helper()
	set := machines(t, name, "m5.large", machineAPIMin+`: "0"`)
	f.create(t, set)
	f.awaitAnnotations(t, set, reserved(map[string]string{machineAPIMin: "0"}))
}

func (f *fixture) testDeferred(t *testing.T) {
	const region = "capa.infrastructure.cluster.x-k8s.io/region"
	others := map[string]string{region: "us-west-2", clusterAPIMax: "9"}
	full := reserved(others)
	full[cpuKey], full[memoryKey] = "2", "7372Mi"
	source := template(t, "deferred", "m5.large")
	group := clusterAPI{"v1beta2"}.group(t, "MachineDeployment", "deferred", region+`: us-west-2, `+clusterAPIMax+`: "9"`)
	f.create(t, source, group)
	f.awaitAnnotations(t, group, full)

	f.setStatus(t, source, `{"status":{"capacity":{"cpu":"2","memory":"8192Mi"},"nodeInfo":{"architecture":"arm64","operatingSystem":"linux"}}}`)
	want := reserved(others)
	want[labels] = "kubernetes.io/arch=arm64"
	f.awaitAnnotations(t, group, want)
}

func (f *fixture) testPredecessor(t *testing.T) {
	writes := func(set *unstructured.Unstructured, who string) {
		f.create(t, set)
		f.patch(t, set, who, `{"metadata":{"annotations":{"`+vcpu+`":"1","`+memory+`":"1024"}}}`)
		f.patch(t, set, "kubectl", `{"metadata":{"annotations":{"`+machineAPIMin+`":"0"}}}`)
	}
	ours, theirs := machines(t, "of-predecessor", "m5.large", ""), machines(t, "of-stranger", "m5.large", "")
	writes(ours, "predecessor")
	writes(theirs, "stranger")
	f.awaitAnnotations(t, ours, reserved(map[string]string{machineAPIMin: "0"}))
	f.awaitAnnotations(t, theirs, reserved(map[string]string{machineAPIMin: "0", vcpu: "1", memory: "1024"}))
	f.awaitEvent(t, theirs, event("Warning", fromMachineAPI, "AnnotationConflict", "Left as set by others, for m5.large: "+
		memory+` is "1024" by stranger, AWS says, less 10 %, "7372"; `+vcpu+` is "1" by stranger, AWS says "2"; remove the annotation to have it maintained`))
}
