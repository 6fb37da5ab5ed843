package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/lab/process"
	"github.com/tabard-dev/tabard/internal/lab/sandbox"
)

// patience is how long a command in the background has to end after it was
// asked to, less than the lab gives the process that keeps its files.
const patience = 5 * time.Second

// supervise runs the command, keeps its volumes fresh, passes signals on and
// writes the records by which the lab can end both.
func (job *job) supervise(ctx context.Context, spec sandbox.Spec, isSandboxed bool) (int, error) {
	// The command is to die with this process, and the system ties that to the
	// thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command, send, err := job.commandFor(spec, isSandboxed)
	if errors.Is(err, exec.ErrNotFound) {
		job.say("%v", err)
		return sandbox.NotFound, nil
	}
	if err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := command.Start(); err != nil {
		_ = send()
		job.say("run %s: %v", job.command[0], err)
		return sandbox.NotFound, nil
	}
	if err := send(); err != nil {
		_ = command.Process.Kill()
	}
	if err := job.record(command.Process.Pid); err != nil {
		_ = command.Process.Kill()
		return 0, errors.Join(err, command.Wait())
	}
	ended := make(chan struct{})
	refreshed := make(chan struct{})
	go func() { defer close(refreshed); job.refresh(ctx, ended) }()
	go job.pass(signals, command.Process, ended)
	job.lastOfGroup(command.Process.Pid)
	waitErr := command.Wait()
	close(ended)
	<-refreshed
	return exitCode(waitErr)
}

// commandFor prepares the command in its form.
func (job *job) commandFor(spec sandbox.Spec, isSandboxed bool) (*exec.Cmd, func() error, error) {
	var command *exec.Cmd
	send := func() error { return nil }
	if isSandboxed {
		var err error
		if command, send, err = sandbox.Command(job.options.Self, job.options.InitArguments, spec); err != nil {
			return nil, nil, err
		}
	} else {
		program, err := sandbox.Look(spec.Command[0], spec.Env, ".")
		if err != nil {
			return nil, nil, err
		}
		command = &exec.Cmd{Path: program, Args: spec.Command, Env: spec.Env, SysProcAttr: &syscall.SysProcAttr{}}
	}
	command.Stdin, command.Stdout, command.Stderr = job.options.In, job.options.Out, job.options.Err
	// An input that is no file is copied by a goroutine, which must not hold up
	// the end of a command that does not read it.
	command.WaitDelay = time.Second
	dieWithParent(command.SysProcAttr)
	command.SysProcAttr.Setpgid = job.options.Record != ""
	return command, send, nil
}

func (job *job) recordName() string {
	if job.options.Record != "" {
		return job.options.Record
	}
	return runName(os.Getpid())
}

// record writes who runs: the command, and this process if it has no record
// from being started in the background.
func (job *job) record(pid int) error {
	book := job.lab.Processes()
	inBackground := job.options.Record != ""
	if !inBackground {
		self, err := process.Identify(os.Getpid())
		if err != nil {
			return err
		}
		if err := book.Put(process.Record{Name: job.recordName(), Identity: self, Command: job.command}); err != nil {
			return err
		}
	}
	identity, err := process.Identify(pid)
	if err != nil {
		return nil // it has ended already; Wait tells how
	}
	own := process.Record{Name: job.recordName() + lab.CommandSuffix, Identity: identity, Command: job.command, Group: inBackground}
	return book.Put(own)
}

// forget removes the records; of a run in the background, the exit code stays.
func (job *job) forget(code int) error {
	book := job.lab.Processes()
	if err := book.Remove(job.recordName() + lab.CommandSuffix); err != nil {
		return err
	}
	if job.options.Record == "" {
		return book.Remove(job.recordName())
	}
	record, found, err := book.Get(job.options.Record)
	if err != nil || !found {
		return err
	}
	record.Exit = &code
	return book.Put(record)
}

// refresh keeps the volumes fresh until the command has ended.
func (job *job) refresh(ctx context.Context, ended <-chan struct{}) {
	// A signal to this process ends the context that it was started with, but
	// not yet the command.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() { <-ended; cancel() }()
	for {
		timer := time.NewTimer(job.volumes.wait())
		select {
		case <-ended:
			timer.Stop()
			return
		case <-timer.C:
		}
		if err := job.volumes.sync(ctx); err != nil && ctx.Err() == nil {
			job.say("the volumes could not be brought up to date and will be tried again: %v", err)
		}
	}
}

// pass passes signals on to the command until it has ended. A command in the
// background that does not end when asked is killed in time.
func (job *job) pass(signals <-chan os.Signal, command *os.Process, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case number := <-signals:
			if (number == syscall.SIGINT || number == syscall.SIGQUIT) && isTerminal(job.options.In) {
				continue // the terminal sends it to the command as well
			}
			_ = command.Signal(number) // an error: it has just ended
			if job.options.Record != "" && number == syscall.SIGTERM {
				timer := time.AfterFunc(patience, func() { _ = command.Kill() })
				defer timer.Stop()
			}
		}
	}
}

func isTerminal(in any) bool {
	file, isFile := in.(*os.File)
	if !isFile {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && file.Name() != os.DevNull
}

// exitCode is the command's exit code; 128 and the number for a signal, as of
// a shell.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return 0, nil
	}
	if !errors.As(err, &exit) {
		return 0, fmt.Errorf("wait for the command: %w", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
