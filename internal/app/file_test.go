package app

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// readers are the commands that read a file, with what they need beside it, by the flag or
// argument that names it.
var readers = map[string]string{
	"issuer bootstrap -f":      "--filename",
	"credentials bootstrap -f": "--filename --print=terraform --account=123456789012",
	"credentials render -f": "--filename --platform=Kubernetes --print=terraform --issuer=https://issuer.example " +
		"--account=123456789012 --infrastructure-name=prod",
	"selector test -f":                       "--filename",
	"migrate carm -f":                        "--filename",
	"migrate carm plan -f":                   "--filename",
	"migrate carm verify -f":                 "--filename",
	"migrate carm --controllers-file":        "--controllers-file -f GOOD",
	"migrate carm plan --controllers-file":   "--controllers-file -f GOOD",
	"migrate carm verify --controllers-file": "--controllers-file -f GOOD",
	"policy check FILE":                      "",
	"policy eval FILE":                       "",
	"issuer status --kubeconfig":             "--kubeconfig",
	"hub join --ca-file":                     "--ca-file --hub-token=a --hub-apiserver=https://hub.example",
}

// inPEM are those whose file is no YAML, with what they say of one that has no PEM.
var inPEM = map[string]string{"hub join --ca-file": "no certificate in PEM"}

// bare are parts of errors that the standard library and the decoders make.
var bare = regexp.MustCompile(`\b(open|read|lstat|stat|mkdir|write) \S+: |no such file or directory|Go (value|struct)|unmarshal|scheme\.go|converting YAML|JSON: json`)

func TestEveryCommandSaysWhyAFileCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("KUBECONFIG", "")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	good := write("good", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
	folder := filepath.Join(dir, "folder")
	must.Do(t, os.Mkdir(folder, 0o700))
	paths := map[string]string{
		"there is no such file":      filepath.Join(dir, "absent"),
		"folder":                     folder,
		"a part of its path":         filepath.Join(good, "below"),
		"":                           write("empty", ""), // each says what it lacks
		"line 1|found 'a'|array":     write("broken", "a b: ["),
		"is a string|found 't'|arra": write("text", "text"),
	}
	for _, command := range slices.Sorted(maps.Keys(readers)) {
		words := strings.Fields(command)
		named, words := words[len(words)-1], words[:len(words)-1]
		for says, path := range paths {
			if pem := inPEM[command]; pem != "" && strings.Contains(says, "|") {
				says = pem
			}
			args := slices.Clone(words)
			flags := strings.Fields(strings.ReplaceAll(readers[command], "GOOD", good))
			if len(flags) == 0 {
				args = append(args, path)
			} else {
				args = append(append(args, flags[0]+"="+path), flags[1:]...)
			}
			code, text := said(t, args...)
			switch {
			case code == program.ExitFine:
				t.Errorf("%q ended with code 0, said %s", args, text)
			case bare.MatchString(text):
				t.Errorf("%q says a bare error: %s", args, text)
			case !strings.Contains(text, path) && named != "FILE":
				t.Errorf("%q does not name the file: %s", args, text)
			case !regexp.MustCompile(says).MatchString(text):
				t.Errorf("%q does not say %q: %s", args, says, text)
			}
		}
	}
}

// said runs a command and returns its exit code and what it writes to both of its streams, which
// are those of the process.
func said(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	return caught(t, func() int { return program.Run(rootCommand("tabard", local.Commands()), args) })
}

// caught runs a program and returns its exit code and what it writes to both streams of the process.
func caught(t *testing.T, run func() int) (code int, text string) {
	t.Helper()
	file := must.Get(os.Create(filepath.Join(t.TempDir(), "said")))(t)
	defer file.Close() //nolint:errcheck // it is read below
	out, problems := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = out, problems }()
	os.Stdout, os.Stderr = file, file
	code = run()
	return code, string(must.Get(os.ReadFile(file.Name()))(t))
}

// TestEveryFlagThatNamesAFileIsTested, so that a new one is too.
func TestEveryFlagThatNamesAFileIsTested(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		path := strings.TrimPrefix(c.CommandPath(), "tabard ")
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			key := fmt.Sprintf("%s --%s", path, flag.Name)
			if flag.Name == "filename" {
				key = path + " -f"
			}
			// init writes its file.
			if _, known := readers[key]; !known && (flag.Name == "filename" || strings.HasSuffix(flag.Name, "-file")) && path != "issuer init" && c.GroupID != "process" {
				t.Errorf("no test says what %q does with a bad file", key)
			}
		})
	}
	walk(rootCommand("tabard", local.Commands()))
}
