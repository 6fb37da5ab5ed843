package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

const (
	// measured is the first argument with which "go test" starts the command in the place
	// of a test program, whose path and arguments follow.
	measured = "measure"
	// figuresVariable has the path of the file to which the CPU times are added.
	figuresVariable = "TABARD_SUITE_FIGURES"
)

// measure runs a test program and adds a line with the CPU time of it and of all that
// it has started and waited for. It returns the program's exit code.
func measure(args []string) int {
	command := exec.Command(args[0], args[1:]...) //nolint:noctx // it ends by the signals that go test sends
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if err := command.Start(); err != nil {
		return ended(err)
	}
	go func() {
		for s := range signals {
			_ = command.Process.Signal(s)
		}
	}()
	err := command.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return ended(err)
	}
	if err := note(command.ProcessState); err != nil {
		return ended(err)
	}
	return command.ProcessState.ExitCode()
}

// note adds the line. "go test" runs a test program in its package's folder.
func note(state *os.ProcessState) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(os.Getenv(figuresVariable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%.3f %s\n", (state.UserTime() + state.SystemTime()).Seconds(), folder)
	return errors.Join(err, file.Close())
}

// readFigures reads the CPU seconds by a package's folder; none without a file.
func readFigures(path string) (map[string]float64, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		figure, folder, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		seconds, err := strconv.ParseFloat(figure, 64)
		if err != nil {
			return nil, fmt.Errorf("read %q of the CPU times: %w", line, err)
		}
		out[folder] += seconds
	}
	return out, nil
}
