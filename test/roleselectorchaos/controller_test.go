package roleselectorchaos

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// program is the controller of the examples, built.
var program string

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.RunWithProgram(m, "../../examples/bucket-controller", &program))
}

// controller is the program as a process that is started anew when it is killed, as
// the kubelet does.
type controller struct {
	t    *testing.T
	args []string
	env  []string
	log  *os.File

	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{}
}

func startController(t *testing.T, args, env []string) *controller {
	t.Helper()
	log, err := os.Create(filepath.Join(t.ArtifactDir(), "controller.log"))
	if err != nil {
		t.Fatal(err)
	}
	c := &controller{t: t, args: args, env: env, log: log}
	c.start()
	t.Cleanup(func() {
		c.end()
		if t.Failed() {
			c.tellLog()
		}
		_ = log.Close()
	})
	return c
}

func (c *controller) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	process := exec.CommandContext(context.WithoutCancel(c.t.Context()), program, c.args...)
	process.Env, process.Stdout, process.Stderr = c.env, c.log, c.log
	if err := process.Start(); err != nil {
		c.t.Errorf("start the controller: %v", err)
		return
	}
	ended := make(chan struct{})
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	c.process, c.ended = process, ended
}

// end kills the process, which is given no time for anything, and waits for it.
func (c *controller) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return
	}
	_ = c.process.Process.Kill()
	<-c.ended
	c.process = nil
}

// kill ends the process and starts it anew.
func (c *controller) kill() {
	c.end()
	c.start()
}

// revive starts the process anew if it has ended by itself: it does so when it
// cannot reach the API server at its start.
func (c *controller) revive() {
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	select {
	case <-ended:
		c.start()
	default:
	}
}

// tellLog shows the end of what the process wrote.
func (c *controller) tellLog() {
	text, err := os.ReadFile(c.log.Name())
	if err != nil {
		c.t.Log(err)
	}
	c.t.Logf("the end of the controller's log:\n%s", text[max(0, len(text)-8000):])
}
