// Package process starts programs that outlive their starter, remembers who
// they are, and ends exactly those. A process ID alone is not enough for that:
// the system gives it out again. So a record also holds when the process
// started, and nothing is ever signalled whose start does not match.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tabard-dev/tabard/internal/lab/private"
)

// Record is a process that was started here, as kept in a file.
type Record struct {
	Name string `json:"name"`
	Identity
	// Command is the program and its arguments. Programs that are given secrets
	// on the command line must not be started through this package.
	Command []string `json:"command"`
	// Log is the file that takes its output; empty if the terminal does.
	Log string `json:"log,omitempty"`
	// Group says that the process leads a process group of its own, which ends
	// with it.
	Group bool `json:"group,omitempty"`
	// Exit is the exit code of a process that ended by itself, if whoever
	// watched it lived to note it.
	Exit *int `json:"exit,omitempty"`
}

// Identity tells one process from every other, also from a later one with the
// same ID.
type Identity struct {
	PID int `json:"pid"`
	// Start is the instant of its start in the system's own unit, counted from
	// the start of the system.
	Start string `json:"start"`
	// Boot names the run of the system that both belong to.
	Boot string `json:"boot"`
}

// Alive says whether the process runs. A zombie does not, once all its threads have
// ended.
func (identity Identity) Alive() bool {
	now, err := Identify(identity.PID)
	return err == nil && identity.PID > 0 && now == identity
}

// Book is a folder with one file a record. Its methods may be used by several
// processes at once, each on names of its own.
type Book struct{ Dir string }

// Put writes a record; it replaces one of the same name.
func (book Book) Put(record Record) error {
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("write the record of %s: %w", record.Name, err)
	}
	if err := private.Write(book.path(record.Name), append(data, '\n')); err != nil {
		return fmt.Errorf("the record of %s: %w", record.Name, err)
	}
	return nil
}

// Get reads a record; the second result is false if there is none.
func (book Book) Get(name string) (Record, bool, error) {
	data, err := os.ReadFile(book.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("read the record of %s: %w", name, err)
	}
	var record Record
	if err := json.Unmarshal(data, &record); err != nil {
		return Record{}, false, fmt.Errorf("the record %s is not readable (%w); if no such process runs, remove the file", book.path(name), err)
	}
	return record, true, nil
}

// Remove forgets a record; that there is none is fine.
func (book Book) Remove(name string) error {
	if err := os.Remove(book.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget %s: %w", name, err)
	}
	return nil
}

// All returns every record, by name. A folder that is not there holds none.
func (book Book) All() ([]Record, error) {
	entries, err := os.ReadDir(book.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the records of processes: %w", err)
	}
	var records []Record
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), ".json")
		if !isRecord {
			continue
		}
		record, found, err := book.Get(name)
		if err != nil {
			return nil, err
		}
		if found {
			records = append(records, record)
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	return records, nil
}

func (book Book) path(name string) string { return filepath.Join(book.Dir, name+".json") }

// Spec is a program to start in the background.
type Spec struct {
	Name string
	// Command is the program's path and its arguments.
	Command []string
	// Env is its whole environment.
	Env []string
	// Dir is its working folder.
	Dir string
	// Log is the file that its output is appended to.
	Log string
}

// gate waits for a line and becomes the program that its arguments name; at the
// end of the input it ends. It runs between the start of a process and its
// record: if the starter dies there, so does the process, and none is ever
// without a record. The process ID and the start stay the same.
const gate = `read -r go <&3 && exec "$@" 3<&-`

// Start runs a program in a session of its own, with its output in a log file,
// and writes its record before the program begins. The channel yields once,
// when the program ends while the caller lives.
func (book Book) Start(spec Spec) (Record, <-chan error, error) {
	log, err := private.Open(spec.Log, os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return Record{}, nil, fmt.Errorf("open the log of %s: %w", spec.Name, err)
	}
	defer func() { _ = log.Close() }()
	reader, writer, err := os.Pipe()
	if err != nil {
		return Record{}, nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	defer func() { _ = reader.Close(); _ = writer.Close() }()
	command := exec.Command("/bin/sh", append([]string{"-c", gate, "sh"}, spec.Command...)...)
	command.Env, command.Dir = spec.Env, spec.Dir
	command.Stdout, command.Stderr = log, log
	command.ExtraFiles = []*os.File{reader}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return Record{}, nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	identity, err := Identify(command.Process.Pid)
	record := Record{Name: spec.Name, Identity: identity, Command: spec.Command, Log: spec.Log, Group: true}
	if err == nil {
		err = book.Put(record)
	}
	if err == nil {
		_, err = writer.WriteString("go\n")
	}
	if err != nil { // the gate sees the end of its input and ends
		return Record{}, nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	return record, ended, nil
}

// pollEvery is how often Stop looks whether a process is gone. There is no
// portable way to wait for a process that is not a child.
const pollEvery = 15 * time.Millisecond

// Stop ends processes: it asks all of them at once (SIGTERM), and kills those
// that have not gone after grace. It returns when none is left. Processes that
// do not run any more are fine; the error names those that cannot be ended.
func Stop(ctx context.Context, grace time.Duration, records ...Record) error {
	for _, record := range records {
		signal(record, syscall.SIGTERM)
	}
	left := await(ctx, grace, records)
	for _, record := range left {
		signal(record, syscall.SIGKILL)
	}
	left = await(ctx, 5*time.Second, left)
	if len(left) == 0 {
		return nil
	}
	names := make([]string, 0, len(left))
	for _, record := range left {
		names = append(names, fmt.Sprintf("%s (process %d)", record.Name, record.PID))
	}
	return fmt.Errorf("could not be ended, not even with SIGKILL: %s; end them by hand", strings.Join(names, ", "))
}

// signal sends to the process, and to its group if it leads one, if it is still
// the one of the record.
func signal(record Record, number syscall.Signal) {
	if !record.Alive() {
		return
	}
	target := record.PID
	if record.Group {
		target = -target
	}
	// An error means that it has gone meanwhile, or is not ours to end: await
	// tells which.
	_ = syscall.Kill(target, number)
}

// await returns the processes that still run after the given time.
func await(ctx context.Context, limit time.Duration, records []Record) []Record {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		var left []Record
		for _, record := range records {
			if record.Alive() {
				left = append(left, record)
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return left
		case <-ctx.Done():
			return left
		}
	}
}
