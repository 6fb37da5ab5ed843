package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/app/ekstoken"
	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// aProgram is one whose codes are those of usage.Codes.
type aProgram struct {
	root func() *cobra.Command
	run  func(args []string) int
}

func programs() map[string]aProgram {
	tabard := func() *cobra.Command { return rootCommand("tabard", local.Commands()) }
	return map[string]aProgram{
		"tabard":           {tabard, func(args []string) int { return program.Run(tabard(), args) }},
		"tabard-eks-token": {func() *cobra.Command { return eks.Program(ekstoken.World()) }, ekstoken.Main},
	}
}

// said runs the program and returns its exit code and what it writes.
func (p aProgram) said(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	return caught(t, func() int { return p.run(args) })
}

// each calls a function with each command of the program and the words that name it.
func (p aProgram) each(visit func(words []string, c *cobra.Command)) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		visit(strings.Fields(c.CommandPath())[1:], c)
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(p.root())
}

// needed are the arguments and flags without which a command is used wrongly.
var needed = map[string]string{
	"credentials adopt": "a", "credentials bind": "a --role-arn=arn:aws:iam::123456789012:role/a", "credentials describe": "a",
	"credentials unbind": "a", "credentials render": "a", "credentials resync": "a", "credentials bootstrap": "--print=terraform --account=123456789012",
	"explain": "resource/bucket.example.com/try", "explain pod": "a", "explain serviceaccount": "a", "selector explain": "bucket.example.com/try",
	"hub accept": "--clusters=a --timeout=0s", "hub status": "a", "hub role": "a",
	"hub join":       "--hub-token=a.b --hub-apiserver=https://hub.example --cluster-name=a",
	"hub suffix":     "a --hub-cluster-arn=arn:aws:eks:eu-central-1:123456789012:cluster/hub",
	"operators show": "a", "operators permissions": "a", "operators upgrade-diff": "a --from=1.0.0 --to=1.1.0", "operators handoff": "a --output-dir=out",
	"operators approve": "a -n a", "operators install": "a -n a --without-role", "operators set-role": "a -n a --role-arn=arn:aws:iam::123456789012:role/a",
	"ready": "--timeout=0s", "issuer verify": "a", "issuer unregister": "https://a.example", "issuer bootstrap": "-f ISSUER",
	"ocm-webhook": "--token-image=a", "policy check": "TRUST", "policy eval": "TRUST",
}

// refusing is a kubeconfig of an API server that forbids everything, and of none.
func refusing(t *testing.T) (forbidden, away string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"nothing is allowed"}`))
	}))
	t.Cleanup(server.Close)
	return kubeconfigOf(t, server.URL), kubeconfigOf(t, "http://127.0.0.1:1")
}

func kubeconfigOf(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	must.Do(t, os.WriteFile(path, fmt.Appendf(nil, `{"current-context":"a","contexts":[{"name":"a","context":{"cluster":"a"}}],"clusters":[{"name":"a","cluster":{"server":%q}}]}`, url), 0o600))
	return path
}

// nobody makes the process one without a home, a session and a cluster, in a folder of its own.
func nobody(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "TABARD_") || name == "KUBECONFIG" {
			t.Setenv(name, "")
			must.Do(t, os.Unsetenv(name))
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Chdir(t.TempDir())
}

// asksNoCluster are the commands that have a flag for a cluster and, as they are typed here, ask none.
var asksNoCluster = []string{"hub suffix"}

// TestARefusalHasOneCodeInEveryCommand asks each command that asks a cluster for one that forbids
// everything and for one that is not there.
func TestARefusalHasOneCodeInEveryCommand(t *testing.T) {
	nobody(t)
	forbidden, away := refusing(t)
	issuer := filepath.Join(t.TempDir(), "issuer.yaml")
	tabard := programs()["tabard"]
	if code, text := tabard.said(t, "issuer", "init", "--region=eu-central-1", "--account=123456789012", "-f", issuer); code != usage.Fine {
		t.Fatal(text)
	}
	asked := 0
	tabard.each(func(words []string, c *cobra.Command) {
		name := strings.Join(words, " ")
		if c.GroupID == groupProcess || c.Flag("kubeconfig") == nil || !c.Runnable() || slices.Contains(asksNoCluster, name) {
			return
		}
		asked++
		args := strings.Fields(strings.ReplaceAll(needed[name], "ISSUER", issuer))
		for says, kubeconfig := range map[string]string{`unknown|allowed|needs the right|forbid`: forbidden, `http://127.0.0.1:1 cannot be reached`: away} {
			code, text := tabard.said(t, slices.Concat(words, args, []string{"--kubeconfig=" + kubeconfig})...)
			if code != usage.Refused || !regexp.MustCompile(says).MatchString(text) {
				t.Errorf("tabard %s: exit code %d, want %d and %q; it said: %s", name, code, usage.Refused, says, text)
			}
		}
	})
	if asked < 20 {
		t.Errorf("only %d commands were asked", asked)
	}
}

