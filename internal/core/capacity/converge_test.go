package capacity_test

import (
	"errors"
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
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// model is an object on an API server that knows server-side apply, and people
// who write to it too.
type model struct {
	crash.Plain
	world capacity.World
	// plan is what the last pass decided, choice what somebody had chosen then, and
	// broken which rule a step broke.
	plan   capacity.Plan
	choice map[string]string
	broken string
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

// Observe implements crash.Model.
func (m *model) Observe() capacity.World { return likened(with(m.world, func(*capacity.World) {})) }

// Decide implements crash.Model.
func (m *model) Decide(w capacity.World) []capacity.Step {
	m.plan, m.choice = capacity.Decide(w), m.chosen()
	return m.plan.Steps
}

// Perform implements crash.Model.
func (m *model) Perform(step capacity.Step, fail bool) error {
	if fail {
		return errRefused
	}
	defer func() {
		for key, value := range m.choice {
			if m.world.Object.Annotations[key] != value {
				m.broken = fmt.Sprintf("somebody chose %s to be %q, and it is %q", key, value, m.world.Object.Annotations[key])
			}
		}
	}()
	switch step := step.(type) {
	case capacity.Patch:
		if step.Version != m.world.Object.Version {
			return fmt.Errorf("a patch at version %q of an object at %q", step.Version, m.world.Object.Version)
		}
		for key, value := range step.Set {
			m.update("capa-annotator", key, value)
		}
		for _, key := range step.Remove {
			m.update("capa-annotator", key, "")
		}
	case capacity.Apply:
		if !m.apply("capa-annotator", step.Annotations, step.Force) {
			return fmt.Errorf("conflict: %v on %v owned by %v", step.Annotations, m.world.Object.Annotations, m.world.Object.Owners)
		}
	}
	return nil
}

// errRefused is what the API server answers to a write that is to fail.
var errRefused = errors.New("the API server refuses it")

// Report implements crash.Model.
func (m *model) Report(_ int, failed error) error {
	switch {
	case failed == nil:
		m.world.Memory = m.plan.Memory
	case !errors.Is(failed, errRefused):
		return failed
	}
	return nil
}

// Die implements crash.Model.
func (m *model) Die(int) { m.world.Memory = capacity.Memory{} }

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

// Violation implements crash.Model: nothing malformed is ours, and what somebody
// chose is as it was.
func (m *model) Violation() string {
	for key, pattern := range sound {
		value, there := m.world.Object.Annotations[key]
		if there && slices.Contains(m.world.Object.Owners[key], ours()) && !pattern.MatchString(value) {
			return fmt.Sprintf("%s is malformed and ours: %q", key, value)
		}
	}
	return m.broken
}

// isOthers says that somebody else owns an annotation, by apply or otherwise.
func (m *model) isOthers(key string, byApply bool) bool {
	return slices.ContainsFunc(m.world.Object.Owners[key], func(o capacity.Owner) bool {
		return o.Manager != "capa-annotator" && (o.Applied || o.Manager != "predecessor") && o.Applied == byApply
	})
}

// chosen are values that somebody else wrote and we do not own, and that are no
// type's, because others of it are missing beside them.
func (m *model) chosen() map[string]string {
	o, out, beside := m.world.Object, map[string]string{}, map[string]bool{}
	for key := range sound {
		if !m.isOthers(key, false) || m.isOthers(key, true) {
			continue
		}
		beside[key] = true
		if !slices.Contains(o.Owners[key], ours()) {
			out[key] = o.Annotations[key]
		}
	}
	if (beside[vcpu] || beside[cpu]) && (beside[memoryMb] || beside[memory]) {
		return nil
	}
	return out
}

// Foreign implements crash.Model: annotations that mean nothing to us, what others
// apply, and all labels but the architecture.
func (m *model) Foreign() (out []string) {
	for key, value := range m.world.Object.Annotations {
		if sound[key] == nil && key != labels || key != labels && m.isOthers(key, true) {
			out = append(out, key+": "+value)
		}
	}
	pairs, bare := meaning(m.world.Object.Annotations[labels])
	delete(pairs, "kubernetes.io/arch")
	for key, value := range pairs {
		out = append(out, "the label "+key+"="+value)
	}
	return append(out, "labels without a value: "+strings.Join(bare, ","))
}

// Disturb is what people and AWS do in between.
func (m *model) Disturb(next func() byte) error {
	what, how := next(), next()
	keys := []string{vcpu, memoryMb, gpu, cpu, memory, gpuCount, gpuType}
	values := []string{"2", "8192", "0", "16", "8G", "8192Mi", "nvidia.com/gpu", ""}
	key, value := keys[int(how)%len(keys)], values[int(how/8)%len(values)]
	switch what % 11 {
	case 0: // another type
		m.world.Fault = nil
		m.world.Answer = instancetype.Answer{State: instancetype.Found, Type: offered[int(how)%6]}
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
	case 10: // the object is made anew from another's YAML
		fresh := newModel(how / 6)
		fresh.world.Answer.Type = offered[int(how)%6]
		for key, value := range result(capacity.Decide(fresh.Observe())) {
			m.update([]string{"kubectl-create", "terraform"}[int(how/12)%2], key, value)
		}
	case 9:
		m.world.Options.OnlyAutoscaled = how%7 == 0
		m.world.Options.DeferToTemplate = how%2 == 0
		m.world.Options.MemoryReserve = int64(how) % 51
		if m.world.Template != nil {
			m.world.Template.CPU, m.world.Template.Memory = []string{"", "4", "0"}[int(how)%3], []string{"", "16Gi"}[int(how/3)%2]
		}
	}
	return nil
}

// Patience implements crash.Model: a quiet world needs two passes.
func (m *model) Patience() int { return 5 }

// Stored implements crash.Model.
func (m *model) Stored() any { return m.Observe().Object }

// Rest demands that what is ours is what a new object would get, and that what is
// missing is with others.
func (m *model) Rest(int) (more bool, wrong string) {
	if len(m.plan.Events) > 0 {
		return false, fmt.Sprintf("a quiet world is told %+v again", m.plan.Events)
	}
	o, fresh := m.world.Object, m.world
	fresh.Object.Annotations, fresh.Object.Owners = map[string]string{}, nil
	plan := capacity.Decide(fresh)
	if plan.Outcome != capacity.Annotated && plan.Outcome != capacity.Unknown {
		return false, "" // trouble on the way: what is there stays
	}
	want := result(plan)
	for key := range sound {
		value, wanted := want[key]
		isOurs := slices.Contains(o.Owners[key], ours())
		switch {
		case isOurs && (!wanted || o.Annotations[key] != value):
			return false, fmt.Sprintf("%s is ours and %q, want %q (%v)", key, o.Annotations[key], value, wanted)
		case wanted && !isOurs && len(o.Owners[key]) == 0:
			return false, fmt.Sprintf("%s is missing, want %q", key, value)
		}
	}
	return false, ""
}

// pass makes one pass without trouble.
func (m *model) pass(t *testing.T) {
	t.Helper()
	must.Get(crash.Pass(m, crash.None))(t)
}

// FuzzConverge runs lives of an object of either kind. A disturbance takes two bytes.
func FuzzConverge(f *testing.F) {
	seeds := [][]byte{
		{0, 9, 0, 0},
		{1, 9, 0, 2, 0, 1, 1, 1, 9, 0},
		{0, 9, 3, 24, 9, 0, 1, 9, 1, 0, 0, 0, 1},
		{0, 0, 4, 0, 9, 0, 1, 9, 1, 0},
		{1, 9, 6, 0, 9, 0, 1, 9, 6, 56, 0, 7, 2},
		{1, 0, 5, 3, 9, 5, 56, 9, 1, 1, 9, 8, 1},
		{1, 9, 7, 2, 1, 7, 3, 9, 2, 0, 9, 8, 2, 9, 0, 3},
		{0, 15, 10, 2, 1, 0, 0, 9, 10, 2, 9, 10, 2},
		{1, 15, 10, 14, 0x10, 0, 0, 0x20, 10, 14, 9, 10, 1},
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		script := make([]byte, 1+3*chance.IntN(20))
		for i := range script {
			script[i] = byte(chance.Uint32())
		}
		seeds = append(seeds, script)
	}
	crash.Fuzz(f, func(variety byte) crash.Model[capacity.World, capacity.Step] { return newModel(variety) }, seeds...)
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
