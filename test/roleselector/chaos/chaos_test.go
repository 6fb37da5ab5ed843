package chaos

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
)

// program is the controller of the examples, built.
var program string

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.RunWithProgram(m, "../../../examples/bucket-controller", &program))
}

var (
	seed = flag.Uint64("seed", 0, "the seed of the chaos; 0 is one of its own for each run")
	span = flag.Duration("span", 30*time.Second, "how long the chaos lasts")
)

// TestLongEveryCallHasASelectorState lets the controller work in chaos. A run of an hour,
// and one that keeps the controller's log and begins as another did, are
//
//	go test -timeout 2h -run EveryCall -v ./test/roleselector/chaos -args -span 1h
//	go test -run EveryCall -v -artifacts ./test/roleselector/chaos -args -seed 7
func TestLongEveryCallHasASelectorState(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) //nolint:gosec // any number will do
	}
	t.Logf("the seed is %d", *seed)
	w := newWorld(t)
	w.AWS.MakeForeign(w, accountOf(alphaRole), "nobody-asked", map[string]string{ownerTag: "somebody"}, true)
	w.AWS.MakeForeign(w, accountOf(alphaRole), bucketName(key{"prod", "b0"}), map[string]string{"owner": "us"}, true)
	w.AWS.MakeForeign(w, accountOf(betaRole), bucketName(key{"test", "b0"}), nil, true)
	w.AWS.MakeForeign(w, accountOf(alphaRole), bucketName(key{"test", "b1"}), nil, false)
	w.AWS.MakeForeign(w, accountOf(ownRole), bucketName(key{"edge", "b0"}), map[string]string{ownerTag: "somebody"}, false)
	foreign := w.stock()
	late := measureLateness(t)
	controller := w.control()
	counts := w.disturbed(controller)

	// Refused roles are remembered for longer than anybody wants to wait here.
	controller.Restart()
	w.settle(foreign)
	w.inspect(foreign)
	w.pacify(counts)
	w.settle(foreign)
	w.inspect(foreign)
	amid, _ := moves(w.tell().resources)
	w.relocate(controller, counts)
	w.settle(foreign)
	w.inspect(foreign)
	controller.Kill()
	w.collect()

	history := w.tell()
	checker := newChecker(ownRole, administrators(), history)
	checker.late = hops * late()
	found, checked := checker.check(w.journal)
	for _, each := range found {
		t.Error(w.narrate(each, history))
	}
	t.Logf("%d calls checked, %d violations, %v allowed for the machine; %s", checked, len(found), checker.late, listed(counts))
	w.demandVariety(checked, counts)
	times, faults := moves(history.resources)
	for _, fault := range faults {
		t.Error(fault)
	}
	if t.Logf("%d changes of account amid chaos, %d after it", amid, times-amid); times == amid {
		t.Error("no Bucket has moved to another account: the run says little")
	}
}

// hops are the processes through which a change goes before it ends a call: etcd, the API
// server, the wire and the controller. A machine with too much to do keeps each waiting.
const hops = 4

// measureLateness says by how much this process was woken late at the most, until it is
// asked.
func measureLateness(t *testing.T) (most func() time.Duration) {
	const tick = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var worst time.Duration
	var measuring sync.WaitGroup
	measuring.Go(func() {
		for began := time.Now(); pause(ctx, tick); began = time.Now() {
			worst = max(worst, time.Since(began)-tick)
		}
	})
	return func() time.Duration {
		cancel()
		measuring.Wait()
		return worst
	}
}

// disturbed makes all trouble for a while, and returns what it was.
func (w *world) disturbed(c *testkit.Process) map[string]int {
	ctx, cancel := context.WithTimeout(w.Context(), *span)
	defer cancel()
	changes := &disturber{world: w, dice: newDice(*seed), counts: map[string]int{}}
	troubles := &trouble{world: w, controller: c, dice: newDice(*seed + 1), counts: map[string]int{}}
	var running sync.WaitGroup
	running.Go(func() { changes.disturb(ctx) })
	running.Go(func() { troubles.make(ctx) })
	running.Wait()
	w.wire.mend()
	w.AWS.Admin().ClearFaults()
	maps.Copy(changes.counts, troubles.counts)
	return changes.counts
}

// pacify leaves one selector for each namespace, and makes a Bucket with it: there may
// be none that can move otherwise.
func (w *world) pacify(counts map[string]int) {
	d := &disturber{world: w, dice: newDice(*seed), counts: counts}
	for _, name := range selectorNames {
		d.remove(selectors, key{name: name}, "selectors deleted")
	}
	for i, home := range homes {
		for _, name := range []string{"c0", "c1"} {
			d.remove(choices, key{home, name}, "choices deleted")
		}
		d.put(selectors, d.made(selectors, key{name: "peace-" + home}, v1alpha1.IAMRoleSelectorSpec{
			ARN: teamRoles[i], NamespaceSelector: &v1alpha1.NamespaceSelector{Names: []string{home}},
		}), "selectors made")
		k := key{home, "late"}
		d.put(buckets, d.made(buckets, k, map[string]any{"name": bucketName(k)}), "buckets made")
	}
}

func listed(counts map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[what], what))
	}
	return strings.Join(parts, ", ")
}

// demandVariety fails a run that has shown little.
func (w *world) demandVariety(checked int, counts map[string]int) {
	w.Helper()
	roles := map[string]int{}
	for _, call := range w.journal {
		if call.Service == "s3" {
			roles[roleOf(call.Caller)]++
		}
	}
	for _, role := range append([]string{ownRole}, teamRoles...) {
		w.Logf("%6d calls of S3 with %s", roles[role], role)
	}
	if checked < 100 || len(counts) < 10 {
		w.Errorf("only %d calls were checked, after %d kinds of trouble: the run says little", checked, len(counts))
	}
}