// TestAKubeconfigThatIsNotThereIsAWrongUseOfEveryCommand also of those that run in a cluster.
func TestAKubeconfigThatIsNotThereIsAWrongUseOfEveryCommand(t *testing.T) {
	nobody(t)
	issuer := filepath.Join(t.TempDir(), "issuer.yaml")
	tabard := programs()["tabard"]
	if code, text := tabard.said(t, "issuer", "init", "--region=eu-central-1", "--account=123456789012", "-f", issuer); code != usage.Fine {
		t.Fatal(text)
	}
	tabard.each(func(words []string, c *cobra.Command) {
		name := strings.Join(words, " ")
		if c.Flag("kubeconfig") == nil || !c.Runnable() || slices.Contains(asksNoCluster, name) {
			return
		}
		args := strings.Fields(strings.ReplaceAll(needed[name], "ISSUER", issuer))
		if code, text := tabard.said(t, slices.Concat(words, args, []string{"--kubeconfig=/nowhere"})...); code != usage.Unusable || !strings.Contains(text, "/nowhere") {
			t.Errorf("tabard %s: exit code %d, want %d; it said: %s", name, code, usage.Unusable, text)
		}
	})
}

// TestTheHelpOfACommandAgreesWithTheTable: what the help says of 2 is about what was typed.
func TestTheHelpOfACommandAgreesWithTheTable(t *testing.T) {
	told := 0
	programs()["tabard"].each(func(words []string, c *cobra.Command) {
		text := strings.ReplaceAll(c.Long, "\n", " ")
		_, codes, tells := strings.Cut(text, "Exit code")
		if !tells || len(words) == 0 {
			return
		}
		told++
		_, unusable, _ := strings.Cut(codes, "2")
		if refused := regexp.MustCompile(`(AWS|cluster) (cannot|refuse|gives)`); refused.MatchString(strings.Split(unusable, ".")[0]) {
			t.Errorf("%s says that a refusal is 2: %s", c.CommandPath(), codes)
		}
	})
	if told < 20 {
		t.Errorf("only %d commands tell their exit codes", told)
	}
	help := rootCommand("tabard", local.Commands()).Long
	for _, code := range usage.Codes() {
		if !strings.Contains(help, fmt.Sprintf("%d %s", code.Number, code.Meaning)) {
			t.Errorf("the help of tabard does not have the code %d", code.Number)
		}
	}
}

// takesMore are the commands with as many arguments as one likes.
var takesMore = []string{"policy check", "lab run", "lab exec", "help", "completion"}

// TestAWrongUseHasOneCodeInEveryCommand of both programs: flags and words that are not known, arguments too
// many, and values that are none.
func TestAWrongUseHasOneCodeInEveryCommand(t *testing.T) {
	for name, p := range programs() {
		t.Run(name, func(t *testing.T) {
			nobody(t)
			wrong := func(args ...string) {
				t.Helper()
				if code, text := p.said(t, args...); code != usage.Unusable || !strings.Contains(text, "tabard") || strings.Count(text, "\n") > 4 {
					t.Errorf("%s %q: exit code %d, want %d; it said: %s", name, args, code, usage.Unusable, text)
				}
			}
			p.each(func(words []string, c *cobra.Command) {
				if c.Name() == "help" { // TestThereIsNoHelpForWhatIsNoCommand
					return
				}
				with := func(more ...string) []string { return slices.Concat(words, more) }
				wrong(with("--no-such-flag")...)
				if !slices.Contains(takesMore, strings.Join(words, " ")) {
					wrong(with("no-such", "word", "of", "all")...)
				}
				if c.HasSubCommands() {
					wrong(with("no-such", "--help")...)
				}
				if strings.Contains(strings.TrimSpace(regexp.MustCompile(`\[[^]]*\]`).ReplaceAllString(c.Use, "")), " ") {
					wrong(words...)
				}
				c.Flags().VisitAll(func(flag *pflag.Flag) {
					if slices.Contains([]string{"bool", "int", "int64", "uint64", "duration"}, flag.Value.Type()) {
						wrong(with("--" + flag.Name + "=no-such")...)
					}
				})
				for _, flag := range []string{"log-level", "memory-limit"} {
					if c.Flags().Lookup(flag) != nil {
						wrong(with(append(strings.Fields(needed[strings.Join(words, " ")]), "--"+flag+"=no-such")...)...)
					}
				}
				if flag := c.Flag("output"); flag != nil && c.Runnable() && !c.HasSubCommands() {
					wrong(with(append(strings.Fields(needed[strings.Join(words, " ")]), "--output=no-such")...)...)
				}
			})
		})
	}
}
