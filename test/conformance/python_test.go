package conformance_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPythonAgrees asks with boto3: that of python3 on the PATH, and that of the
// system's own python3 where there is another.
func TestPythonAgrees(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("python", "run.py"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, program := range []string{"python3", "/usr/bin/python3"} {
		// A launcher on the PATH may need what the checks' environment hides: the
		// interpreter's own path does not.
		const say = "import boto3, botocore, sys; print(botocore.__version__, sys.executable, end='')"
		answer, err := exec.CommandContext(t.Context(), program, "-c", say).Output()
		if err != nil || slices.Contains(found, string(answer)) {
			continue
		}
		found = append(found, string(answer))
	}
	if len(found) == 0 {
		t.Fatal("the checks of boto3 need a python3 that has it, on the PATH or in /usr/bin")
	}
	for _, one := range found {
		botocore, program, _ := strings.Cut(one, " ")
		t.Run("botocore "+botocore, func(t *testing.T) {
			overBoth(t, func(t *testing.T, w *world) {
				version, reported := runScript(t, w, program, "-B", script)
				demand(t, python, isOld(t, botocore), version, reported)
			})
		})
	}
}
