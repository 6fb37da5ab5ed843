package decode_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/decode"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// typed types "decode" with words, and a text as the standard input.
func typed(t *testing.T, input string, words ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := decode.New(command.Streams{In: strings.NewReader(input), Out: &stdout, Err: &stderr}, time.Now)
	c.SetArgs(append([]string{}, words...))
	if exit, is := errors.AsType[*command.Exit](c.ExecuteContext(t.Context())); is {
		code = exit.Code
	}
	return code, stdout.String(), stderr.String()
}

const pasted = "api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\n"

// TestThePageAndTheHelpAreTyped types what they have, twice.
func TestThePageAndTheHelpAreTyped(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/explain.md"))(t))
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("error.txt", []byte(pasted), 0o600))
	lines := []string{"tabard decode error.txt"}
	for line := range strings.Lines(decode.New(command.Streams{}, time.Now).Example) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if !strings.Contains(page, "```sh\n"+lines[0]+"\n```") {
		t.Errorf("the page does not have %s", lines[0])
	}
	for range 2 {
		for i, line := range lines {
			words := strings.Fields(strings.TrimPrefix(line, "tabard decode"))
			input := ""
			if words[0] == "<" {
				words, input = words[2:], pasted
			}
			code, out, said := typed(t, input, words...)
			if code != 0 || said != "" || !strings.Contains(out, "L9") {
				t.Errorf("%s: exit code %d: %s%s", line, code, out, said)
			}
			if i == 0 && !strings.Contains(page, "```text\n"+out+"```\n") {
				t.Errorf("the page shows another answer than:\n%s", out)
			}
		}
	}
}

// TestWhatIsNotKnownIsSaid, and what cannot be read is refused.
func TestWhatIsNotKnownIsSaid(t *testing.T) {
	for name, each := range map[string]struct {
		input string
		words []string
		code  int
		says  string
	}{
		"an unknown text": {"panic: index out of range", nil, 1, "The text is not known"},
		"nothing":         {" \n", nil, 2, "an error, a token or an event of CloudTrail"},
		"no file":         {"", []string{"/no/such/file"}, 2, "/no/such/file"},
		"two files":       {"", []string{"a", "b"}, 2, "takes one FILE"},
		"a format":        {pasted, []string{"-o", "xml"}, 2, "xml"},
		"very much":       {strings.Repeat("x", 3<<20) + pasted, nil, 1, "The text is not known"},
	} {
		if code, out, said := typed(t, each.input, each.words...); code != each.code || !strings.Contains(out+said, each.says) {
			t.Errorf("%s: exit code %d saying %s%s, want %d saying %q", name, code, out, said, each.code, each.says)
		}
	}
}
