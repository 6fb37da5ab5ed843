package oldmodules_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// run asks the go command, which must not change go.mod.
func run(t *testing.T, arguments ...string) string {
	t.Helper()
	return goIn(t, ".", "-mod=readonly", arguments...)
}

// goIn asks it in a folder.
func goIn(t *testing.T, folder, mod string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = folder
	command.Env = append(command.Environ(), "GOFLAGS=-buildvcs=false "+mod, "GOTOOLCHAIN=local", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, &stderr)
	}
	return stdout.String()
}

// TestVersionsStay compares what the program is built with to what it requires.
func TestVersionsStay(t *testing.T) {
	built := map[string]string{}
	for line := range strings.Lines(run(t, "list", "-m", "all")) {
		if fields := strings.Fields(line); len(fields) > 1 {
			built[fields[0]] = fields[1]
		}
	}
	for module, want := range map[string]string{
		"k8s.io/client-go": "v0.33.", "k8s.io/api": "v0.33.", "k8s.io/apimachinery": "v0.33.", "sigs.k8s.io/controller-runtime": "v0.21.",
		"github.com/aws/aws-sdk-go-v2": "v1.38.",
	} {
		if !strings.HasPrefix(built[module], want) {
			t.Errorf("%s is %q, want %s", module, built[module], want)
		}
	}
	if product := "github.com/tabard-dev/tabard"; built[product] != "" {
		t.Errorf("%s came along, and with it all that it requires", product)
	}
}

// TestNothingIsNewerThanGo125 reports symbols of the standard library that came
// after the version of Go that the modules' go.mod files name.
func TestNothingIsNewerThanGo125(t *testing.T) {
	const product = "github.com/tabard-dev/tabard/"
	found := 0
	for line := range strings.Lines(run(t, "list", "-m", "-f", "{{.Path}} {{.GoVersion}}", product+"...")) {
		module, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		if module == product+"test/oldmodules" {
			continue
		}
		found++
		run(t, "vet", "-stdversion", module+"/...")
		if !strings.HasPrefix(version, "1.25") {
			t.Errorf("%s demands Go %s, want 1.25", module, version)
		}
	}
	if found != 7 {
		t.Errorf("%d modules are looked at, want all 7 that are for others", found)
	}
}
