package catalogue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

func TestInstructionsAreTheCodeBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
		more int
	}{
		"none":                    {"## Buckets\n\nMakes buckets.\n", nil, 0},
		"one":                     {"First:\n```sh\naws iam create-role\n```\nThat is all.", []string{"aws iam create-role"}, 0},
		"two, of other marks":     {"~~~\na\n~~~\nb\n````\n```\nc\n````\n", []string{"a", "```", "c"}, 0},
		"indented, as in a list":  {"1. x\n   ```\n   a\n   ```\n", []string{"   a"}, 0},
		"one that does not end":   {"```\na\nb", []string{"a", "b"}, 0},
		"a word between accents":  {"```x``` is no block\na", nil, 0},
		"lines of Windows":        {"```\r\na\r\n```\r\n", []string{"a"}, 0},
		"more lines than a few":   {"```\n" + strings.Repeat("a\n", 150) + "```", strings.Split(strings.Repeat("a,", 99)+"a", ","), 50},
		"a line that is too long": {"```\n" + strings.Repeat("a", 20<<10) + "\nb\n```", nil, 2},
	} {
		got := catalogue.InstructionsOf(c.text)
		if diff := cmp.Diff(catalogue.Instructions{Lines: c.want, More: c.more}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
