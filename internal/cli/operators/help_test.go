package operators

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// TestHelpTeaches: each command has examples that its flags take, and says what its exit codes are.
func TestHelpTeaches(t *testing.T) {
	operators := New(command.Streams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, onAWS().world())
	says(t, operators.Long, "Exit codes:")
	if len(operators.Commands()) != 13 {
		t.Errorf("%d commands", len(operators.Commands()))
	}
	for _, c := range operators.Commands() {
		says(t, c.Long, "Exit codes: 0 ", "2 the")
		examples := 0
		for line := range strings.Lines(c.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " > ")
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			if len(words) == 0 || words[0] == "#" {
				continue
			}
			examples++
			if len(words) < 3 || words[2] != c.Name() {
				t.Errorf("%s: %s", c.Name(), line)
				continue
			}
			if err := c.ParseFlags(words[3:]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if examples < 2 {
			t.Errorf("%s has %d examples", c.Name(), examples)
		}
	}
}
