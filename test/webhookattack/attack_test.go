// Package webhookattack runs attacks on the webhook as a process of its own, with the
// memory limit of its manifest, while a real API server creates pods: none of them may
// lose its identity.
package webhookattack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	out, err := a.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.command.Stderr = os.Stderr
	if err := a.command.Start(); err != nil {
		t.Fatal(err)
	}
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

// peak is the most memory that a process has had, in MiB. A process that has ended has
// none.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	used, err := measure.Of(pid)
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
	address, metrics string
	chain            []byte
	command          *exec.Cmd
	log              bytes.Buffer
}

const ready = "/readyz"

// start runs the webhook.
func start(t *testing.T, kubeconfig string, flags ...string) *webhook {
	t.Helper()
	program := os.Getenv("TABARD_BIN")
	if program == "" {
		t.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	dir := t.TempDir()
	chain, key := serving(t)
	files := map[string][]byte{"tls.crt": chain, "tls.key": key}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	port, metrics := testkit.FreePort(t), testkit.FreePort(t)
	w := &webhook{address: fmt.Sprintf("127.0.0.1:%d", port), metrics: fmt.Sprintf("http://127.0.0.1:%d", metrics), chain: chain}
	args := append([]string{
		"webhook", "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", port), fmt.Sprintf("--metrics-port=%d", metrics),
		"--tls-cert=" + filepath.Join(dir, "tls.crt"), "--tls-key=" + filepath.Join(dir, "tls.key"), "--kubeconfig=" + kubeconfig, "--drain-time=0s",
	}, flags...)
	w.command = exec.Command(program, args...) //nolint:noctx // the test's end ends it
	w.command.Stderr = &w.log
	if err := w.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.command.Process.Kill() // it may have ended by itself
		_ = w.command.Wait()
		if t.Failed() {
			t.Logf("the webhook's log:\n%s", last(w.log.String(), 4000))
		}
	})
	w.await(t)
	return w
}

func last(text string, most int) string { return text[max(0, len(text)-most):] }

// value reads one metric; 0 if it is not there.
func (w *webhook) value(t *testing.T, name string) (found float64) {
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
