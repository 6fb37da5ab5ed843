package worked_test

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/crash"
	core "github.com/tabard-dev/tabard/internal/testkit/worked"
)

// model is one object and its bucket, which somebody else may have.
type model struct {
	crash.Plain
	mailbox       core.Mailbox
	ours, foreign bool
	plan          core.Plan
}

func (m *model) Observe() core.World {
	return core.World{Mailbox: m.mailbox.DeepCopyObject().(*core.Mailbox), Ours: m.ours, Foreign: m.foreign, Now: time.Unix(0, 0)}
}

func (m *model) Decide(w core.World) []core.Step {
	m.plan = core.Decide(w)
	return m.plan.Steps
}

func (m *model) Perform(step core.Step, fail bool) error {
	if fail {
		return errors.New("it fails")
	}
	switch step.(type) {
	case core.Hold:
		m.mailbox.Finalizers = []string{core.Finalizer}
	case core.Release:
		m.mailbox.Finalizers = nil
	case core.Record:
		m.mailbox.Status = *m.plan.Status.DeepCopy()
	case core.Make:
		m.ours = !m.foreign
	case core.Remove:
		m.ours = false
	}
	return nil
}

// Disturb has somebody delete the bucket by hand.
func (m *model) Disturb(func() byte) error { m.ours = false; return nil }

// Violation: what is ours is held by the finalizer, and found from the status.
func (m *model) Violation() string {
	if m.ours && (len(m.mailbox.Finalizers) == 0 || m.mailbox.Status.Bucket == "") {
		return "a bucket exists that no deletion would find"
	}
	return ""
}

// Rest demands the bucket of an object at rest, deletes the object, and demands nothing.
func (m *model) Rest(chapter int) (more bool, wrong string) {
	if m.ours != (chapter == 0 && !m.foreign) {
		return false, "the bucket does not follow the object"
	}
	m.mailbox.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	return chapter == 0, ""
}

func FuzzConverge(f *testing.F) {
	start := func(variety byte) crash.Model[core.World, core.Step] { return &model{foreign: variety == 1} }
	crash.Fuzz(f, start, []byte{0}, []byte{1}, []byte{0, 1, 0, 0x12, 0, 0x9f, 2, 3, 4})
}
