package conformance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
)

// list is the environment in the form that programs take.
func (w *world) list() []string {
	var list []string
	for name, value := range w.environment() {
		list = append(list, name+"="+value)
	}
	return list
}

// runScript runs a program that makes checks, and returns what it calls itself
// and what it reports.
func runScript(t *testing.T, w *world, program string, arguments ...string) (version string, reported []line) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Env = w.list()
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", program, arguments, err, &stdout, &stderr)
	}
	version, reported, err := parse(stdout.Bytes())
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, arguments, err, &stderr)
	}
	if stderr.Len() > 0 {
		t.Logf("%s said on standard error: %s", program, &stderr)
	}
	return version, reported
}

// parse reads a script's report: a line with the client, then one for each
// check.
func parse(output []byte) (version string, reported []line, err error) {
	for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
		var one struct {
			Client string `json:"client"`
			line
		}
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&one); err != nil {
			return "", nil, fmt.Errorf("the line %q is no report: %w", lines.Text(), err)
		}
		if one.Client != "" {
			version = one.Client
			continue
		}
		reported = append(reported, one.line)
	}
	if version == "" {
		return "", nil, fmt.Errorf("the script did not say what it is: %q", output)
	}
	return version, reported, nil
}
