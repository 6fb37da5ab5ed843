// Package console proves what people see of "tabard console" in a real browser, headless Chromium,
// against the real program. The scenarios are in internal/console/web/test.
package console

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

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// root is that of the checkout.
const root = "../.."

// console is a running "tabard console".
type console struct {
	*testing.T
	in      io.Writer
	out     *bufio.Reader
	address string
	pid     int
}

// start starts the console with flags, and ends it with the test.
func start(t *testing.T, flags ...string) *console {
	t.Helper()
	command := exec.CommandContext(t.Context(), testkit.Tabard(t), append([]string{"console", "--no-browser"}, flags...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	var errors bytes.Buffer
	command.Stderr = &errors
	c := &console{T: t, in: must.Get(command.StdinPipe())(t), out: bufio.NewReader(must.Get(command.StdoutPipe())(t))}
	must.Do(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the console said:\n%s", &errors)
		}
	})
	c.pid = command.Process.Pid
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the console prints no address: %v\n%s", err, &errors)
	}
	c.address = strings.TrimSpace(line)
	return c
}

// another is a new address, as for somebody who presses Enter.
func (c *console) another() string {
	c.Helper()
	must.Get(io.WriteString(c.in, "\n"))(c)
	return strings.TrimSpace(must.Get(c.out.ReadString('\n'))(c))
}

// plays plays a scenario in a browser of its own. What it found wrong fails the test. Its pictures are in
// bin/console.
func (c *console) plays(name string, data map[string]string) {
	c.Helper()
	pictures := must.Get(filepath.Abs(filepath.Join(root, "bin", "console")))(c)
	must.Do(c, os.MkdirAll(pictures, 0o755))
	given := must.Get(json.Marshal(map[string]any{"address": c.another(), "pictures": pictures, "data": data}))(c)
	command := exec.CommandContext(c.Context(), "node", "test/play.mjs", name)
	command.Dir = filepath.Join(root, "internal", "console", "web")
	command.Stdin = bytes.NewReader(given)
	out, err := command.CombinedOutput()
	if err != nil {
		c.Errorf("scenario %s: %v\n%s", name, err, out)
	} else if len(out) > 0 {
		c.Logf("scenario %s:\n%s", name, out)
	}
}

func TestBrowserShowsTheOperatorsOfACluster(t *testing.T) {
	c := shared(t)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("list", nil)
}
