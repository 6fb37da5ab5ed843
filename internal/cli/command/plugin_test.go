package command

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAPluginsTextsNameItsCommandsAsPeopleTypeThem(t *testing.T) {
	for text, want := range map[string]string{
		"tabard lab up":                    "kubectl tabard lab up",
		"run \"tabard lab up\"":            "run \"kubectl tabard lab up\"",
		"eval \"$(tabard lab env)\"\n":     "eval \"$(kubectl tabard lab env)\"\n",
		"x | tabard selector test -f -":    "x | kubectl tabard selector test -f -",
		"  tabard issuer\n  tabard policy": "  kubectl tabard issuer\n  kubectl tabard policy",
		"kubectl tabard ready":             "kubectl tabard ready",
		"tabard --help":                    "kubectl tabard --help",
		// No command is called in these.
		"bin/tabard issuer init":          "bin/tabard issuer init",
		"-n tabard-system":                "-n tabard-system",
		"kubectl-tabard version":          "kubectl-tabard version",
		"tabard: there is no issuer":      "tabard: there is no issuer",
		"helm upgrade tabard charts/x":    "helm upgrade tabard charts/x",
		"helm test tabard --namespace ns": "helm test tabard --namespace ns",
		"the tabard readyz":               "the tabard readyz",
	} {
		if got := AsPlugin(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestDataOfAPluginStaysAsItIs(t *testing.T) {
	var out strings.Builder
	streams := Streams{Out: PluginWriter{&out}, Err: PluginWriter{&out}}
	must.Do(t, streams.PrintJSON("tabard lab up"))
	must.Do(t, streams.Print("tabard lab up\n"))
	if want := "\"tabard lab up\"\nkubectl tabard lab up\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if Raw(streams.Err) != &out || Raw(&out) != &out {
		t.Error("the stream behind a plugin's is another one")
	}
}
