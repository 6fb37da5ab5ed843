package beside

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// length is how long both work: TABARD_BESIDE_TIME says another time.
func length(t *testing.T) time.Duration {
	t.Helper()
	if said := os.Getenv("TABARD_BESIDE_TIME"); said != "" {
		return must.Get(time.ParseDuration(said))(t)
	}
	if testing.Short() {
		return 10 * time.Second
	}
	return 60 * time.Second
}

// seed repeats what the driver does: TABARD_BESIDE_SEED says another one.
func seed(t *testing.T) uint64 {
	t.Helper()
	if said := os.Getenv("TABARD_BESIDE_SEED"); said != "" {
		return must.Get(strconv.ParseUint(said, 10, 64))(t)
	}
	return 1
}

// TestSideBySide has both work on requests and modes that change, the operator drained
// now and then, until all requests are deleted: no rule is broken.
func TestSideBySide(t *testing.T) {
	w := newWorld(t)
	before := w.roles()
	recorder := w.record(t)
	w.start(t)
	driver := recorder.driver(seed(t))
	driver.drive(t, length(t))
	left := w.end()
	recording := recorder.finish(t)
	recording.Before, recording.After, recording.Left = before, w.roles(), left
	t.Logf("done: %v; %d versions, %d writes, Tabard's calls: %v", driver.did, len(recording.Versions), len(recording.Writes), operations(recording))
	for _, what := range broken(recording) {
		t.Error(what)
	}
	vacuous(t, driver, recording)
}

// vacuous wants that what the rules are about has happened.
func vacuous(t *testing.T, d *driver, r Recording) {
	t.Helper()
	calls, wrote := operations(r), map[string]int{}
	for _, w := range r.Writes {
		wrote[w.By]++
	}
	for what, count := range map[string]int{
		"roles made": calls["CreateRole"], "roles deleted": calls["DeleteRole"], "drained": d.did["drained"],
		"writes by Tabard": wrote[tabard], "writes by the operator": wrote[cco], "modes seen by Tabard": d.did["settled"],
	} {
		if count == 0 {
			t.Errorf("%s: none, so this test shows nothing of it", what)
		}
	}
}

// TestATabardThatDoesNotSeeTheOperatorIsCaught: one that is told that there is no
// operator breaks rules beside one.
func TestATabardThatDoesNotSeeTheOperatorIsCaught(t *testing.T) {
	w := newWorld(t)
	recorder := w.record(t)
	w.start(t, "--cloud-credential-operator=absent")
	recorder.driver(seed(t)).drive(t, 6*time.Second)
	said := broken(recorder.finish(t))
	for _, want := range []string{"no field is written by both", "neither spec nor status", "a request that is another's"} {
		if !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("the rules do not say that %q is broken; they say %q", want, said)
		}
	}
}
