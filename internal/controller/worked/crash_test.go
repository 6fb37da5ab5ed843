package worked_test

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

// model is one object and the cloud.
type model struct {
	crash.Plain
	queue  Queue
	exists bool
	plan   Plan
}

func (m *model) Observe() World {
	return World{Queue: m.queue.DeepCopyObject().(*Queue), Exists: m.exists, Now: time.Unix(0, 0)}
}

func (m *model) Decide(w World) []Step {
	m.plan = Decide(w)
	return m.plan.Steps
}

func (m *model) Perform(step Step, fail bool) error {
	if fail {
		return errors.New("it fails")
	}
	switch step.(type) {
	case Hold:
		m.queue.Finalizers = []string{Finalizer}
	case Release:
		m.queue.Finalizers = nil
	case Record:
		m.queue.Status = *m.plan.Status.DeepCopy()
	case Make:
		m.exists = true
	case Remove:
		m.exists = false
	}
	return nil
}

// Disturb has somebody delete the queue by hand.
func (m *model) Disturb(func() byte) error { m.exists = false; return nil }

// Violation: what exists is held by the finalizer, and found from the status.
func (m *model) Violation() string {
	if m.exists && (len(m.queue.Finalizers) == 0 || m.queue.Status.Name == "") {
		return "a queue exists that no deletion would find"
	}
	return ""
}

// Rest demands the queue of an object at rest, deletes the object, and demands nothing.
func (m *model) Rest(chapter int) (more bool, wrong string) {
	if m.exists != (chapter == 0) {
		return false, "the queue does not follow the object"
	}
	m.queue.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	return chapter == 0, ""
}

func FuzzConverge(f *testing.F) {
	crash.Fuzz(f, func(byte) crash.Model[World, Step] { return &model{} }, []byte{0}, []byte{0, 1, 0, 0x12, 0, 0x9f, 2, 3, 4})
}
