package capacity_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// model is an object on an API server that knows server-side apply, and people
// who write to it too.
type model struct {
	world capacity.World
	// version counts the writes.
	version int
}

func newModel(kind byte) *model {
	base := openshift(large)
	if kind%2 == 1 {
		base = clusterAPI(large)
	}
	m := &model{world: with(base, all(
		annotated("example.com/own", "x", wrote("kubectl")), func(w *capacity.World) { w.Options.Predecessors = []string{"predecessor"} },
	))}
	m.wrote()
	return m
}

func (m *model) wrote() {
	m.version++
	m.world.Object.Version = fmt.Sprint(m.version)
}

// update is an update of one annotation; empty removes it. A changed value has
// no owner but its writer.
func (m *model) update(who, key, value string) {
	o := &m.world.Object
	switch current, there := o.Annotations[key]; {
	case value == "":
		delete(o.Annotations, key)
		delete(o.Owners, key)
	case !there || current != value:
		o.Annotations[key], o.Owners[key] = value, []capacity.Owner{wrote(who)}
	}
	m.wrote()
}

// apply is a server-side apply; false is a conflict, and nothing is changed.
func (m *model) apply(who string, want map[string]string, force bool) bool {
	o, self := &m.world.Object, applied(who)
	others := func(key string) []capacity.Owner {
		return slices.DeleteFunc(slices.Clone(o.Owners[key]), func(one capacity.Owner) bool { return one == self })
	}
	for key, value := range want {
		if current, there := o.Annotations[key]; there && current != value && len(others(key)) > 0 && !force {
			return false
		}
	}
	for key, owners := range maps.Clone(o.Owners) {
		if _, wanted := want[key]; wanted || !slices.Contains(owners, self) {
			continue
		}
		if o.Owners[key] = others(key); len(o.Owners[key]) == 0 {
			delete(o.Annotations, key)
			delete(o.Owners, key)
		}
	}
	for key, value := range want {
		if o.Annotations[key] != value {
			o.Owners[key] = nil
		}
		o.Annotations[key], o.Owners[key] = value, append(others(key), self)
	}
	m.wrote()
	return true
}

// pass decides once and performs the first steps of the plan; it returns the
// number of the plan's steps.
func (m *model) pass(t *testing.T, dieAt int) int {
	t.Helper()
	plan := capacity.Decide(m.world)
	before := maps.Clone(m.world.Object.Annotations)
	owners := maps.Clone(m.world.Object.Owners)
	for i, step := range plan.Steps {
		if i >= dieAt {
			return len(plan.Steps)
		}
		switch step := step.(type) {
		case capacity.Patch:
			if step.Version != m.world.Object.Version {
				t.Fatalf("a patch at version %q of an object at %q", step.Version, m.world.Object.Version)
			}
			for key, value := range step.Set {
				m.update("capa-annotator", key, value)
			}
			for _, key := range step.Remove {
				m.update("capa-annotator", key, "")
			}
		case capacity.Apply:
			if !m.apply("capa-annotator", step.Annotations, step.Force) {
				t.Fatalf("conflict: %v on %v owned by %v", step.Annotations, m.world.Object.Annotations, m.world.Object.Owners)
			}
		}
	}
	m.check(t, before, owners)
	m.world.Memory = plan.Memory
	return len(plan.Steps)
}

var (
	number   = regexp.MustCompile(`^[1-9][0-9]*$`)
	count    = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
	mebi     = regexp.MustCompile(`^[1-9][0-9]*Mi$`)
	extended = regexp.MustCompile(`^[a-z.]+/[a-z]+$`)
	// sound is what we may write, by key.
	sound = map[string]*regexp.Regexp{
		vcpu: number, memoryMb: number, gpu: count, cpu: number, memory: mebi, gpuCount: number, gpuType: extended,
	}
)

