package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoChoiceOfComponentsOpensAWay renders the chart with each component alone, with each one
// off, with all of them, and with each profile, and searches each for ways from one account to another. A policy
// that went with a component, while the right that it guards stayed, would be found here. One
// program searches them all: what it does before the first takes longer than a search.
func TestNoChoiceOfComponentsOpensAWay(t *testing.T) {
	c := load(t)
	chosen, err := profiles()
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(chosen, choices())
	folder := t.TempDir()
	search := exec.CommandContext(t.Context(), "go", "run", ".", "--each")
	search.Dir = filepath.Join(root, "hack/rights")
	for name, with := range chosen {
		rendered, err := render(c, with, "Helm")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := filepath.Join(folder, name+".yaml")
		// The notes are a text for people and no manifest.
		delete(rendered, "tabard/templates/NOTES.txt")
		text := strings.Join(slices.Collect(maps.Values(rendered)), "\n---\n")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		search.Args = append(search.Args, file)
	}
	out, err := search.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if searched := strings.Count(string(out), ": no other way from one to another\n"); searched != len(chosen) {
		t.Errorf("%d of %d choices were searched and have no way:\n%s", searched, len(chosen), out)
	}
}

// choices are the values by what they turn on or off.
func choices() map[string]values {
	all := map[string]values{
		"issuer": {"enabled": true}, "webhook": {"enabled": true}, "injection": {"enabled": true}, "credentials": {"enabled": true}, "hub": {"enabled": true}, "ocm": {"enabled": true},
		"capacity": {"enabled": true}, "operators": {"enabled": true}, "openshift": {"enabled": true}, "certificate": {"enabled": true},
		"roleSelectors": {"enabled": true, "warnings": false, "report": values{"enabled": true}},
	}
	none := map[string]values{"webhookDeployment": {"enabled": true}}
	for component := range all {
		none[component] = values{"enabled": false}
	}
	of := func(chosen map[string]values, but string, with values) values {
		out := values{"namespaces": values{"system": true}}
		for component, each := range chosen {
			out[component] = each
		}
		if but != "" {
			out[but] = with
		}
		return out
	}
	out := map[string]values{"all": of(all, "", nil), "the webhook by its operator alone": of(none, "", nil), "the defaults": {}}
	for component, on := range all {
		out["all but "+component] = of(all, component, values{"enabled": false})
		if component == "webhook" {
			continue // it takes the place of its operator
		}
		out["the webhook by its operator and "+component] = of(none, component, on)
	}
	return out
}
