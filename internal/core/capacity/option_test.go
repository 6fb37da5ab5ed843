package capacity_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

func TestOnlyAutoscaledObjectsAreAnnotatedIfSoWished(t *testing.T) {
	const (
		minSize = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
		maxSize = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
		oldMin  = "machine.openshift.io/cluster-api-autoscaler-node-group-min-size"
		oldMax  = "machine.openshift.io/cluster-api-autoscaler-node-group-max-size"
	)
	nothing := func(*capacity.World) {}
	person := wrote("kubectl-edit")
	tests := map[string]struct {
		world capacity.World
		want  capacity.Outcome
	}{
		"no size":                         {openshift(large), capacity.Skipped},
		"a smallest size":                 {with(openshift(large), annotated(oldMin, "0", person)), capacity.Annotated},
		"a largest size":                  {with(openshift(large), annotated(oldMax, "9", person)), capacity.Annotated},
		"the other family's smallest":     {with(openshift(large), annotated(minSize, "0", person)), capacity.Annotated},
		"the other family's largest":      {with(openshift(large), annotated(maxSize, "9", person)), capacity.Annotated},
		"Cluster API without a size":      {clusterAPI(large), capacity.Skipped},
		"Cluster API with a size":         {with(clusterAPI(large), annotated(maxSize, "9", person)), capacity.Annotated},
		"Cluster API with OpenShift's":    {with(clusterAPI(large), annotated(oldMax, "9", person)), capacity.Annotated},
		"another annotation is no size":   {with(openshift(large), annotated("example.com/min-size", "0", person)), capacity.Skipped},
		"what was written before stays":   {settled(), capacity.Skipped},
		"trouble of others is not told":   {with(openshift(large), func(w *capacity.World) { w.Credentials.Problem = "text" }), capacity.Skipped},
		"what is right needs no new pass": {with(settled(), annotated(oldMin, "0", person)), capacity.Unchanged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wished := with(test.world, func(w *capacity.World) { w.Options.OnlyAutoscaled = true })
			plan := capacity.Decide(wished)
			if plan.Outcome != test.want {
				t.Errorf("outcome %s, want %s", plan.Outcome, test.want)
			}
			if _, asks := capacity.Ask(wished); asks != (test.want != capacity.Skipped) {
				t.Errorf("AWS is asked: %t", asks)
			}
			quiet := capacity.Plan{Outcome: capacity.Skipped, Skip: capacity.SkipNotAutoscaled}
			if diff := cmp.Diff(quiet, plan); test.want == capacity.Skipped && diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if plan := capacity.Decide(with(test.world, nothing)); plan.Outcome == capacity.Skipped {
				t.Errorf("without the wish it is skipped: %s", plan.Skip)
			}
		})
	}
}

func TestOfTheMemorySomeIsReserved(t *testing.T) {
	sized := func(mib int64) instancetype.Type {
		out := large
		out.MemoryMiB = mib
		return out
	}
	tests := map[string]struct {
		mib, percent int64
		want, told   string
	}{
		"nothing":               {8192, 0, "8192", "8192 MiB"},
		"a tenth, rounded down": {8192, 10, "7372", "7372 MiB (8192 MiB less 10 %)"},
		"of odd sizes":          {5376, 7, "4999", "4999 MiB (5376 MiB less 7 %)"},
		"half":                  {8192, 50, "4096", "4096 MiB (8192 MiB less 50 %)"},
		"never all":             {1, 50, "1", "1 MiB (1 MiB less 50 %)"},
		"of the largest":        {25165824, 1, "24914165", "24914165 MiB (25165824 MiB less 1 %)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := capacity.Decide(with(clusterAPI(sized(test.mib)), func(w *capacity.World) { w.Options.MemoryReserve = test.percent }))
			got := result(plan)
			if got[memoryMb] != test.want || got[memory] != test.want+"Mi" {
				t.Errorf("%s is %q and %s is %q, want %s in both", memoryMb, got[memoryMb], memory, got[memory], test.want)
			}
			want := "Set autoscaling from zero annotations: m5.large in us-east-1 has 2 vCPU, " + test.told + ", 0 GPU, amd64"
			if plan.Events[0].Message != want {
				t.Errorf("event %q, want %q", plan.Events[0].Message, want)
			}
		})
	}
}

