package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// tellHub tells the story of a hub of Open Cluster Management. It is a test of make interop, whose
// story goes to the standard output with TABARD_TELL.
func tellHub(ctx context.Context) error {
	log, err := os.CreateTemp("", "tabard-demo-hub-*.log")
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // it is for people
	command := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=10m", "-run=^TestOCMDemoTellsTheHubsStory$")
	command.Dir, command.Env, command.Stderr = "test/hub", append(os.Environ(), "TABARD_TELL=1"), os.Stderr
	said, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	told := show(os.Stdout, io.TeeReader(said, log))
	if err := command.Wait(); err != nil {
		return fmt.Errorf("the story went another way than told; what the programs said is in %s", log.Name())
	}
	if told != nil {
		return told
	}
	return os.Remove(log.Name())
}

// show copies what a test says, as far as it is for people: the story, and why it failed. It leaves
// out what go test says of its own, and what the programs said, which is last and long.
func show(out io.Writer, said io.Reader) error {
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 1<<20)
	programs := false
	for lines.Scan() {
		line := lines.Text()
		programs = programs || strings.Contains(line, ": the end of what ")
		if programs || isNoise(line) {
			continue
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return lines.Err()
}

// isNoise says that a line is go test's own, or one that the stand-in for EKS logs.
func isNoise(line string) bool {
	for _, prefix := range []string{"PASS", "FAIL", "ok  \t", "--- FAIL: ", "exit status ", "    time="} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
