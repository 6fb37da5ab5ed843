package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: one, user: alice}}
- {name: two, context: {cluster: two, user: bob, namespace: shop}}
clusters:
- {name: one, cluster: {server: "https://one.example.com"}}
- {name: two, cluster: {server: "https://two.example.com"}}
users:
- {name: alice, user: {token: a}}
- {name: bob, user: {token: b}}
`

func TestTheFlagsOfKubectlNameTheCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	must.Do(t, os.WriteFile(file, []byte(twoContexts), 0o600))
	t.Setenv("KUBECONFIG", file)
	for args, want := range map[string]string{
		"":                                     "https://one.example.com a default  []",
		"--context=two":                        "https://two.example.com b shop  []",
		"--cluster=two":                        "https://two.example.com a default  []",
		"--user=bob":                           "https://one.example.com b default  []",
		"--as=carol --as-group=x --as-group=y": "https://one.example.com a default carol [x y]",
	} {
		var k Kubeconfig
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		k.AddFlags(flags)
		must.Do(t, flags.Parse(strings.Fields(args)))
		config, namespace := must.Get(k.Config())(t), must.Get(k.Namespace())(t)
		got := strings.Join([]string{config.Host, config.BearerToken, namespace, config.Impersonate.UserName, "[" + strings.Join(config.Impersonate.Groups, " ") + "]"}, " ")
		if diff := cmp.Diff(want, got); diff != "" || k.IsSet() != (args != "") {
			t.Errorf("%q, set %t (-want +got):\n%s", args, k.IsSet(), diff)
		}
	}
	k := Kubeconfig{}
	k.overrides.Timeout = "7s"
	if config := must.Get(k.Config())(t); config.Timeout.Seconds() != 7 {
		t.Errorf("the timeout is %s", config.Timeout)
	}
}

// TestTheNameOfTheChosenClusterIsKnown: with --context it is never that of the current one.
func TestTheNameOfTheChosenClusterIsKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	for name, c := range map[string]struct{ text, args, want string }{
		"the current context":          {twoContexts, "", "one"},
		"another context":              {twoContexts, "--context=two", "two"},
		"another cluster":              {twoContexts, "--context=one --cluster=two", "two"},
		"a context that is not there":  {twoContexts, "--context=three", ""},
		"no current context":           {strings.Replace(twoContexts, "current-context: one\n", "", 1), "", ""},
		"no current context, and one":  {strings.Replace(twoContexts, "current-context: one\n", "", 1), "--context=two", "two"},
		"a kubeconfig with no context": {"apiVersion: v1\nkind: Config\n", "", ""},
	} {
		must.Do(t, os.WriteFile(file, []byte(c.text), 0o600))
		var k Kubeconfig
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		k.AddFlags(flags)
		must.Do(t, flags.Parse(strings.Fields(c.args+" --kubeconfig="+file)))
		if got := must.Get(k.ClusterName())(t); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got, err := (&Kubeconfig{Path: file + "-absent"}).ClusterName(); err == nil {
		t.Errorf("a file that is not there: %q", got)
	}
}

// A command that is typed later is about the same cluster, whatever the current context and the folder are by then.
func TestFlagsForLaterNameTheContext(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "config"), filepath.Join(dir, "other")
	must.Do(t, os.WriteFile(file, []byte(twoContexts), 0o600))
	must.Do(t, os.WriteFile(other, []byte(strings.Replace(twoContexts, "current-context: one\n", "", 1)), 0o600))
	t.Chdir(dir)
	const list = string(os.PathListSeparator)
	for name, c := range map[string]struct{ env, args, want string }{
		"a file of the variable":        {file, "", " --kubeconfig " + file + " --context one"},
		"another context":               {file, "--context=two --as=carol", " --kubeconfig " + file + " --context two --as carol"},
		"a flag's file":                 {other, "--kubeconfig=" + file, " --kubeconfig " + file + " --context one"},
		"a flag's file of the folder":   {other, "--kubeconfig=config", " --kubeconfig " + file + " --context one"},
		"several files":                 {other + list + file, "", " --context one"},
		"no current context":            {other, "", ""},
		"no current context, and flags": {other, "--cluster=one --user=bob", " --cluster one --user bob"},
		"a context that is not there":   {file, "--context=three", " --context three"},
		"no kubeconfig":                 {filepath.Join(dir, "none") + list + filepath.Join(dir, "neither"), "", ""},
	} {
		t.Setenv("KUBECONFIG", c.env)
		var k Kubeconfig
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		k.AddFlags(flags)
		must.Do(t, flags.Parse(strings.Fields(c.args)))
		set := k.IsSet()
		if got := must.Get(k.Pinned())(t); got != c.want || k.IsSet() != set {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	if got, err := (&Kubeconfig{}).Pinned(); err == nil {
		t.Errorf("a file that is not there: %q", got)
	}
}

// TestAKubeconfigThatCannotBeUsedIsNamed, wherever it comes from.
func TestAKubeconfigThatCannotBeUsedIsNamed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	broken, good := filepath.Join(dir, "broken"), filepath.Join(dir, "good")
	must.Do(t, os.WriteFile(broken, []byte("{"), 0o600))
	must.Do(t, os.WriteFile(good, []byte(twoContexts), 0o600))
	cases := map[string]struct {
		path, env, context string
		says               []string
	}{
		"a flag's file that is absent":  {path: "/nowhere/config", says: []string{"/nowhere/config"}},
		"a flag's file that is broken":  {path: broken, says: []string{broken}},
		"a folder":                      {path: dir, says: []string{dir}},
		"the variable's file is absent": {env: "/nowhere/config", says: []string{"$KUBECONFIG", "/nowhere/config"}},
		"none at all":                   {says: []string{"no cluster to talk to", "--kubeconfig or $KUBECONFIG"}},
		"a context that is not in it":   {path: good, context: "three", says: []string{"three", good}},
		"of several one may be absent":  {env: "/nowhere/config" + string(os.PathListSeparator) + good},
		"of several none is there":      {env: "/nowhere/a" + string(os.PathListSeparator) + "/nowhere/b", says: []string{"/nowhere/a", "/nowhere/b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", c.env)
			k := Kubeconfig{Path: c.path}
			k.overrides.CurrentContext = c.context
			_, err := k.Config()
			if (err == nil) != (len(c.says) == 0) {
				t.Fatalf("got error %v", err)
			}
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %q does not say %q", err, text)
				}
			}
		})
	}
}