// check looks at what a whole pass did: nothing of others is changed, nothing
// malformed is ours, and all labels of before are there.
func (m *model) check(t *testing.T, before map[string]string, owners map[string][]capacity.Owner) {
	t.Helper()
	after := m.world.Object.Annotations
	for key, value := range before {
		theirs := slices.ContainsFunc(owners[key], func(o capacity.Owner) bool {
			return o.Manager != "capa-annotator" && o.Manager != "predecessor"
		})
		agreed := slices.Contains(owners[key], ours()) && !slices.ContainsFunc(owners[key], func(o capacity.Owner) bool {
			return o.Applied && o != ours()
		})
		_, stays := after[key]
		if theirs && key != labels && (!stays || !agreed && after[key] != value) {
			t.Fatalf("%s of %v was %q and is %q", key, owners[key], value, after[key])
		}
	}
	for key, pattern := range sound {
		if value, there := after[key]; there && slices.Contains(m.world.Object.Owners[key], ours()) && !pattern.MatchString(value) {
			t.Fatalf("%s is malformed and ours: %q", key, value)
		}
	}
	want, wantBare := meaning(before[labels])
	got, gotBare := meaning(after[labels])
	for key, value := range want {
		if key != "kubernetes.io/arch" && got[key] != value {
			t.Fatalf("label %q was %q and is %q", key, value, got[key])
		}
	}
	if !slices.Equal(wantBare, gotBare) {
		t.Fatalf("labels without a value were %q and are %q", wantBare, gotBare)
	}
}

// disturb is what people and AWS do in between.
func (m *model) disturb(what, how byte) {
	keys := []string{vcpu, memoryMb, gpu, cpu, memory, gpuCount, gpuType}
	values := []string{"2", "8192", "0", "16", "8G", "8192Mi", "nvidia.com/gpu", ""}
	key, value := keys[int(how)%len(keys)], values[int(how/8)%len(values)]
	switch what % 10 {
	case 0: // another type
		m.world.Fault = nil
		m.world.Answer = instancetype.Answer{
			State: instancetype.Found, Type: []instancetype.Type{large, arm, gpus, radeon, neuron, unsaid}[int(how)%6],
		}
	case 1:
		m.world.Fault = nil
		m.world.Answer = instancetype.Answer{State: []instancetype.State{
			instancetype.Unknown, instancetype.Incomplete, instancetype.RegionInvalid, instancetype.RegionNotOptedIn,
		}[int(how)%4]}
	case 2:
		m.world.Fault = &fault.Fault{Class: fault.Throttled, Service: "EC2", Operation: "DescribeInstanceTypes", Code: "Throttling"}
	case 3:
		m.update("kubectl-edit", key, value)
	case 4:
		m.update("predecessor", key, value)
	case 5:
		m.update("capa-annotator", key, value)
	case 6:
		_ = m.apply("argocd", map[string]string{key: value}, how%2 == 0) // a conflict is theirs
	case 7:
		m.update("kubectl-edit", labels, []string{"", "a=1", "z, b=2,a=1,,y", "kubernetes.io/arch=arm64", "kubernetes.io/arch=x,a==b"}[int(how)%5])
	case 8:
		m.world.Options.Profile = capacity.Profiles()[int(how)%3]
	case 9:
		m.world.Options.OnlyAutoscaled = how%7 == 0
		m.world.Options.DeferToTemplate = how%2 == 0
		m.world.Options.MemoryReserve = int64(how) % 51
		if m.world.Template != nil {
			m.world.Template.CPU, m.world.Template.Memory = []string{"", "4", "0"}[int(how)%3], []string{"", "16Gi"}[int(how/3)%2]
		}
	}
}

// settle demands that a quiet world needs two passes at most, and that the plan
// of the third writes nothing.
func (m *model) settle(t *testing.T) {
	t.Helper()
	for range 2 {
		if m.pass(t, 9) == 0 {
			break
		}
	}
	if again := capacity.Decide(m.world); len(again.Steps) > 0 || len(again.Events) > 0 {
		t.Fatalf("a quiet world is written to again: %+v; object %+v", again, m.world.Object)
	}
	m.wantRight(t)
}

