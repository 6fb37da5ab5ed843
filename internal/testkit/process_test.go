package testkit

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func sh(t *testing.T, script string) *Process {
	t.Helper()
	return StartProcess(t, exec.CommandContext(t.Context(), "/bin/sh", "-c", script))
}

func TestAProcessThatEndsByItselfHasAnExitCodeAndALog(t *testing.T) {
	p := sh(t, "echo to one; echo to the other >&2; exit 3")
	if code := p.ExitCode(); code != 3 || !p.Ended() || p.Log() != "to one\nto the other\n" {
		t.Errorf("exit code %d, ended %t, said %q", code, p.Ended(), p.Log())
	}
}

func TestAProcessIsStartedAnewAndItsLogGoesOn(t *testing.T) {
	p := sh(t, "echo begun; read -r line")
	<-p.ended // its input is empty
	first := p.PID()
	p.Restart()
	p.ExitCode()
	if p.PID() == first || p.Log() != "begun\nbegun\n" {
		t.Errorf("the processes %d and %d have said %q", first, p.PID(), p.Log())
	}
}

// failures is a test that a process reports to.
type failures struct {
	*testing.T
	told []string
}

func (f *failures) Errorf(format string, _ ...any) { f.told = append(f.told, format) }

// TestOnlyACrashIsNoGoodEnd: what is checked by every test that ends a process.
func TestOnlyACrashIsNoGoodEnd(t *testing.T) {
	const waits = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done"
	for name, c := range map[string]struct {
		script string
		before func(*Process)
		want   string
	}{
		"one that ends when it is told to": {waits, func(*Process) {}, ""},
		"one that ends badly":              {strings.Replace(waits, "exit 0", "exit 1", 1), func(*Process) {}, "did not end well"},
		"one that has crashed":             {"echo ready; exit 1", func(p *Process) { <-p.ended }, "cannot be stopped"},
		"one that has ended too early":     {"echo ready", func(p *Process) { <-p.ended }, "cannot be stopped"},
		"one that the test has killed":     {waits, (*Process).Kill, ""},
		"one that the test has ended":      {waits, (*Process).End, ""},
	} {
		told := &failures{T: t}
		p := StartProcess(told, exec.CommandContext(t.Context(), "/bin/sh", "-c", c.script))
		for p.Log() == "" && !p.Ended() { // it does not listen to signals yet
			<-time.After(time.Millisecond)
		}
		c.before(p)
		p.End()
		if got := strings.Join(told.told, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: told %q, want %q", name, got, c.want)
		}
	}
}
