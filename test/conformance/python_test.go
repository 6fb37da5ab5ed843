package conformance_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPythonAgrees asks with boto3.
func TestPythonAgrees(t *testing.T) {
	program := pythonWithBoto3(t)
	script, err := filepath.Abs(filepath.Join("python", "run.py"))
	if err != nil {
		t.Fatal(err)
	}
	overBoth(t, func(t *testing.T, w *world) {
		version, reported := runScript(t, w, program, "-B", script)
		demand(t, python, version, reported)
	})
}

// pythonWithBoto3 is the interpreter on the PATH. What it is asked for is its own
// path: a launcher of that name may need what the checks' environment hides.
func pythonWithBoto3(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		ran.absent(t, "boto3 needs python3 on the PATH")
	}
	own, err := exec.CommandContext(t.Context(), "python3", "-c", "import boto3, sys; print(sys.executable, end='')").Output()
	if err != nil {
		ran.absent(t, "python3 on the PATH has no boto3")
	}
	return string(own)
}
