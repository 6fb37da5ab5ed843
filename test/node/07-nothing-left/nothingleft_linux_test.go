// Package nothingleft proves that a lab with a node, pods on it and rules for them
// leaves the machine as it was. Other labs may run beside it; a lock that kept them
// away would have them wait for each other by the minute, so what is theirs is told
// apart by its name.
package nothingleft

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

func TestNodeNothingIsLeftOfALab(t *testing.T) {
	for name, killed := range map[string][]string{
		"taken down as it runs":               nil,
		"whose holder was killed":             {lab.Holder},
		"whose kubelet and runtime are dead":  {lab.Kubelet, lab.Containerd},
		"of which only the pods are left":     {lab.Holder, lab.Kubelet, lab.Containerd, lab.Proxy},
		"whose control plane is dead already": {lab.Etcd, lab.APIServer, lab.ControllerManager, lab.Scheduler, lab.LocalAWS},
	} {
		t.Run(name, func(t *testing.T) { testNothingIsLeft(t, killed) })
	}
}

func testNothingIsLeft(t *testing.T, killed []string) {
	m := newMachine(t)
	before := m.take()
	l := up(t)
	of, err := lab.Load(l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	run(t, l, "apply", "-f", "deployment.yaml")
	run(t, l, "rollout", "status", "deployment/app", "--timeout=180s")
	traces := &trace{dir: l.Dir, group: of.Node.Cgroup, namespaces: map[string]bool{}, known: map[string]bool{}}
	count := traces.follow()
	own := traces.identity()
	running := m.take()
	running["processes"] = traces.list()
	told := compare(before, running, own)
	t.Logf("while it is up: %d processes, %d differences", count, len(told))
	for _, aspect := range []string{"processes", "links", "addresses", "routes", "control groups"} {
		if !strings.Contains("\n"+strings.Join(told, "\n"), "\n"+aspect+": was not there: ") {
			t.Errorf("the %s of a lab that is up are not seen, so that nothing would be seen of one that is down", aspect)
		}
	}
	for _, name := range killed {
		kill(t, of, name)
	}
	began := time.Now()
	must.Do(t, l.Down(t.Context(), false))
	t.Logf("down after %.1f s", time.Since(began).Seconds())
	// Of other labs something may be half made or half gone.
	err = onlab.Eventually(t.Context(), onlab.Patience, func(context.Context) error {
		after := m.take()
		after["processes"] = traces.list()
		return unlessEmpty(compare(before, after, own))
	})
	if err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(l.Dir); err != nil && !errors.Is(err, os.ErrNotExist) || len(left) > 0 {
		t.Errorf("of the lab's folder is left %v, %v", left, err)
	}
}

func unlessEmpty(differences []string) error {
	if len(differences) == 0 {
		return nil
	}
	return errors.New(strings.Join(differences, "\n"))
}

// up starts a lab with a node, which the test's end takes down if it still is there.
func up(t *testing.T) *onlab.Lab {
	t.Helper()
	dir, err := os.MkdirTemp("", "node-") // t.TempDir's are too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	l := must.Get(onlab.At(testkit.Root(), dir))(t)
	t.Cleanup(func() {
		if err := errors.Join(l.Down(context.WithoutCancel(t.Context()), false), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	must.Do(t, l.Up(t.Context(), "--node"))
	return l
}

func run(t *testing.T, l *onlab.Lab, args ...string) {
	t.Helper()
	must.Get(l.Kubectl(t.Context(), args...))(t)
}

// kill ends a process of the lab as a machine short of memory does.
func kill(t *testing.T, of lab.Lab, name string) {
	t.Helper()
	record, found, err := of.Processes().Get(name)
	if err != nil || !found {
		t.Fatalf("%s: %t, %v", name, found, err)
	}
	if err := syscall.Kill(record.PID, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %s: %v", name, err)
	}
}
