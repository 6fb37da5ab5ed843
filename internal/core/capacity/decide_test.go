package capacity_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// result is what a fresh object carries after a plan's steps.
func result(plan capacity.Plan) map[string]string {
	out := map[string]string{}
	for _, step := range plan.Steps {
		switch step := step.(type) {
		case capacity.Patch:
			for key, value := range step.Set {
				out[key] = value
			}
		case capacity.Apply:
			for key, value := range step.Annotations {
				out[key] = value
			}
		}
	}
	return out
}

func TestAnnotationsByKindAndProfile(t *testing.T) {
	profile := func(w capacity.World, p capacity.Profile) capacity.World {
		w.Options.Profile = p
		return w
	}
	legacy := func(vcpus, mib, gpus, arch string) map[string]string {
		return map[string]string{vcpu: vcpus, memoryMb: mib, gpu: gpus, labels: "kubernetes.io/arch=" + arch}
	}
	and := func(have map[string]string, pairs ...string) map[string]string {
		for i := 0; i < len(pairs); i += 2 {
			have[pairs[i]] = pairs[i+1]
		}
		return have
	}
	standAlone := with(clusterAPI(large), func(w *capacity.World) { w.Object.Kind = capacity.MachineSet })
	tests := map[string]struct {
		world capacity.World
		want  map[string]string
	}{
		"the Machine API has four keys":     {openshift(large), legacy("2", "8192", "0", "amd64")},
		"an ARM type":                       {openshift(arm), legacy("16", "65536", "0", "arm64")},
		"GPUs of the Machine API":           {openshift(gpus), legacy("32", "249856", "4", "amd64")},
		"no architecture said":              {openshift(unsaid), legacy("32", "131072", "0", "amd64")},
		"Cluster API has both":              {clusterAPI(large), and(legacy("2", "8192", "0", "amd64"), cpu, "2", memory, "8192Mi")},
		"a MachineSet of Cluster API":       {standAlone, and(legacy("2", "8192", "0", "amd64"), cpu, "2", memory, "8192Mi")},
		"GPUs of Cluster API":               {clusterAPI(gpus), and(legacy("32", "249856", "4", "amd64"), cpu, "32", memory, "249856Mi", gpuCount, "4", gpuType, "nvidia.com/gpu")},
		"GPUs of AMD":                       {clusterAPI(radeon), and(legacy("4", "16384", "1", "amd64"), cpu, "4", memory, "16384Mi", gpuCount, "1", gpuType, "amd.com/gpu")},
		"Neuron devices":                    {clusterAPI(neuron), and(legacy("4", "16384", "0", "amd64"), cpu, "4", memory, "16384Mi", gpuCount, "1", gpuType, "aws.amazon.com/neuron")},
		"Cluster API, legacy profile":       {profile(clusterAPI(gpus), capacity.Legacy), legacy("32", "249856", "4", "amd64")},
		"the Machine API, full profile":     {profile(openshift(gpus), capacity.Full), and(legacy("32", "249856", "4", "amd64"), cpu, "32", memory, "249856Mi", gpuCount, "4", gpuType, "nvidia.com/gpu")},
		"the Machine API, profile by kind":  {profile(openshift(gpus), capacity.ByKind), legacy("32", "249856", "4", "amd64")},
		"a DRA driver stands for the type":  {with(clusterAPI(gpus), annotated(draDriver, "gpu.nvidia.com")), and(legacy("32", "249856", "4", "amd64"), cpu, "32", memory, "249856Mi", gpuCount, "4")},
		"an unknown maker has no GPU keys":  {clusterAPI(instancetype.Type{Name: "x", VCPUs: 1, MemoryMiB: 1, Architecture: "amd64", GPUs: 2}), and(legacy("1", "1", "2", "amd64"), cpu, "1", memory, "1Mi")},
		"the image's architecture wins":     {with(clusterAPI(unsaid), func(w *capacity.World) { w.Template.Architecture = "arm64" }), and(legacy("32", "131072", "0", "arm64"), cpu, "32", memory, "131072Mi")},
		"the image's is no architecture":    {with(clusterAPI(large), func(w *capacity.World) { w.Template.Architecture = "s390x" }), and(legacy("2", "8192", "0", "amd64"), cpu, "2", memory, "8192Mi")},
		"other annotations are not touched": {with(openshift(large), annotated("example.com/own", "x", wrote("kubectl"))), legacy("2", "8192", "0", "amd64")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := capacity.Decide(test.world)
			if diff := cmp.Diff(test.want, result(plan)); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if plan.Outcome != capacity.Annotated || plan.Again != 0 {
				t.Errorf("outcome %s, again in %v; want annotated, by watches", plan.Outcome, plan.Again)
			}
		})
	}
}