// wantRight demands of a settled object that what is ours is what a new object
// would get, and that what is missing is with others.
func (m *model) wantRight(t *testing.T) {
	t.Helper()
	o := m.world.Object
	fresh := m.world
	fresh.Object.Annotations, fresh.Object.Owners = map[string]string{}, nil
	plan := capacity.Decide(fresh)
	if plan.Outcome != capacity.Annotated && plan.Outcome != capacity.Unknown {
		return // trouble on the way: what is there stays
	}
	want := result(plan)
	for key := range sound {
		value, wanted := want[key]
		isOurs := slices.Contains(o.Owners[key], ours())
		switch {
		case isOurs && (!wanted || o.Annotations[key] != value):
			t.Fatalf("%s is ours and %q, want %q (%v)", key, o.Annotations[key], value, wanted)
		case wanted && !isOurs && len(o.Owners[key]) == 0:
			t.Fatalf("%s is missing, want %q", key, value)
		}
	}
}

// FuzzConverge disturbs an object between passes that die after an arbitrary
// step. Three bytes are one round: before which step the pass dies, and what
// happens after it.
func FuzzConverge(f *testing.F) {
	f.Add([]byte{0, 9, 0, 0})
	f.Add([]byte{1, 9, 0, 2, 0, 1, 1, 1, 9, 0})
	f.Add([]byte{0, 9, 3, 24, 9, 0, 1, 9, 1, 0, 0, 0, 1})
	f.Add([]byte{0, 0, 4, 0, 9, 0, 1, 9, 1, 0})
	f.Add([]byte{1, 9, 6, 0, 9, 0, 1, 9, 6, 56, 0, 7, 2})
	f.Add([]byte{1, 0, 5, 3, 9, 5, 56, 9, 1, 1, 9, 8, 1})
	f.Add([]byte{1, 9, 7, 2, 1, 7, 3, 9, 2, 0, 9, 8, 2, 9, 0, 3})
	chance := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		script := make([]byte, 1+3*chance.IntN(20))
		for i := range script {
			script[i] = byte(chance.Uint32())
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 || len(script) > 300 {
			return
		}
		m := newModel(script[0])
		for script = script[1:]; len(script) >= 3; script = script[3:] {
			m.pass(t, int(script[0]%4))
			m.disturb(script[1], script[2])
		}
		m.settle(t)
	})
}

func TestTheModelBehavesAsTheAPIServerDoes(t *testing.T) {
	tests := map[string]func(*model) bool{
		"an apply against a person's value": func(m *model) bool {
			m.update("kubectl-edit", vcpu, "8")
			return !m.apply("capa-annotator", map[string]string{vcpu: "2"}, false)
		},
		"an apply that leaves out what it had": func(m *model) bool {
			m.apply("capa-annotator", map[string]string{vcpu: "2"}, false)
			m.apply("capa-annotator", nil, false)
			_, there := m.world.Object.Annotations[vcpu]
			return !there
		},
		"an apply that leaves out what another owns too": func(m *model) bool {
			m.apply("capa-annotator", map[string]string{vcpu: "2"}, false)
			m.apply("argocd", map[string]string{vcpu: "2"}, false)
			m.apply("capa-annotator", nil, false)
			return m.world.Object.Annotations[vcpu] == "2"
		},
	}
	for name, holds := range tests {
		if !holds(newModel(0)) {
			t.Errorf("%s: not as the API server does it", name)
		}
	}
}

func TestLabelsOfThousandsOfEntriesStay(t *testing.T) {
	var entries []string
	for i := range 5000 {
		entries = append(entries, fmt.Sprintf("label-%04d=x", i))
	}
	merged := capacity.MergeLabels(strings.Join(entries, ","), "amd64")
	if got := strings.Count(merged, ",") + 1; got != 5001 {
		t.Errorf("%d entries, want 5001", got)
	}
}
