package beside

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	standin "github.com/tabard-dev/tabard/test/credentials/cco"
)

// length is how long both work: TABARD_BESIDE_TIME says another time.
func length(t *testing.T) time.Duration {
	t.Helper()
	if said := os.Getenv("TABARD_BESIDE_TIME"); said != "" {
		return must.Get(time.ParseDuration(said))(t)
	}
	return time.Minute
}

// seed repeats what the driver does: TABARD_BESIDE_SEED says another one.
func seed(t *testing.T) uint64 {
	t.Helper()
	if said := os.Getenv("TABARD_BESIDE_SEED"); said != "" {
		return must.Get(strconv.ParseUint(said, 10, 64))(t)
	}
	return 1
}

// TestLongSideBySide has both work on requests and modes that change, the operator drained
// now and then, until all requests are deleted: no rule is broken. Then comes a Tabard
// that is told that there is no operator: the rules see what it does.
func TestLongSideBySide(t *testing.T) {
	w := newWorld(t)
	w.operator = standin.Start(t, w.Dynamic, w.iam, standin.Manual)
	before := w.roles()
	recorder := w.record(t)
	process := w.start(t)
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
	process.End()
	t.Run("a Tabard that does not see the operator is caught", w.blind)
}

// blind runs a Tabard that is told something wrong: while the operator is drained it
// serves a request for a Secret.
func (w *world) blind(t *testing.T) {
	recorder := w.record(t)
	driver := recorder.driver(seed(t))
	driver.drain(t)
	w.start(t, "--cloud-credential-operator=absent")
	w.Make(driver.request("blind", provide("s3:GetObject", "*", givenRole)))
	w.Await(func() error {
		said := broken(recorder.soFar())
		for _, rule := range []string{"neither spec nor status of a request is Tabard's", "a request that is another's is left alone"} {
			if !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, rule+": CredentialsRequest shop/blind") }) {
				return fmt.Errorf("the rules do not say that %q is broken; they say %q", rule, said)
			}
		}
		return nil
	})
	driver.resume(t)
	recorder.finish(t)
}

// operations counts Tabard's calls by operation.
func operations(r Recording) map[string]int {
	out := map[string]int{}
	for _, call := range r.Calls {
		out[call.Operation]++
	}
	return out
}

// vacuous wants that what the rules are about has happened.
func vacuous(t *testing.T, d *driver, r Recording) {
	t.Helper()
	calls, wrote, keys := operations(r), map[string]int{}, 0
	for _, w := range r.Writes {
		wrote[w.By]++
	}
	for _, v := range r.Versions {
		if v.Kind == kindSecret && slices.Contains(v.Fields[cco], "f:data f:aws_access_key_id") {
			keys++
		}
	}
	for what, count := range map[string]int{
		"roles made": calls["CreateRole"], "roles deleted": calls["DeleteRole"], "the operator was drained": d.did["drained"],
		"writes by Tabard": wrote[tabard], "writes by the operator": wrote[cco], "modes seen by Tabard": d.did["settled"],
		"Secrets with keys of the operator": keys,
	} {
		if count == 0 {
			t.Errorf("%s: not once, so this test shows nothing of it", what)
		}
	}
}
