// Package attack runs attacks on the webhook as a process of its own, with the
// memory limit of its manifest, while a real API server creates pods: none of them may
// lose its identity.
package attack

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/hack/load/measure"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// flood is the program that attacks.
var flood string

func TestMain(m *testing.M) {
	os.Exit(testkit.RunWithProgram(m, filepath.Join(testkit.Root(), "hack", "webhookflood"), &flood))
}

// attack is a running flood.
type attack struct {
	command *exec.Cmd
	ended   chan error
	mu      sync.Mutex
	said    struct{ Open, Opened, Most, Answered, Failed, P99 int64 }
}

// begin starts a flood, which the end of the test ends.
func begin(t *testing.T, args ...string) *attack {
	t.Helper()
	a := &attack{command: exec.CommandContext(context.WithoutCancel(t.Context()), flood, args...), ended: make(chan error, 1)}
	out := must.Get(a.command.StdoutPipe())(t)
	a.command.Stderr = os.Stderr
	must.Do(t, a.command.Start())
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			a.mu.Lock()
			if err := json.Unmarshal(lines.Bytes(), &a.said); err != nil {
				t.Errorf("the flood says %s: %v", lines.Text(), err)
			}
			a.mu.Unlock()
		}
		a.ended <- a.command.Wait()
	}()
	t.Cleanup(func() { a.end(t) })
	return a
}

// end ends the flood.
func (a *attack) end(t *testing.T) {
	if a.ended == nil {
		return
	}
	_ = a.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case err := <-a.ended:
		if err != nil {
			t.Errorf("the flood ends with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the flood does not end")
		_ = a.command.Process.Kill()
	}
	a.ended = nil
}

// await waits until the flood has done so much.
func (a *attack) await(t *testing.T, what string, is func(opened, most int64) bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		a.mu.Lock()
		opened, most := a.said.Opened, a.said.Most
		a.mu.Unlock()
		if is(opened, most) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the flood has opened %d, %d at a time; %s does not come", opened, most, what)
		}
	}
}

// peak is the most memory that the webhook has had, in MiB. If it has ended it has none.
func (w *webhook) peak(t testing.TB) int64 {
	t.Helper()
	used, err := measure.Of(w.PID())
	if err != nil {
		t.Fatalf("the webhook does not live: %v", err)
	}
	return used.Peak >> 20
}

// quote is JSON.
func quote(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// webhook is the process that is attacked.
type webhook struct {
	*testkit.Process
	address, metrics string
	chain            []byte
}

// memoryLimit is what the manifest gives the webhook.
const memoryLimit = "--memory-limit=256Mi"

// start runs the webhook.
func start(t testing.TB, kubeconfig string, flags ...string) *webhook {
	t.Helper()
	dir := t.TempDir()
	a := newAuthority(t)
	write(t, filepath.Join(dir, "tls.crt"), a.chain)
	write(t, filepath.Join(dir, "tls.key"), encodeKey(t, a.key))
	port, metrics := testkit.FreePort(t), testkit.FreePort(t)
	w := &webhook{address: fmt.Sprintf("127.0.0.1:%d", port), metrics: fmt.Sprintf("http://127.0.0.1:%d", metrics), chain: a.chain}
	w.Process = testkit.StartTabard(t, nil, append([]string{
		"webhook", "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", port), fmt.Sprintf("--metrics-port=%d", metrics), memoryLimit,
		"--tls-cert=" + filepath.Join(dir, "tls.crt"), "--tls-key=" + filepath.Join(dir, "tls.key"), "--kubeconfig=" + kubeconfig, "--drain-time=0s",
	}, flags...)...)
	testkit.Await(t, func() error {
		if code, says := get(t, w.metrics+"/readyz"); code != http.StatusOK {
			return fmt.Errorf("the webhook is not ready: %d %s", code, says)
		}
		return nil
	})
	return w
}

// value reads one metric; 0 if it is not there.
func (w *webhook) value(t testing.TB, name string) (found float64) {
	t.Helper()
	_, text := get(t, w.metrics+"/metrics")
	for line := range strings.Lines(text) {
		if rest, is := strings.CutPrefix(line, name+" "); is {
			if _, err := fmt.Sscan(rest, &found); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	return found
}
