package line_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/internal/core/line"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		" a\n\tb  c ":              "a b c",
		"red \x1b[31mtext\u009b1m": "red [31mtext 1m",
		"to\u202egnp.exe\u2066":    "to gnp.exe",
		"a\xffb":                   "a?b",
		strings.Repeat("ä", 600):   strings.Repeat("ä", 600),
		strings.Repeat("ä", 601):   strings.Repeat("ä", 600) + "…",
	} {
		if got := line.Of(text); got != want || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"deployment/app": "deployment/app", "arn:aws:iam::1:role/a+b=c,d@e-f": "arn:aws:iam::1:role/a+b=c,d@e-f",
		"": "''", "a b": "'a b'", "$(id)": "'$(id)'", "it's": `'it'\''s'`, "*": "'*'", "~": "'~'",
	} {
		if got := line.Word(text); got != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 2: "2 entries", 21: "21 entries"} {
		if got := line.Count(n, "entry", "entries"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
