package testkit

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Process is a program that a test runs, with what it says.
type Process struct {
	*exec.Cmd
	t    testing.TB
	said output
}

// output is what a process has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

// StartProcess starts a command. At the end of the test it is killed, unless it
// has ended; what it said is shown if the test failed.
func StartProcess(t testing.TB, command *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: command, t: t}
	p.Stdout, p.Stderr = &p.said, &p.said
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			p.Kill()
		}
		if t.Failed() {
			t.Logf("what %s said:\n%s", strings.Join(command.Args, " "), p.Log())
		}
	})
	return p
}

// Log is what the process has said so far.
func (p *Process) Log() string {
	p.said.mu.Lock()
	defer p.said.mu.Unlock()
	return p.said.text.String()
}

// End stops the process as the kubelet does. That it is there to be stopped, and
// ends well, says that it did not crash.
func (p *Process) End() {
	p.t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		p.t.Errorf("the process did not end well: %v", err)
	}
}

// Kill ends the process without a chance to do anything.
func (p *Process) Kill() {
	_ = p.Process.Kill()
	_ = p.Wait() // it says that it was killed
}
