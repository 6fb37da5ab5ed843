package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Process is a program that a test runs, with what it says. One goroutine at a time
// may use it, which need not be the test's.
type Process struct {
	t testing.TB
	// command is as it runs now, or ran last.
	command *exec.Cmd
	log     *os.File
	// ended is closed when the command has ended, with err.
	ended chan struct{}
	err   error
	// stopped says that the test has ended it.
	stopped bool
}

// StartProcess starts a command, whose streams it takes. At the end of the test it
// is killed, unless it has ended; the end of what it said is shown if the test
// failed, and all of it is among the test's artifacts.
func StartProcess(t testing.TB, command *exec.Cmd) *Process {
	t.Helper()
	p := startUnshown(t, command)
	t.Cleanup(func() {
		if t.Failed() {
			text := p.Log()
			t.Logf("the end of what %s said:\n%s", strings.Join(command.Args, " "), text[max(0, len(text)-8000):])
		}
	})
	return p
}

// startUnshown is StartProcess for a program that is not what the test is about.
func startUnshown(t testing.TB, command *exec.Cmd) *Process {
	t.Helper()
	log := must.Get(os.CreateTemp(t.ArtifactDir(), filepath.Base(command.Path)+"-*.log"))(t)
	p := &Process{t: t, command: command, log: log}
	must.Do(t, p.start())
	t.Cleanup(func() {
		p.Kill()
		_ = log.Close()
	})
	return p
}

func (p *Process) start() error {
	p.command.Stdout, p.command.Stderr = p.log, p.log
	command, ended := p.command, make(chan struct{})
	p.ended, p.stopped = ended, false
	if p.err = command.Start(); p.err != nil {
		close(ended)
		return p.err
	}
	go func() {
		p.err = command.Wait()
		close(ended)
	}()
	return nil
}

// Restart starts the program anew with its arguments, environment and folder, as
// the kubelet does when it has ended. One that still runs is killed.
func (p *Process) Restart() {
	p.t.Helper()
	p.Kill()
	before := p.command
	p.command = &exec.Cmd{Path: before.Path, Args: before.Args, Env: before.Env, Dir: before.Dir}
	if err := p.start(); err != nil {
		p.t.Errorf("start %s: %v", before.Path, err)
	}
}

// PID is the process's ID.
func (p *Process) PID() int { return p.command.Process.Pid }

// Log is what the process has said so far.
func (p *Process) Log() string {
	p.t.Helper()
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		p.t.Error(err)
	}
	return string(text)
}

// Ended says whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// ExitCode waits until the process has ended by itself; -1 says that a signal ended
// it.
func (p *Process) ExitCode() int {
	<-p.ended
	return p.command.ProcessState.ExitCode()
}

// End stops the process as the kubelet does, unless the test has ended it before.
// That it is there to be stopped, and ends well, says that it did not crash.
func (p *Process) End() {
	p.t.Helper()
	if p.stopped {
		return
	}
	p.stopped = true
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Errorf("the process cannot be stopped: %v", err)
	}
	<-p.ended
	if p.err != nil {
		p.t.Errorf("the process did not end well: %v", p.err)
	}
}

// Kill ends the process without a chance to do anything.
func (p *Process) Kill() {
	p.stopped = true
	if !p.Ended() {
		_ = p.command.Process.Kill() // it may have ended by now
	}
	<-p.ended
}
