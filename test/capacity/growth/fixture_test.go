package growth

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
	"github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// sets is how many MachineSets there are.
const sets = 50

// growth is the controller that is watched.
type growth struct {
	stage      *stage.Stage
	controller *stage.Controller
	sets       []*unstructured.Unstructured
	// before is how many passes others have made in this process.
	before int
	// exchanges are those of the present turn that were read already.
	exchanges []awslocal.Entry
	// bundles is how many bundles of certificates there were.
	bundles int
}

// turn is what is true until the credentials change the next time.
type turn struct {
	// caller begins the ARN by which AWS is called.
	caller string
	// exchanges is how often a token is exchanged.
	exchanges int
}

// open starts a cluster with the kinds of OpenShift, and a local AWS.
func open(t *testing.T) *stage.Stage {
	t.Helper()
	if os.Getenv("TABARD_BIN") == "" || os.Getenv("TABARD_LOCALKUBE") == "" {
		t.Fatal("TABARD_BIN and TABARD_LOCALKUBE are not set: run make test")
	}
	s := must.Get(stage.Open(t.Context(), stage.Options{
		Dir: t.TempDir(), Root: testkit.Root(), Tabard: os.Getenv("TABARD_BIN"), Localkube: os.Getenv("TABARD_LOCALKUBE"),
	}))(t)
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	server := &testkit.APIServer{Config: s.Config}
	server.InstallForeign(t, testkit.MachineAPI, testkit.OpenShiftConfig)
	platform := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": map[string]any{"name": "cluster"},
		"spec": map[string]any{"platformSpec": map[string]any{"type": "AWS"}},
	}}
	must.Do(t, s.Cluster.Create(t.Context(), platform))
	status := `{"status":{"infrastructureName":"shop-7xk2p","platform":"AWS","platformStatus":{"type":"AWS","aws":{"region":"us-west-2"}}}}`
	must.Do(t, s.Cluster.Status().Patch(t.Context(), platform, client.RawPatch("application/merge-patch+json", []byte(status))))
	return s
}

// start runs a controller for MachineSets of its own, each of which has a type that
// AWS does not know. That answer is out of date at once here, so that each pass
// over such an object asks AWS.
func start(t *testing.T, s *stage.Stage, webIdentity bool) *growth {
	t.Helper()
	g := &growth{stage: s}
	g.before = g.passes(t)
	for i := range sets {
		name := fmt.Sprintf("growth-%02d", i)
		set := must.Get(stage.MachineSet(name, unknownType(name)))(t)
		must.Do(t, s.Cluster.Create(t.Context(), set))
		g.sets = append(g.sets, set)
	}
	g.controller = must.Get(s.Start(context.WithoutCancel(t.Context()), s.Environment(webIdentity), instancetype.Options{
		Rate: 1e6, Burst: 1000, Negative: time.Nanosecond,
	}))(t)
	t.Cleanup(func() {
		if err := g.controller.Stop(); err != nil {
			t.Error(err)
		}
		for _, set := range g.sets {
			if err := s.Cluster.Delete(context.WithoutCancel(t.Context()), set); err != nil {
				t.Error(err)
			}
		}
	})
	return g
}

func knownType(string) string { return "m5.large" }

func unknownType(set string) string { return set + ".large" }

// play changes all MachineSets until their next change of credentials, and looks
// who called AWS.
func (g *growth) play(t *testing.T, now turn) {
	t.Helper()
	g.awaitCaller(t, now)
	g.change(t, knownType, "2")
	g.change(t, unknownType, "")
	g.settle(t)
	asked := g.readJournal(t, now.caller)
	if asked < sets {
		t.Errorf("as %s AWS was asked %d times, want at least %d", now.caller, asked, sets)
	}
	if len(g.exchanges) != now.exchanges {
		t.Errorf("for %s a token was exchanged %d times, want %d: %+v", now.caller, len(g.exchanges), now.exchanges, g.exchanges)
	}
}

// awaitCaller waits until AWS is called by the turn's caller. Who was asked before
// the change came through is not wrong.
func (g *growth) awaitCaller(t *testing.T, now turn) {
	t.Helper()
	testkit.Await(t, func() error {
		entries, err := g.stage.Journal(t.Context())
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.Service == "ec2" && strings.HasPrefix(entry.Caller, now.caller) {
				return nil
			}
		}
		return fmt.Errorf("there is no new call by %s in the last of %d: %+v", now.caller, len(entries), entries[max(0, len(entries)-5):])
	})
	g.settle(t)
	g.exchanges = nil
	g.readJournal(t, "")
}

// rest lets one object alone ask AWS, by a new connection: how many connections
// are kept depends on how many ask at once, which is chance.
func (g *growth) rest(t *testing.T, now turn) {
	t.Helper()
	g.change(t, knownType, "2")
	one := g.sets[0]
	must.Do(t, g.stage.Cluster.Patch(t.Context(), one.DeepCopy(), stage.ChangeType(unknownType(one.GetName()))))
	g.awaitCaller(t, now)
	g.replaceBundle(t)
	g.awaitCaller(t, now)
}

// readJournal counts calls of EC2 and checks their caller, counts exchanges, and
// clears the journal.
func (g *growth) readJournal(t *testing.T, caller string) (asked int) {
	t.Helper()
	entries := must.Get(g.stage.Journal(t.Context()))(t)
	for _, entry := range entries {
		switch {
		case entry.Operation == "AssumeRoleWithWebIdentity":
			g.exchanges = append(g.exchanges, entry)
		case entry.Service != "ec2":
		case strings.HasPrefix(entry.Caller, caller):
			asked++
		default:
			t.Errorf("%s was called by %s, want %s", entry.Operation, entry.Caller, caller)
		}
	}
	must.Do(t, g.stage.ClearJournal(t.Context()))
	return asked
}

// change gives all MachineSets another type, and waits until each says so.
func (g *growth) change(t *testing.T, instanceType func(set string) string, cpus string) {
	t.Helper()
	for _, set := range g.sets {
		must.Do(t, g.stage.Cluster.Patch(t.Context(), set.DeepCopy(), stage.ChangeType(instanceType(set.GetName()))))
	}
	testkit.Await(t, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(g.sets[0].GroupVersionKind())
		if err := g.stage.Cluster.List(t.Context(), list, client.InNamespace(stage.Namespace)); err != nil {
			return err
		}
		for _, each := range list.Items {
			if got := each.GetAnnotations()[stage.VCPU]; got != cpus {
				return fmt.Errorf("%s has %q CPUs, want %q", each.GetName(), got, cpus)
			}
		}
		return nil
	})
}

// settle waits until no pass has ended for a while.
func (g *growth) settle(t *testing.T) {
	t.Helper()
	last, quiet := g.passes(t), 0
	testkit.Await(t, func() error {
		now := g.passes(t)
		if now != last {
			last, quiet = now, 0
		}
		if quiet++; quiet < 15 {
			return fmt.Errorf("passes go on: %d", now)
		}
		return nil
	})
}
