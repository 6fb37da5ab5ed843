package conformance_test

import (
	"bytes"
	"maps"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCommandLineAgrees asks with the aws command line.
func TestCommandLineAgrees(t *testing.T) {
	version := commandLineVersion(t)
	attempts := map[string]attempt{}
	maps.Copy(attempts, commandLineSTS)
	maps.Copy(attempts, commandLineChain)
	maps.Copy(attempts, commandLineIAM)
	maps.Copy(attempts, commandLineS3)
	maps.Copy(attempts, commandLineEC2)
	overBoth(t, func(t *testing.T, w *world) { perform(t, commandLine, version, w, attempts) })
}

// commandLineVersion is what aws on the PATH calls itself. Before botocore 1.31
// it did not know AWS_ENDPOINT_URL, and would ask AWS.
func commandLineVersion(t *testing.T) string {
	t.Helper()
	const need = "the checks of the command line need aws on the PATH, made with botocore 1.31 or later"
	output, err := exec.CommandContext(t.Context(), "aws", "--version").CombinedOutput()
	if err != nil {
		ran.absent(t, need+": "+err.Error())
	}
	version := strings.TrimSpace(string(output))
	found := regexp.MustCompile(`botocore/1\.(\d+)\.`).FindStringSubmatch(version)
	if found == nil {
		ran.absent(t, need+"; this is "+version)
	}
	if minor, err := strconv.Atoi(found[1]); err != nil || minor < 31 {
		ran.absent(t, need+"; this is "+version)
	}
	return version
}

// aws runs the command line under the world's environment with changes; an empty
// value takes a variable away.
func (w *world) aws(t *testing.T, changes map[string]string, arguments ...string) (stdout, stderr string) {
	t.Helper()
	variables := w.environment()
	variables["AWS_MAX_ATTEMPTS"] = "1"
	maps.Copy(variables, changes)
	command := exec.CommandContext(t.Context(), "aws", append([]string{"--output", "json"}, arguments...)...)
	for name, value := range variables {
		if value != "" || name == "AWS_PAGER" {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil && errs.Len() == 0 {
		t.Fatalf("aws %s: %v\n%s", strings.Join(arguments, " "), err, &out)
	}
	return strings.TrimSpace(out.String()), strings.TrimSpace(errs.String())
}

// answers demands success, and returns what was printed.
func (w *world) answers(t *testing.T, changes map[string]string, arguments ...string) string {
	t.Helper()
	stdout, stderr := w.aws(t, changes, arguments...)
	if stderr != "" {
		t.Fatalf("aws %s: %s", strings.Join(arguments, " "), stderr)
	}
	return stdout
}

// refuses demands a refusal with a code, as the command line words it.
func (w *world) refuses(t *testing.T, changes map[string]string, code string, arguments ...string) {
	t.Helper()
	stdout, stderr := w.aws(t, changes, arguments...)
	if !strings.Contains(stderr, "An error occurred ("+code+") when calling the ") {
		t.Errorf("aws %s: %s%s, want %s", strings.Join(arguments, " "), stdout, stderr, code)
	}
}

func equal[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// count says how often the server has answered an operation while an action ran.
func (w *world) count(operation string, action func()) int {
	w.server.Admin().ClearJournal()
	action()
	n := 0
	for _, entry := range w.server.Admin().Journal() {
		if entry.Operation == operation {
			n++
		}
	}
	return n
}

// tampered is a text with one character in its middle replaced.
func tampered(text string) string {
	middle := len(text) / 2
	other := "A"
	if text[middle] == 'A' {
		other = "B"
	}
	return text[:middle] + other + text[middle+1:]
}
