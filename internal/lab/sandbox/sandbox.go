package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Spec is a program to run in a file system of its own.
type Spec struct {
	// Root is an empty folder of the machine; the new file system is built on
	// it, unseen by others.
	Root   string  `json:"root"`
	Mounts []Mount `json:"mounts"`
	// Dir is the program's working folder; "/" if it is not there any more.
	Dir string `json:"dir"`
	// Command is the program, by its path or its name on Env's PATH, and its
	// arguments. Without one the file system is built and that is all: a trial.
	Command []string `json:"command,omitempty"`
	Env     []string `json:"env,omitempty"`
}

// ErrUnsupported says that the system does not let this user make the
// namespaces.
var ErrUnsupported = errors.New("this system does not let this user make a mount namespace")

// NotFound is the exit code for a program that is not there, as of a shell.
const NotFound = 127

// Look finds a program as execvp does: a name without a slash is looked up in
// the PATH of the environment.
func Look(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, folder := range filepath.SplitList(pathOf(env)) {
		if !filepath.IsAbs(folder) {
			continue
		}
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %q on the PATH %q: %w", name, pathOf(env), exec.ErrNotFound)
}

func pathOf(env []string) string {
	for _, entry := range env {
		if value, isPath := strings.CutPrefix(entry, "PATH="); isPath {
			return value
		}
	}
	return ""
}

// readSpec reads the order that a runner sends to its sandboxed half.
func readSpec(in io.Reader) (Spec, error) {
	var spec Spec
	if err := json.NewDecoder(in).Decode(&spec); err != nil {
		return Spec{}, fmt.Errorf("this command is started by \"lab run\" and not by hand: no order was received (%w)", err)
	}
	return spec, nil
}
