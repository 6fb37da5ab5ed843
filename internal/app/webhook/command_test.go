package webhook

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/app/program"
)

// TestTheProgramTakesWhatTheCommandTakes: and says by which name it is called.
func TestTheProgramTakesWhatTheCommandTakes(t *testing.T) {
	command := Root()
	if strings.Contains(command.UsageString(), "tabard webhook") {
		t.Errorf("it speaks of another program: %s", command.UsageString())
	}
	for args, want := range map[string]int{"webhook --version": program.ExitFine, "--version": program.ExitFine, "webhook webhook": program.ExitUnusable, "--no-such": program.ExitUnusable} {
		if got := Main(strings.Fields(args)); got != want {
			t.Errorf("%q: exit code %d, want %d", args, got, want)
		}
	}
}
