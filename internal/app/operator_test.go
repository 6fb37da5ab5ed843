package app

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/app/program"
)

// TestTheProcessTellsOfTheCommandsThatAreMeant by who types "tabard operator list".
func TestTheProcessTellsOfTheCommandsThatAreMeant(t *testing.T) {
	tabard := programs()["tabard"]
	for args, want := range map[string]string{
		"list --installed":              meant("list"),
		"show a --kubeconfig=/nowhere":  meant("show"),
		"--kubeconfig=/nowhere lint -x": meant("lint"),
		"lists":                         "tabard: unknown command \"lists\" for \"tabard operator\"; see tabard operator --help\n",
		"operators list":                "tabard: unknown command \"operators\" for \"tabard operator\"; see tabard operator --help\n",
		"--installed":                   "tabard: unknown flag: --installed; see tabard operator --help\n",
		"lists --installed":             "tabard: unknown flag: --installed; see tabard operator --help\n",
	} {
		if code, text := tabard.said(t, append([]string{"operator"}, strings.Fields(args)...)...); code != program.ExitUnusable || text != want {
			t.Errorf("tabard operator %s: exit code %d, said %q; want %d and %q", args, code, text, program.ExitUnusable, want)
		}
	}
	known := 0
	for _, below := range operatorsCommand().Commands() {
		known++
		if code, text := tabard.said(t, "operator", below.Name()); code != program.ExitUnusable || text != meant(below.Name()) {
			t.Errorf("tabard operator %s: exit code %d, said %q", below.Name(), code, text)
		}
	}
	if known < 9 {
		t.Errorf("%d commands are known", known)
	}
}

func meant(name string) string {
	return "tabard: tabard operator runs the controllers and takes no arguments; did you mean tabard operators " + name + "?\n"
}