func TestAFreshObjectGetsLabelsByPatchAndTheRestByApply(t *testing.T) {
	world := with(openshift(large), annotated(labels, "a=b", wrote("kubectl")))
	want := capacity.Plan{
		Outcome: capacity.Annotated,
		Steps: []capacity.Step{
			capacity.Patch{Version: "7", Set: map[string]string{labels: "a=b,kubernetes.io/arch=amd64"}},
			capacity.Apply{Annotations: map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"}},
		},
		Events: []capacity.Event{{
			Reason:  "CapacityAnnotated",
			Message: "Set autoscaling from zero annotations: m5.large in us-east-1 has 2 vCPU, 8192 MiB, 0 GPU, amd64",
		}},
	}
	if diff := cmp.Diff(want, capacity.Decide(world)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// settled is a MachineSet for which everything was written by us.
func settled() capacity.World {
	return with(openshift(large), all(
		annotated(vcpu, "2", ours()), annotated(memoryMb, "8192", ours()), annotated(gpu, "0", ours()),
		annotated(labels, "kubernetes.io/arch=amd64", wrote("capa-annotator")),
	))
}

func TestNothingIsWrittenWhenNothingChanges(t *testing.T) {
	want := capacity.Plan{Outcome: capacity.Unchanged}
	if diff := cmp.Diff(want, capacity.Decide(settled())); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func becomes(t instancetype.Type) func(*capacity.World) {
	return func(w *capacity.World) { w.Answer.Type = t }
}

func unknownTo(state instancetype.State) func(*capacity.World) {
	return func(w *capacity.World) { w.Answer = instancetype.Answer{State: state} }
}

func TestWhoMayChangeWhat(t *testing.T) {
	type steps = []capacity.Step
	wanted := map[string]string{vcpu: "16", memoryMb: "65536", gpu: "0"}
	without := func(key string) map[string]string {
		out := map[string]string{vcpu: "16", memoryMb: "65536", gpu: "0"}
		delete(out, key)
		return out
	}
	toARM := capacity.Patch{Version: "7", Set: map[string]string{labels: "kubernetes.io/arch=arm64"}}
	withoutArch := capacity.Patch{Version: "7", Remove: []string{labels}}
	alone := all(annotated(vcpu, "8", wrote("a")), annotated(memoryMb, "9", wrote("a")), annotated(gpu, "0", wrote("a")))
	predecessors := func(w *capacity.World) { w.Options.Predecessors = []string{"machine-controller-manager"} }
	const told = "AnnotationConflict: Left as set by others, for m5.large: machine.openshift.io/vCPU is \"8\" by kubectl-edit, AWS says \"16\"; remove the annotation to have it maintained"
	tests := map[string]struct {
		change  func(*capacity.World)
		want    steps
		warning string
	}{
		"ours follow the type": {becomes(arm), steps{toARM, capacity.Apply{Annotations: wanted}}, ""},
		"a person's other value is left": {
			all(becomes(arm), annotated(vcpu, "8", wrote("kubectl-edit"))),
			steps{toARM, capacity.Apply{Annotations: without(vcpu)}}, told,
		},
		"an applied other value is left": {
			all(becomes(arm), annotated(vcpu, "8", applied("kubectl-edit"))),
			steps{toARM, capacity.Apply{Annotations: without(vcpu)}}, told,
		},
		"an applied equal value is left to its owner": {
			annotated(vcpu, "2", applied("argocd"), ours()),
			steps{capacity.Apply{Annotations: map[string]string{memoryMb: "8192", gpu: "0"}}}, "",
		},
		"an applied equal value that is not ours is no news": {annotated(vcpu, "2", applied("argocd")), nil, ""},
		"a person's equal value becomes ours too": {
			annotated(vcpu, "2", wrote("kubectl-edit")),
			steps{capacity.Apply{Annotations: map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"}}}, "",
		},
		"what we have agreed with follows the type": {
			all(becomes(arm), annotated(vcpu, "2", wrote("kubectl-edit"), ours())),
			steps{toARM, capacity.Apply{Annotations: wanted, Force: true}}, "",
		},
		"a predecessor's value follows the type": {
			all(becomes(arm), predecessors, annotated(vcpu, "2", wrote("machine-controller-manager"))),
			steps{toARM, capacity.Apply{Annotations: wanted, Force: true}}, "",
		},
		"the value of our name's own update follows the type": {
			all(becomes(arm), annotated(vcpu, "2", wrote("capa-annotator"))),
			steps{toARM, capacity.Apply{Annotations: wanted, Force: true}}, "",
		},
		"a value without an owner follows the type": {
			all(becomes(arm), annotated(vcpu, "2")), steps{toARM, capacity.Apply{Annotations: wanted, Force: true}}, "",
		},
		"what is not wanted any more goes": {
			annotated(cpu, "2", ours()),
			steps{capacity.Apply{Annotations: map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"}}}, "",
		},
		"what others want stays": {annotated(cpu, "2", wrote("kubectl-edit")), nil, ""},
		"ours go with an unknown type": {
			unknownTo(instancetype.Unknown), steps{withoutArch, capacity.Apply{Annotations: map[string]string{}}}, "FailedUpdate: " + unknownText,
		},
		"ours go with an unknown type, and labels of others stay": {
			all(unknownTo(instancetype.Unknown), annotated(labels, "z,tier=web,kubernetes.io/arch=amd64", wrote("kubectl-edit"))),
			steps{capacity.Patch{Version: "7", Set: map[string]string{labels: "tier=web,z"}}, capacity.Apply{Annotations: map[string]string{}}},
			"FailedUpdate: " + unknownText,
		},
		"an architecture that somebody applies stays": {
			all(unknownTo(instancetype.Unknown), annotated(labels, "kubernetes.io/arch=amd64", applied("argocd"))),
			steps{capacity.Apply{Annotations: map[string]string{}}}, "FailedUpdate: " + unknownText,
		},
		"an architecture that a person wrote when ours had gone stays": {
			all(unknownTo(instancetype.Unknown), alone, annotated(labels, "kubernetes.io/arch=arm64", wrote("kubectl-edit"))), nil, "FailedUpdate: " + unknownText,
		},
		"ours go with a type that AWS says too little of": {
			unknownTo(instancetype.Incomplete), steps{withoutArch, capacity.Apply{Annotations: map[string]string{}}},
			"FailedUpdate: " + unknownText + ": AWS does not say its vCPUs or its memory",
		},
		"a person's values survive an unknown type": {
			all(unknownTo(instancetype.Unknown), annotated(vcpu, "8", wrote("kubectl-edit")), annotated(memoryMb, "9", applied("argocd")), annotated(gpu, "1")),
			steps{withoutArch}, "FailedUpdate: " + unknownText,
		},
		"what we agreed with is a person's when the type is unknown": {
			all(unknownTo(instancetype.Unknown), annotated(vcpu, "2", wrote("kubectl-edit"), ours())),
			steps{withoutArch, capacity.Apply{Annotations: map[string]string{}}}, "FailedUpdate: " + unknownText,
		},
		"a predecessor's go with an unknown type": {
			all(unknownTo(instancetype.Unknown), predecessors,
				annotated(vcpu, "2", wrote("machine-controller-manager")), annotated(memoryMb, "8192", wrote("capa-annotator"), ours()), annotated(gpu, "0", wrote("somebody"))),
			steps{capacity.Patch{Version: "7", Remove: []string{labels, memoryMb, vcpu}}}, "FailedUpdate: " + unknownText,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := capacity.Decide(with(settled(), test.change))
			if diff := cmp.Diff(test.want, plan.Steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			wantTold(t, plan, test.warning)
		})
	}
}

func TestTheArchitectureLabelOfOthersIsCorrectedAloud(t *testing.T) {
	const corrected = "ArchLabelCorrected"
	tests := map[string]struct {
		owners []capacity.Owner
		value  string
		want   bool
	}{
		"a person's":     {[]capacity.Owner{wrote("kubectl-edit")}, "kubernetes.io/arch=arm64", true},
		"nobody's":       {nil, "kubernetes.io/arch=arm64", true},
		"ours":           {[]capacity.Owner{wrote("capa-annotator")}, "kubernetes.io/arch=arm64", false},
		"a right one":    {[]capacity.Owner{wrote("kubectl-edit")}, "b=1,kubernetes.io/arch=amd64,a=1", false},
		"no label there": {[]capacity.Owner{wrote("kubectl-edit")}, "a=1", false},
	}
	for name, test := range tests {
		plan := capacity.Decide(with(openshift(large), annotated(labels, test.value, test.owners...)))
		got := false
		for _, event := range plan.Events {
			if event.Reason != corrected {
				continue
			}
			got = true
			const text = `Corrected kubernetes.io/arch in the annotation capacity.cluster-autoscaler.kubernetes.io/labels from "arm64" to "amd64"`
			if event.Message != text || event.Warning {
				t.Errorf("%s: event is %+v, want a normal one with %q", name, event, text)
			}
		}
		if got != test.want {
			t.Errorf("%s: corrected aloud is %v, want %v", name, got, test.want)
		}
	}
}

func TestTheTemplatesOwnStatusIsCompared(t *testing.T) {
	status := func(cpu, memory, arch string) capacity.World {
		return with(clusterAPI(large), func(w *capacity.World) {
			w.Template.CPU, w.Template.Memory, w.Template.Architecture = cpu, memory, arch
		})
	}
	tests := map[string]struct {
		world capacity.World
		want  string
	}{
		"none":                 {clusterAPI(large), ""},
		"no template":          {openshift(large), ""},
		"the same":             {status("2", "8Gi", "amd64"), ""},
		"in other units":       {status("2000m", "8192Mi", ""), ""},
		"another size":         {status("4", "16384Mi", ""), "cpu is 4, AWS says 2; memory is 16384Mi, AWS says 8192Mi"},
		"another architecture": {status("", "", "arm64"), "architecture is arm64, AWS says amd64"},
		"no quantity":          {status("many", "", ""), ""},
	}
	for name, test := range tests {
		if got := capacity.Decide(test.world).Mismatch; got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestNobodyHasAskedYet(t *testing.T) {
	w := openshift(large)
	w.Answer, w.Memory.Failures = instancetype.Answer{}, 3
	want := capacity.Plan{Outcome: capacity.Asking, Again: time.Minute, Memory: capacity.Memory{Failures: 3}}
	if diff := cmp.Diff(want, capacity.Decide(w)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestAnAssumedArchitectureIsLogged(t *testing.T) {
	want := []string{"AWS names no known architecture of instance type m6i.8xlarge; assuming amd64"}
	if diff := cmp.Diff(want, capacity.Decide(openshift(unsaid)).Log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func BenchmarkDecide(b *testing.B) {
	for name, world := range map[string]capacity.World{"unchanged": settled(), "fresh": openshift(large), "clusterAPI": clusterAPI(gpus)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if capacity.Decide(world).Outcome == capacity.Failed {
					b.Fatal("failed")
				}
			}
		})
	}
}
