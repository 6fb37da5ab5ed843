package command

import (
	"os"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestOnlyYesIsYes(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Y\n": true, "yes\n": true, "yes": true, "\tyes": true,
		"\n": false, "": false, "n\n": false, "yesterday\n": false, strings.Repeat("y", 1<<20): false,
	} {
		var out strings.Builder
		if got := must.Get(ask(strings.NewReader(answer), &out, "Continue?"))(t); got != want || out.String() != "Continue? [y/N] " {
			t.Errorf("%.20q is %t after %q, want %t", answer, got, &out, want)
		}
	}
}

func TestNobodyIsAskedWithoutATerminal(t *testing.T) {
	null := must.Get(os.Open(os.DevNull))(t) // a device, and no terminal
	defer null.Close()                       //nolint:errcheck // it is only read
	if Confirm(null, &strings.Builder{}) != nil || Confirm(strings.NewReader("y"), &strings.Builder{}) != nil {
		t.Error("it would ask")
	}
}
