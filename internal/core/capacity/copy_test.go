package capacity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// offered are the types of the region.
var offered = []instancetype.Type{large, arm, gpus, radeon, neuron, unsaid}

// likened is a world in which AWS was asked for a type like that of which values were
// copied.
func likened(w capacity.World) capacity.World {
	w.Answer.Like = ""
	if q, ok := capacity.Ask(w); ok {
		w.Answer.Like = q.Like.In(slices.Values(offered))
	}
	return w
}

// pasted are the annotations of a type, written once by somebody.
func pasted(from capacity.World, owners ...capacity.Owner) func(*capacity.World) {
	return func(w *capacity.World) {
		for key, value := range result(capacity.Decide(from)) {
			annotated(key, value, owners...)(w)
		}
	}
}

// TestACopyOfAnotherTypesValuesIsCorrected is about who made a MachineSet from the
// YAML of another, and about those who only look like it.
func TestACopyOfAnotherTypesValuesIsCorrected(t *testing.T) {
	kubectl := wrote("kubectl-client-side-apply")
	reserve := func(w *capacity.World) { w.Options.MemoryReserve = 10 }
	const warned = "Left as set by others, for p3.8xlarge: "
	tests := map[string]struct {
		world capacity.World
		// want are annotations after the pass; says is in an event.
		want    map[string]string
		outcome capacity.Outcome
		says    string
	}{
		"of kubectl apply": {
			with(openshift(gpus), pasted(openshift(large), kubectl)), map[string]string{vcpu: "32", memoryMb: "249856", gpu: "4"}, capacity.Annotated,
			`AnnotationsCorrected: Corrected for p3.8xlarge: machine.openshift.io/GPU from "0" by kubectl-client-side-apply to "4"; ` +
				`machine.openshift.io/memoryMb from "8192" by kubectl-client-side-apply to "249856"; machine.openshift.io/vCPU from "2" by ` +
				`kubectl-client-side-apply to "32"; these were the values of a type such as m5.large, written once; to have other values, apply them by server-side apply`,
		},
		"with less memory": {
			with(openshift(gpus), all(reserve, pasted(with(openshift(large), reserve), kubectl))),
			map[string]string{vcpu: "32", memoryMb: "224870", gpu: "4"}, capacity.Annotated, "the values of a type such as m5.large",
		},
		"with GPUs that the type has not": {
			with(clusterAPI(large), pasted(clusterAPI(gpus), wrote("terraform"))),
			map[string]string{vcpu: "2", memory: "8192Mi", gpu: "0", gpuCount: "", gpuType: ""}, capacity.Annotated,
			`capacity.cluster-autoscaler.kubernetes.io/gpu-count "4" by terraform is taken away`,
		},
		"that is applied": {
			with(openshift(gpus), pasted(openshift(large), applied("argocd"))), map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"},
			capacity.Conflict, warned + `machine.openshift.io/GPU is "0" by argocd, AWS says "4"`,
		},
		"and then changed": {
			with(openshift(gpus), all(pasted(openshift(large), kubectl), annotated(memoryMb, "8000", wrote("kubectl-edit")))),
			map[string]string{vcpu: "2", memoryMb: "8000", gpu: "0"}, capacity.Conflict, warned,
		},
		"of which one is applied": {
			with(openshift(gpus), all(pasted(openshift(large), kubectl), annotated(vcpu, "2", applied("argocd")))),
			map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"}, capacity.Conflict, warned,
		},
		"that contradicts itself": {
			with(clusterAPI(gpus), all(pasted(clusterAPI(large), kubectl), annotated(cpu, "16", kubectl))),
			map[string]string{vcpu: "2", cpu: "16", memory: "8192Mi"}, capacity.Conflict, warned,
		},
		"in other units": {
			with(clusterAPI(gpus), all(pasted(clusterAPI(large), kubectl), annotated(cpu, "2000m", kubectl), annotated(memory, "8Gi", kubectl))),
			map[string]string{cpu: "32", memory: "249856Mi"}, capacity.Annotated, "the values of a type such as m5.large",
		},
		"no copy: one value alone": {
			with(openshift(gpus), annotated(gpu, "0", wrote("kubectl-annotate"))), map[string]string{vcpu: "32", gpu: "0"}, capacity.Conflict,
			"Set autoscaling from zero annotations: p3.8xlarge in us-east-1 has 32 vCPU, 249856 MiB, amd64; machine.openshift.io/GPU stays \"0\"",
		},
		"no copy: no whole number": {
			with(openshift(gpus), all(pasted(openshift(large), kubectl), annotated(memoryMb, "8G", kubectl))),
			map[string]string{vcpu: "2", memoryMb: "8G"}, capacity.Conflict, warned,
		},
		"no copy: no number": {
			with(openshift(gpus), all(pasted(openshift(large), kubectl), annotated(vcpu, "two", kubectl))),
			map[string]string{vcpu: "two", memoryMb: "8192"}, capacity.Conflict, warned,
		},
		"for a type that nobody knows": {
			with(openshift(gpus), all(pasted(openshift(large), kubectl), unknownTo(instancetype.Unknown))),
			map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"}, capacity.Unknown, unknownText,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := &model{world: test.world}
			m.wrote()
			m.pass(t)
			for key, want := range test.want {
				if got := m.world.Object.Annotations[key]; got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			if m.plan.Outcome != test.outcome || !strings.Contains(told(m.plan), test.says) {
				t.Errorf("outcome %s, want %s; events\n%s\nwant\n%s", m.plan.Outcome, test.outcome, told(m.plan), test.says)
			}
			// What is told is told once.
			if m.pass(t); len(m.plan.Events) > 0 {
				t.Errorf("told again: %s", told(m.plan))
			}
		})
	}
}

func told(plan capacity.Plan) string {
	var out []string
	for _, event := range plan.Events {
		out = append(out, event.Reason+": "+event.Message)
	}
	return strings.Join(out, "\n")
}

// TestACopyThatComesBackStays has a program write the same values whenever they are
// corrected, as one does that keeps an object as it is in Git by plain updates.
func TestACopyThatComesBackStays(t *testing.T) {
	m := &model{world: with(openshift(gpus), pasted(openshift(large), wrote("gitops")))}
	var outcomes []capacity.Outcome
	for range 4 {
		m.wrote()
		m.pass(t)
		outcomes = append(outcomes, m.plan.Outcome)
		for key, value := range map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"} {
			m.update("gitops", key, value)
		}
	}
	if diff := cmp.Diff([]capacity.Outcome{capacity.Annotated, capacity.Conflict, capacity.Conflict, capacity.Conflict}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	pasted(openshift(arm), wrote("gitops"))(&m.world) // another copy is another matter
	if m.pass(t); m.plan.Outcome != capacity.Annotated {
		t.Errorf("another copy: %s, want it corrected; %s", m.plan.Outcome, told(m.plan))
	}
}