func TestAReserveIsToldWhereValuesAreCompared(t *testing.T) {
	reserve := func(w *capacity.World) { w.Options.MemoryReserve = 10 }
	person := wrote("kubectl-edit")
	plan := capacity.Decide(with(settled(), all(reserve, annotated(vcpu, "8", person), annotated(memoryMb, "9000", person))))
	wantTold(t, plan, `AnnotationConflict: Left as set by others, for m5.large: machine.openshift.io/memoryMb is "9000" by kubectl-edit, `+
		`AWS says, less 10 %, "7372"; machine.openshift.io/vCPU is "8" by kubectl-edit, AWS says "2"; remove the annotation to have it maintained`)

	same := with(clusterAPI(large), all(reserve, func(w *capacity.World) { w.Template.Memory = "8Gi" }))
	if got := capacity.Decide(same).Mismatch; got != "" {
		t.Errorf("the template's status says what AWS says; told is %q", got)
	}
}

func TestAReserveThatIsNewIsWritten(t *testing.T) {
	want := []capacity.Step{capacity.Apply{Annotations: map[string]string{vcpu: "2", memoryMb: "7372", gpu: "0"}}}
	plan := capacity.Decide(with(settled(), func(w *capacity.World) { w.Options.MemoryReserve = 10 }))
	if diff := cmp.Diff(want, plan.Steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestWhatTheTemplatesStatusSaysIsLeftToIt(t *testing.T) {
	said := func(w capacity.World, cpu, memory string) capacity.World {
		return with(w, func(w *capacity.World) {
			template := *w.Template
			template.CPU, template.Memory = cpu, memory
			w.Template, w.Options.DeferToTemplate = &template, true
		})
	}
	full := func(w *capacity.World) { w.Options.Profile = capacity.Full }
	tests := map[string]struct {
		world capacity.World
		want  string // those of upstream's keys that are written
	}{
		"all of it":                     {said(clusterAPI(large), "2", "8192Mi"), ""},
		"nothing":                       {said(clusterAPI(large), "", ""), "cpu=2 memory=8192Mi"},
		"no memory":                     {said(clusterAPI(large), "2", ""), "memory=8192Mi"},
		"no CPU":                        {said(clusterAPI(large), "", "8192Mi"), "cpu=2"},
		"zero is nothing":               {said(clusterAPI(large), "0", "0"), "cpu=2 memory=8192Mi"},
		"no quantities":                 {said(clusterAPI(large), "many", "much"), "cpu=2 memory=8192Mi"},
		"another size":                  {said(clusterAPI(large), "4", "16Gi"), ""},
		"GPUs it never says":            {said(clusterAPI(gpus), "32", "249856Mi"), "gpu-count=4 gpu-type=nvidia.com/gpu"},
		"the wish is another":           {with(said(clusterAPI(large), "2", "8192Mi"), func(w *capacity.World) { w.Options.DeferToTemplate = false }), "cpu=2 memory=8192Mi"},
		"the Machine API has no status": {with(openshift(large), all(full, func(w *capacity.World) { w.Options.DeferToTemplate = true })), "cpu=2 memory=8192Mi"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := capacity.Decide(test.world)
			annotations := result(plan)
			var got []string
			for _, key := range []string{cpu, gpuCount, gpuType, memory} {
				if value, there := annotations[key]; there {
					got = append(got, strings.TrimPrefix(key, "capacity.cluster-autoscaler.kubernetes.io/")+"="+value)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("upstream's keys %v, want %s", got, test.want)
			}
			for _, key := range []string{vcpu, memoryMb, gpu, labels} {
				if annotations[key] == "" {
					t.Errorf("%s is not written", key)
				}
			}
		})
	}
}

// TestWhatTheTemplateComesToSayIsTakenBack: CAPA fills the status in later.
func TestWhatTheTemplateComesToSayIsTakenBack(t *testing.T) {
	world := with(clusterAPI(large), all(
		annotated(vcpu, "2", ours()), annotated(memoryMb, "8192", ours()), annotated(gpu, "0", ours()),
		annotated(cpu, "2", ours()), annotated(memory, "8192Mi", ours()),
		annotated(labels, "kubernetes.io/arch=amd64", wrote("capa-annotator")),
		func(w *capacity.World) {
			w.Options.DeferToTemplate = true
			w.Template.CPU, w.Template.Memory = "2", "8192Mi"
		},
	))
	want := []capacity.Step{capacity.Apply{Annotations: map[string]string{vcpu: "2", memoryMb: "8192", gpu: "0"}}}
	if diff := cmp.Diff(want, capacity.Decide(world).Steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
