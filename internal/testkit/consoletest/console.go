// Package consoletest runs "tabard console", and plays scenarios in headless Chromium against it. The
// scenarios are in internal/console/web/test.
package consoletest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Console is a running "tabard console".
type Console struct {
	*testing.T
	// PID is that of its process.
	PID int

	in  io.Writer
	out *bufio.Reader
}

// Start starts the console with flags, and with variables beside those of the test, such as
// KUBECONFIG=FILE. It ends with the test.
func Start(t *testing.T, variables []string, flags ...string) *Console {
	t.Helper()
	command := exec.CommandContext(t.Context(), testkit.Tabard(t), append([]string{"console", "--no-browser"}, flags...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	command.Env = append(os.Environ(), variables...)
	var errors bytes.Buffer
	command.Stderr = &errors
	c := &Console{T: t, in: must.Get(command.StdinPipe())(t), out: bufio.NewReader(must.Get(command.StdoutPipe())(t))}
	must.Do(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the console said:\n%s", &errors)
		}
	})
	c.PID = command.Process.Pid
	if _, err := c.out.ReadString('\n'); err != nil {
		t.Fatalf("the console prints no address: %v\n%s", err, &errors)
	}
	return c
}

// Another is a new address, as for somebody who presses Enter.
func (c *Console) Another() string {
	c.Helper()
	must.Get(io.WriteString(c.in, "\n"))(c)
	return strings.TrimSpace(must.Get(c.out.ReadString('\n'))(c))
}

// Plays plays a scenario in a browser of its own. What it found wrong fails the test. Its pictures are in
// bin/console.
func (c *Console) Plays(name string, data map[string]string) {
	c.Helper()
	pictures := filepath.Join(testkit.Root(), "bin", "console")
	must.Do(c, os.MkdirAll(pictures, 0o755))
	given := must.Get(json.Marshal(map[string]any{"address": c.Another(), "pictures": pictures, "data": data}))(c)
	command := exec.CommandContext(c.Context(), "node", "test/play.mjs", name)
	command.Dir = filepath.Join(testkit.Root(), "internal", "console", "web")
	command.Stdin = bytes.NewReader(given)
	out, err := command.CombinedOutput()
	if err != nil {
		c.Errorf("scenario %s: %v\n%s", name, err, out)
	} else if len(out) > 0 {
		c.Logf("scenario %s:\n%s", name, out)
	}
}
