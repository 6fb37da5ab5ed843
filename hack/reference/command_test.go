package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestEveryCommandHasASectionAndEveryFlagARow(t *testing.T) {
	pages := must.Get(commandPages())(t)
	tabard, alone, err := programs()
	must.Do(t, err)
	var check func(page string, command *cobra.Command)
	check = func(page string, command *cobra.Command) {
		_, section, found := strings.Cut(pages[page], "# "+command.CommandPath()+"\n")
		if !found {
			t.Errorf("page %s has no section on %s", page, command.CommandPath())
		}
		section, _, _ = strings.Cut(section, "\n## ")
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if row := strings.Contains(section, "`--"+flag.Name+" ") || strings.Contains(section, "`--"+flag.Name+"`"); row == flag.Hidden && flag.Name != "help" {
				t.Errorf("%s: flag --%s: row %t, hidden %t", command.CommandPath(), flag.Name, row, flag.Hidden)
			}
		})
		for _, below := range command.Commands() {
			if below.Hidden || below.Name() == "help" {
				continue
			}
			if command == tabard {
				check(below.Name(), below)
			} else {
				check(page, below)
			}
		}
	}
	check("tabard", tabard)
	check("tabard-webhook", alone)
}

func TestPagesOfCommandsAreTheSameWhoeverWritesThem(t *testing.T) {
	want := must.Get(commandPages())(t)
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "TABARD_LAB_DIR", "TABARD_ISSUER_URL", "TABARD_ISSUER_BUCKET", "AZURE_TENANT_ID", "KUBECONFIG"} {
		t.Setenv(name, "/somebody's "+name)
	}
	got := must.Get(commandPages())(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with other variables (-before +after):\n%s", diff)
	}
	if home := os.Getenv("HOME"); home != "/somebody's HOME" {
		t.Errorf("afterwards HOME is %s", home)
	}
}

func TestTheTextOfAHelpBecomesMarkdown(t *testing.T) {
	for name, test := range map[string]struct{ help, want string }{
		"paragraphs stay":                            {"One\ntwo.\n\nThree.", "One\ntwo.\n\nThree.\n"},
		"indented lines are code":                    {"Try it:\n\n  tabard lab up\n    --node", "Try it:\n\n```sh\ntabard lab up\n  --node\n```\n"},
		"code may follow without a blank line":       {"A case:\n  [{\n  }]\nThen.", "A case:\n\n```json\n[{\n}]\n```\n\nThen.\n"},
		"a comment may come first":                   {"So:\n  # first\n  kubectl get pods\n", "So:\n\n```sh\n# first\nkubectl get pods\n```\n"},
		"a variable may stand before a command":      {"  A_B=c tabard x", "```sh\nA_B=c tabard x\n```\n"},
		"steps are a list":                           {"It makes\n  1. one,\n     with --more;\n  2. two.", "It makes\n\n1. one, with `--more`;\n2. two.\n"},
		"explained words are a list":                 {"  one       first,\n            and more\n  two ARNs  second", "- `one`: first, and more\n- two ARNs: second\n"},
		"an item goes on in indented lines":          {"Two ways:\n- a:\n  more\n- b", "Two ways:\n- a:\n  more\n- b\n"},
		"objects are YAML":                           {"  a/b:\n    c: d", "```yaml\na/b:\n  c: d\n```\n"},
		"what is none of them is nothing to type":    {"  some words", "```text\nsome words\n```\n"},
		"flags are code, and dashes in words not":    {"With --node (or --dir) well-known--so", "With `--node` (or `--dir`) well-known--so\n"},
		"what Markdown would interpret is text":      {"a <NAME>, *.json and [x](y)", "a \\<NAME>, \\*.json and \\[x](y)\n"},
		"a heading would be none of this page's own": {"#### Linux:", "Linux:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, markdown(test.help)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
