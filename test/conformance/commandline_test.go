package conformance_test

import (
	"bytes"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCommandLineAgrees asks with the aws command line: the one on the PATH, and
// the system's own where that is another.
func TestCommandLineAgrees(t *testing.T) {
	attempts := map[string]attempt{}
	maps.Copy(attempts, commandLineSTS)
	maps.Copy(attempts, commandLineChain)
	maps.Copy(attempts, commandLineIAM)
	maps.Copy(attempts, commandLineS3)
	maps.Copy(attempts, commandLineEKS)
	maps.Copy(attempts, commandLineEC2)
	var found []string
	for _, program := range []string{"aws", "/usr/bin/aws"} {
		answer, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput()
		version := strings.TrimSpace(string(answer))
		if err != nil || slices.Contains(found, version) {
			continue
		}
		found = append(found, version)
		t.Run(version, func(t *testing.T) {
			overBoth(t, func(t *testing.T, w *world) {
				w.program, w.isOld = program, isOld(t, version)
				perform(t, commandLine, w.isOld, version, w, attempts)
			})
		})
	}
	if len(found) == 0 {
		t.Fatal("the checks of the command line need aws, on the PATH or in /usr/bin")
	}
}

// isOld says of a version of botocore or of the command line whether it came
// before AWS_ENDPOINT_URL. The command line's second edition has a botocore of
// its own, and numbers of its own.
func isOld(t *testing.T, version string) bool {
	t.Helper()
	for pattern, first := range map[string]int{`(?:^|botocore/)1\.(\d+)\.`: 31, `^aws-cli/2\.(\d+)\.`: 13} {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(version); found != nil {
			minor, err := strconv.Atoi(found[1])
			if err != nil {
				t.Fatal(err)
			}
			return minor < first
		}
	}
	t.Fatalf("the version %q is of no known form", version)
	return false
}

// aws runs the command line under the world's environment with changes; an empty
// value takes a variable away.
func (w *world) aws(t *testing.T, changes map[string]string, arguments ...string) (stdout, stderr string) {
	t.Helper()
	variables := w.environment()
	variables["AWS_MAX_ATTEMPTS"] = "1"
	maps.Copy(variables, changes)
	options := []string{"--output", "json"}
	if w.isOld {
		options = append(options, "--endpoint-url", w.url)
	}
	command := exec.CommandContext(t.Context(), w.program, append(options, arguments...)...)
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
	w.Admin().ClearJournal()
	action()
	n := 0
	for _, entry := range w.Admin().Journal() {
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
