package capacity

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// testReplicas: of two replicas one acts. When it is killed the other takes over,
// and writes nothing that is there already. One that is ended gives the lease
// back.
func testReplicas(t *testing.T, c *cluster) {
	s := c.webSite(t, "replicas", "us-west-2")
	elect := []string{"--leader-elect", "--leader-elect-resource-namespace=" + system, "--leader-elect-lease-duration=12s"}
	writes := s.countWrites(t)
	first := s.start(t, elect...)
	first.awaitLeading(t)
	second := s.start(t, elect...)
	before := s.set(t, "before", "m5.large", "us-west-2")
	s.awaitAnnotations(t, before, m5large())
	// Events are sent after the write; a process that is killed sends none.
	s.awaitEvent(t, before, "Normal CapacityAnnotated: Set autoscaling from zero annotations: m5.large in us-west-2 has 2 vCPU, 8192 MiB, 0 GPU, amd64")
	second.checkIdle(t)
	first.Kill()
	after := s.set(t, "after", "m6g.4xlarge", "us-west-2")
	s.awaitAnnotations(t, after, m6g4xlarge())
	s.awaitEvent(t, after, "Normal CapacityAnnotated: Set autoscaling from zero annotations: m6g.4xlarge in us-west-2 has 16 vCPU, 65536 MiB, 0 GPU, arm64")
	second.awaitLeading(t)
	for _, set := range []*unstructured.Unstructured{before, after} {
		if got := s.events(t, set); len(got) != 1 || got[0].Count != 1 {
			t.Errorf("%s has the events:\n%s\nwant one", set.GetName(), s.told(t, set))
		}
		// The labels and our own annotations are two writes.
		if got := writes(set.GetName()); got > 2 {
			t.Errorf("%s was written %d times, want at most 2", set.GetName(), got)
		}
	}
	second.End()
	if holder := s.holder(t); holder != "" {
		t.Errorf("the lease is held by %q after its holder was ended", holder)
	}
	// Nobody waits for a lease that was given back.
	third := s.start(t, elect...)
	third.awaitLeading(t)
}

func (s *site) holder(t *testing.T) string {
	t.Helper()
	var lease coordinationv1.Lease
	must.Do(t, s.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "capa-annotator-leader"}, &lease))
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

const leading = `leader_election_master_status{name="capa-annotator-leader"} 1`

func (p *process) awaitLeading(t *testing.T) {
	t.Helper()
	testkit.Await(t, func() error {
		if text, err := p.read(t); err != nil || !strings.Contains(text, leading) {
			return fmt.Errorf("the replica does not lead: %w", err)
		}
		return nil
	})
}

// checkIdle demands that a replica waits and has looked at nothing.
func (p *process) checkIdle(t *testing.T) {
	t.Helper()
	var text string
	testkit.Await(t, func() (err error) {
		text, err = p.read(t)
		return err
	})
	if strings.Contains(text, leading) {
		t.Error("both replicas lead")
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "tabard_capacity_passes_total{") && !strings.HasSuffix(line, " 0\n") {
			t.Errorf("the replica without the lease acts: %s", line)
		}
	}
}

// countWrites counts the changes of MachineSets from now on, by name.
func (s *site) countWrites(t *testing.T) func(name string) int {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("machine.openshift.io/v1beta1")
	list.SetKind("MachineSetList")
	watcher := must.Get(s.Watch(t.Context(), list, client.InNamespace(s.namespace)))(t)
	t.Cleanup(watcher.Stop)
	var mu sync.Mutex
	counts := map[string]int{}
	go func() {
		for event := range watcher.ResultChan() {
			if object, ok := event.Object.(client.Object); ok && event.Type == watch.Modified {
				mu.Lock()
				counts[object.GetName()]++
				mu.Unlock()
			}
		}
	}()
	return func(name string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[name]
	}
}
