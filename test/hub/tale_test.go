package hub

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// tale is a story that is told step by step, with what was observed in each.
type tale struct {
	*story
	t   *testing.T
	out io.Writer
	// hub is the hub's cluster with its node.
	hub operated
	// person is the environment of the hub's administrator, who types commands.
	person []string
	// controller is Tabard's own role, and id that of the cluster's role.
	controller, id string
}

// chapter is one step of a tale.
type chapter struct {
	// title is a sentence about what is true after the step.
	title string
	// run makes it so, and fails the test if it is not.
	run func(*tale)
}

// newTale is one that is told to the standard output where TABARD_TELL is set, as make demo-hub
// does, and among what the test says elsewhere.
func newTale(t *testing.T) *tale {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	told := &tale{t: t, out: t.Output()}
	if os.Getenv("TABARD_TELL") != "" {
		told.out = os.Stdout
	}
	return told
}

// tell runs the steps. It ends with the first that is not as told.
func (a *tale) tell(chapters []chapter) {
	a.t.Helper()
	start := time.Now()
	for i, each := range chapters {
		a.step(i+1, each)
	}
	fmt.Fprintf(a.out, "\nAll %d steps are as told, in %.1f s.\n", len(chapters), time.Since(start).Seconds())
}

func (a *tale) step(number int, what chapter) {
	a.t.Helper()
	defer func() {
		if a.t.Failed() {
			a.t.Errorf("step %d is not as told: %s", number, what.title)
		}
	}()
	fmt.Fprintf(a.out, "\n%d. %s\n", number, what.title)
	began := time.Now()
	what.run(a)
	a.say("(%.1f s)", time.Since(began).Seconds())
}

// say tells what was observed, unless something before it was not as told: then the test ends.
func (a *tale) say(format string, args ...any) {
	if a.t.Failed() {
		a.t.FailNow()
	}
	for line := range strings.SplitSeq(strings.TrimRight(fmt.Sprintf(format, args...), "\n"), "\n") {
		fmt.Fprintln(a.out, "   "+line)
	}
}

// tabard runs a command of the hub's administrator, which has to succeed, and tells what it prints.
func (a *tale) tabard(args ...string) {
	a.t.Helper()
	a.say("$ tabard %s", strings.Join(args, " "))
	command := exec.CommandContext(a.t.Context(), testkit.Tabard(a.t), args...)
	command.Env = a.person
	printed, err := command.CombinedOutput()
	if err != nil {
		a.t.Fatalf("tabard %s: %v\n%s", strings.Join(args, " "), err, printed)
	}
	a.say("%s", printed)
}

// called tells which calls AWS has in its journal since it was cleared, and by whom, and returns
// Tabard's own.
func (a *tale) called() (own []string) {
	a.t.Helper()
	var order []string
	counts := map[string]int{}
	for _, call := range a.aws.Admin().Journal() {
		line := call.Operation + " by " + call.Caller
		if strings.Contains(call.Caller, ":assumed-role/"+corehub.ControllerRoleName(must.Get(corehub.ParseARN(hubARN))(a.t))+"/") {
			own = append(own, call.Operation)
		}
		if counts[line]++; counts[line] == 1 {
			order = append(order, line)
		}
	}
	a.say("AWS was called:")
	for _, line := range order {
		a.say("  %3d x %s", counts[line], line)
	}
	return own
}
