package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTheNameThatIsCalledMakesAPlugin(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]bool{
		"/usr/bin/tabard": {}, "kubectl-tabard-old": {},
		"kubectl-tabard": {true, false}, "/a b/kubectl-tabard.exe": {true, false},
		"kubectl_complete-tabard": {true, true}, "/usr/bin/kubectl_complete-tabard.exe": {true, true},
	} {
		if got := [2]bool{program.IsPlugin(path), program.Completes(path)}; got != want {
			t.Errorf("%s: plugin and completing %v, want %v", path, got, want)
		}
	}
}

// TestAPluginsTextsKnowEachCommand, one that is added later too.
func TestAPluginsTextsKnowEachCommand(t *testing.T) {
	t.Parallel()
	root := rootCommand("tabard", local.Commands())
	root.InitDefaultHelpCmd()
	for _, below := range root.Commands() {
		if typed := "tabard " + below.Name(); command.AsPlugin(typed) != "kubectl "+typed {
			t.Errorf("a plugin's texts say %q, want kubectl before it", typed)
		}
	}
}

// asKubectl is the built program by the two names that kubectl calls.
func asKubectl(t *testing.T) (plugin, completes string) {
	t.Helper()
	dir := t.TempDir()
	plugin, completes = filepath.Join(dir, "kubectl-tabard"), filepath.Join(dir, "kubectl_complete-tabard")
	must.Do(t, os.Symlink(testkit.Tabard(t), plugin))
	must.Do(t, os.Symlink(testkit.Tabard(t), completes))
	return plugin, completes
}

func TestThePluginNamesItselfInAllItsTexts(t *testing.T) {
	t.Parallel()
	plugin, _ := asKubectl(t)
	dir := t.TempDir()
	for name, test := range map[string]struct {
		args, says string
		code       int
	}{
		"the usage and its hint":    {"--help", "Use \"kubectl tabard [command] --help\"", 0},
		"an example":                {"issuer bootstrap --help", "\n  kubectl tabard issuer bootstrap -f issuer.yaml\n", 0},
		"an example behind a pipe":  {"selector test --help", " | kubectl tabard selector test -f -", 0},
		"a word that is no command": {"creden", "expected credentials; see kubectl tabard --help", 2},
		"a flag that is none":       {"issuer init --what", "see kubectl tabard issuer init --help", 2},
		"an argument too many":      {"selector test now", "kubectl tabard selector test takes no arguments", 2},
		"what to type next":         {"issuer init --name=x --region=eu-west-1 --account=123456789012 -f " + filepath.Join(dir, "issuer.yaml"), "\n  kubectl tabard issuer bootstrap -f ", 0},
		"what to type in place":     {"lab status --dir " + dir + "/no", "\"kubectl tabard lab up --dir " + dir, 2},
		"no script for a shell":     {"completion bash", "unknown command \"bash\" for \"kubectl tabard completion\"", 2},
		"a kubeconfig that is none": {"ready --kubeconfig " + dir, "the kubeconfig (" + dir + ") cannot be read: it is a folder", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called := exec.CommandContext(t.Context(), plugin, strings.Fields(test.args)...)
			called.Env = []string{"HOME=" + t.TempDir()}
			said, _ := called.CombinedOutput()
			text := string(said)
			if !strings.Contains(text, test.says) || called.ProcessState.ExitCode() != test.code {
				t.Errorf("exit code %d and\n%s\nwant %d and %q", called.ProcessState.ExitCode(), text, test.code, test.says)
			}
			if other := regexp.MustCompile(`.*(?:^|[^l./-]) ?\btabard (?:issuer|lab|selector) .*`).FindString(strings.ReplaceAll(text, command.Plugin, "")); other != "" {
				t.Errorf("it names a command by another name: %s", other)
			}
		})
	}
}

func TestThePluginIsCompletedByTheNameThatKubectlCalls(t *testing.T) {
	t.Parallel()
	_, completes := asKubectl(t)
	said := must.Get(exec.CommandContext(t.Context(), completes, "policy", "").Output())(t)
	if !strings.Contains(string(said), "check\t") || !strings.Contains(string(said), "eval\t") || !strings.Contains(string(said), "\n:") {
		t.Errorf("the arguments of policy are completed to %s", said)
	}
}

// TestThePagesPluginIsCompleted types the page's commands, by a name beside kubectl on the
// PATH, and the help text's.
func TestThePagesPluginIsCompleted(t *testing.T) {
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/install.md")))(t))
	_, section, _ := strings.Cut(page, "\n## The kubectl plugin\n")
	home := t.TempDir()
	bin := filepath.Join(home, ".local", "bin")
	must.Do(t, os.MkdirAll(bin, 0o700))
	t.Setenv("HOME", home)
	t.Setenv("PATH", bin+":"+filepath.Dir(testkit.Tabard(t))+":"+os.Getenv("PATH"))
	none := &rest.Config{Host: "https://127.0.0.1:1"} // nothing asks a cluster
	script := testkit.Blocks(section, "")[0]
	for range 2 { // people type them again
		if said := testkit.Shell(t, none, script); !strings.Contains(said, "built with") {
			t.Errorf("the page's commands say %s", said)
		}
	}
	if said := testkit.Shell(t, none, "kubectl __complete tabard policy ch 2>/dev/null"); !strings.HasPrefix(said, "check\t") {
		t.Errorf("kubectl completes the plugin's arguments to %s", said)
	}
	must.Do(t, os.Remove(filepath.Join(bin, "kubectl_complete-tabard")))
	command := rootCommand("tabard", local.Commands())
	found, _, err := command.Find([]string{"completion", "kubectl"})
	must.Do(t, err)
	testkit.Shell(t, none, found.Example)
	if said := testkit.Shell(t, none, "kubectl_complete-tabard policy ch 2>/dev/null"); !strings.HasPrefix(said, "check\t") {
		t.Errorf("the script completes the plugin's arguments to %s", said)
	}
}
