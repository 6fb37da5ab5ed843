package webhookdeployment_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// model is a cluster whose objects people edit, in which CCO's webhook comes and goes,
// and where Helm may take the hooks over.
type model struct {
	crash.Plain
	world core.World
	// theirs is how CCO's objects were when others last wrote them.
	theirs core.Object
	// helm is what Helm keeps, nil while it keeps nothing.
	helm core.Object
	// seen is what the last pass went by.
	seen core.World
	// wrong is what a step did that it must not.
	wrong string
}

func (m *model) Observe() core.World {
	w := m.world
	w.Stored = snapshot(m.world)
	m.seen = w
	return w
}

func (m *model) Decide(w core.World) []core.Step { return core.Decide(w).Steps }

func (m *model) Perform(step core.Step, fail bool) error {
	if fail {
		return errors.New("it fails")
	}
	if made, ok := step.(core.Create); ok && m.world.Stored[made.ID] != nil {
		return nil // by others, in between
	}
	if m.quiet() {
		m.wrong = "something is deployed beside another's webhook"
	}
	return apply(m.world, step)
}

// quiet says that nothing may be deployed, by what the pass has seen.
func (m *model) quiet() bool { return m.seen.TheirDeployment != nil || m.helm != nil }

// Disturb is one edit of somebody's.
func (m *model) Disturb(next func() byte) error {
	w := m.world
	switch b := next(); b % 12 {
	case 0:
		delete(w.Stored, w.Wanted.IDs[int(next())%len(w.Wanted.IDs)])
	case 1:
		if w.Stored[deployment] != nil {
			set(w.Stored[deployment], int64(next()), "spec", "replicas")
		}
	case 2:
		if w.Stored[deployment] != nil {
			set(w.Stored[deployment], "x", "spec", "template", "spec", "nodeSelector", "a")
		}
	case 3:
		if w.Stored[service] != nil {
			set(w.Stored[service], "x", "spec", "selector", string('a'+rune(next()%3)))
		}
	case 4:
		if w.Stored[hooks] != nil && m.helm == nil {
			all := list(w.Stored[hooks], "webhooks")
			w.Stored[hooks]["webhooks"] = slices.Clone(all[:min(len(all), int(next()%4))])
		}
	case 5:
		if w.Stored[hooks] != nil && m.helm == nil {
			for _, each := range list(w.Stored[hooks], "webhooks") {
				set(each.(core.Object), "eA==", "clientConfig", "caBundle")
			}
		}
	case 6:
		m.world.Platform.InfrastructureTopology = []string{"", core.SingleReplica}[next()%2]
	case 7:
		m.theirs = core.Object{"spec": core.Object{"replicas": int64(2)}}
		m.world.TheirDeployment = runtime.DeepCopyJSON(m.theirs)
	case 8:
		m.theirs, m.world.TheirDeployment = nil, nil
	case 9:
		if w.Stored[hooks] != nil {
			set(w.Stored[hooks], "Helm", "metadata", "labels", "app.kubernetes.io/managed-by")
			m.helm = runtime.DeepCopyJSON(w.Stored[hooks])
		}
	case 10:
		if w.Stored[hooks] != nil {
			set(w.Stored[hooks], "x", "metadata", "labels", "env")
			if m.helm != nil {
				m.helm = runtime.DeepCopyJSON(w.Stored[hooks])
			}
		}
	case 11:
		if w.Stored[budget] != nil {
			set(w.Stored[budget], int64(next()), "spec", "minAvailable")
		}
	}
	if w.Stored[hooks] == nil {
		m.helm = nil
	}
	return nil
}

func (m *model) Violation() string {
	switch {
	case m.wrong != "":
		return m.wrong
	case m.helm != nil && !cmp.Equal(m.helm, m.world.Stored[hooks]):
		return "what Helm keeps was changed"
	case !cmp.Equal(m.theirs, m.world.TheirDeployment):
		return "what is CCO's was changed"
	}
	return ""
}

// Stored is all that is there, which a world at rest keeps.
func (m *model) Stored() any { return snapshot(m.world) }

// Rest demands what is wanted, unless another has a webhook; then CCO and Helm go.
func (m *model) Rest(chapter int) (more bool, wrong string) {
	if m.world.TheirDeployment == nil && m.helm == nil {
		for _, id := range m.world.Wanted.IDs {
			if wanted := m.world.Wanted.For(id, m.world.Platform); (wanted == nil) != (m.world.Stored[id] == nil) {
				return false, id.String() + " is there and not wanted, or the other way around"
			}
		}
		single := m.world.Platform.InfrastructureTopology == core.SingleReplica
		if got := m.world.Stored[deployment]["spec"].(core.Object)["replicas"]; (got == int64(1)) != single {
			return false, "the replicas do not follow the topology"
		}
		if len(list(m.world.Stored[hooks], "webhooks")) != 4 {
			return false, "hooks are missing"
		}
	}
	m.theirs, m.world.TheirDeployment, m.helm = nil, nil, nil
	if m.world.Stored[hooks] != nil {
		delete(m.world.Stored[hooks]["metadata"].(core.Object)["labels"].(core.Object), "app.kubernetes.io/managed-by")
	}
	return chapter == 0, ""
}

func start(t testing.TB) func(byte) crash.Model[core.World, core.Step] {
	wanted, first := must.Get(core.Want(settings(t)))(t), stored(t)
	return func(variety byte) crash.Model[core.World, core.Step] {
		m := &model{world: core.World{Wanted: wanted, Stored: map[core.ID]core.Object{}}}
		if variety%2 == 1 {
			maps.Copy(m.world.Stored, snapshot(first))
		}
		return m
	}
}

func FuzzConverge(f *testing.F) {
	crash.Fuzz(f, start(f), []byte{0}, []byte{1}, []byte{0, 1, 0, 2, 0x12, 7, 3, 9, 0, 4, 2}, []byte{1, 0, 9, 0, 1, 0, 6, 1, 0, 0, 0, 4, 3})
}

// TestTheModelSees what a wrong decision would do.
func TestTheModelSees(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(*model){
		"CCO's Deployment changed": func(m *model) { m.world.TheirDeployment = core.Object{"changed": true} },
		"Helm's hooks changed":     func(m *model) { m.helm = core.Object{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := start(t)(1).(*model)
			planted := &crash.Planted[core.World, core.Step]{Model: m, Plant: func() { plant(m) }}
			if err := crash.Run(planted, []byte{0, 2, 0, 2, 0, 2}); err == nil {
				t.Error("the model does not see it")
			}
		})
	}
}
