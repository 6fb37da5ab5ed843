package docs

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// flags move a process away from its usual ports, which another may have, and tell it what
// it has from its pod otherwise. The last word before the example's own flags has them.
var flags = map[string]string{
	"operator":       " --metrics-bind-address=0 --health-probe-bind-address=127.0.0.1:%[1]d",
	"capacity":       " --metrics-bind-address=0 --health-addr=127.0.0.1:%[1]d --leader-elect-resource-namespace=tabard-system",
	"webhook":        " --bind-address=127.0.0.1 --port=%[2]d --metrics-port=%[1]d",
	"ocm-webhook":    " --bind-address=127.0.0.1 --port=%[2]d --metrics-port=%[1]d",
	"tabard-webhook": " --bind-address=127.0.0.1 --port=%[2]d --metrics-port=%[1]d",
}

// TestLongTheExamplesThatStartProcesses types each example that the inventory lists for it twice:
// the process becomes ready, and ends well when it is asked to.
func TestLongTheExamplesThatStartProcesses(t *testing.T) {
	tabard := testkit.Tabard(t)
	texts := map[string]string{}
	for _, p := range append(helps(t, tabard), helps(t, filepath.Join(filepath.Dir(tabard), "tabard-webhook"))...) {
		texts[p.String()] = p.text
	}
	read := must.Get(readInventory(string(must.Get(os.ReadFile(inventoryFile))(t))))(t)
	r := newReader(t)
	crds := strings.Join(append(testkit.MachineAPI.Files(t), testkit.ClusterAPI.Files(t)...), " -f ")
	r.follow(t, "processes", `tabard lab up
eval "$(tabard lab env)"
kubectl apply -f "$ROOT/config/crd" -f "$ROOT/config/manifests" -f "$ROOT/config/rbac" -f `+crds+`
kubectl wait --for=condition=Established --timeout=60s crd --all
`+string(must.Get(os.ReadFile(filepath.Join("testdata", "worlds", "processes.sh")))(t)))
	listed := read.typed["test/docs TestLongTheExamplesThatStartProcesses"]
	if len(listed) == 0 {
		t.Fatal("the inventory lists no example")
	}
	for _, entry := range listed {
		t.Run(texts[entry], func(t *testing.T) {
			for range 2 {
				r.startAndEnd(t, texts[entry])
			}
		})
	}
}

// startAndEnd starts a process, waits until it is ready, and ends it.
func (r reader) startAndEnd(t *testing.T, line string) {
	t.Helper()
	before, _, _ := strings.Cut(line, " --")
	health := testkit.FreePort(t)
	line += fmt.Sprintf(flags[before[strings.LastIndex(before, " ")+1:]], health, testkit.FreePort(t))
	process := testkit.StartProcess(t, r.command(t.Context(), "processes", `eval "$(tabard lab env)"
`+line+` &
trap 'kill $!' TERM
wait $! || wait $!`))
	testkit.Await(t, func() error {
		if process.Ended() {
			t.Fatalf("%s has ended", line)
		}
		answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", health)) //nolint:noctx // it answers at once
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("/readyz answers %s", answer.Status)
		}
		return nil
	})
	process.End()
}
