package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
)

func TestExitCode(t *testing.T) {
	cases := map[string]struct {
		err  error
		want int
		says string
	}{
		"success says nothing":                       {},
		"a refusal is 1":                             {err: errors.New("no"), want: 1, says: "tabard: no\n"},
		"unusable input is 2":                        {err: fmt.Errorf("so: %w", program.Unusable(errors.New("no"))), want: 2, says: "tabard: so: no\n"},
		"a command's own code is passed on silently": {err: &command.Exit{Code: 7}, want: 7},
		"the end of another program is told":         {err: fmt.Errorf("load: %w", &exec.ExitError{ProcessState: &os.ProcessState{}}), want: 1, says: "tabard: load: exit status 0\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			if got := program.ExitCode(&stderr, tc.err); got != tc.want || stderr.String() != tc.says {
				t.Errorf("exit code %d, said %q; want %d and %q", got, stderr.String(), tc.want, tc.says)
			}
		})
	}
}

func TestWordsThatNoCommandTakesAreUnusable(t *testing.T) {
	for _, args := range [][]string{
		{"capacty"}, {"lab", "upp"}, {"policy", "evil"}, {"lab", "up", "stray"}, {"webhook", "stray"}, {"issuer", "bootstrap", "stray"}, {"issuer", "init", "stray"},
	} {
		root := rootCommand("tabard", local.Commands())
		root.SetArgs(args)
		var said bytes.Buffer
		root.SetOut(&said)
		err := root.Execute()
		var stderr bytes.Buffer
		if got := program.ExitCode(&stderr, err); got != program.ExitUnusable || !strings.Contains(stderr.String(), "--help") || said.Len() != 0 {
			t.Errorf("tabard %s: exit code %d, said %q and %q", strings.Join(args, " "), got, stderr.String(), said.String())
		}
	}
	root := rootCommand("tabard", local.Commands())
	root.SetArgs([]string{"lab"})
	var said bytes.Buffer
	root.SetOut(&said)
	if err := root.Execute(); err != nil || !strings.Contains(said.String(), "Usage:") {
		t.Errorf("tabard lab: %v, said %q", err, said.String())
	}
}

// TestThereIsNoHelpForWhatIsNoCommand asks each command with others below it for the help of one that is
// not there, in both ways; and each command for its own.
func TestThereIsNoHelpForWhatIsNoCommand(t *testing.T) {
	var run func(words []string, below []*cobra.Command)
	want := func(code int, args ...string) {
		t.Helper()
		root := rootCommand("tabard", local.Commands())
		var said bytes.Buffer
		root.SetOut(&said)
		if got := program.Run(root, args); got != code || (said.Len() > 0) != (code == program.ExitFine) {
			t.Errorf("tabard %s: exit code %d, want %d; it printed %d bytes", strings.Join(args, " "), got, code, said.Len())
		}
	}
	run = func(words []string, below []*cobra.Command) {
		own := words[:len(words):len(words)]
		want(program.ExitFine, append(own, "--help")...)
		if len(below) == 0 {
			return
		}
		want(program.ExitUnusable, append(own, "no-such", "--help")...)
		want(program.ExitUnusable, append([]string{"help"}, append(own, "no-such")...)...)
		for _, each := range below {
			run(append(own, each.Name()), each.Commands())
		}
	}
	run(nil, rootCommand("tabard", local.Commands()).Commands())
}

// TestEachCommandSaysWhereItFindsItsCluster in the order in which it looks.
func TestEachCommandSaysWhereItFindsItsCluster(t *testing.T) {
	var found []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if flag := c.Flag("kubeconfig"); flag != nil {
			found = append(found, c.CommandPath())
			if !strings.HasSuffix(flag.Usage, "(default: $KUBECONFIG, then ~/.kube/config, then the pod's own ServiceAccount)") {
				t.Errorf("%s says of --kubeconfig %q", c.CommandPath(), flag.Usage)
			}
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(rootCommand("tabard", local.Commands()))
	if len(found) < 7 {
		t.Errorf("only %q have the flag", found)
	}
}
