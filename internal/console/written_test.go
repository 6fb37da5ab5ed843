package console

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestWhatIsWrittenHasNoHiddenCharacter(t *testing.T) {
	for text, want := range map[string]string{
		"a b":                       "a b",
		"two\nlines\tand a tab":     "two\nlines\tand a tab",
		"\x1b[31mred\x1b[0m":        "\ufffd[31mred\ufffd[0m",
		"a\rb\bc\fd\x00e\x7f":       "a\ufffdb\ufffdc\ufffdd\ufffde\ufffd",
		"turned \u202egpj":          "turned \ufffdgpj",
		`a \u001b that is written`:  `a \u001b that is written`,
		`C:\\b\\u0007<script>&amp;`: `C:\\b\\u0007<script>&amp;`,
	} {
		var got string
		must.Do(t, json.Unmarshal(must.Get(written(text))(t), &got))
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzWritten(f *testing.F) {
	f.Add("\x1b\\u001b\\\x1b\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var got string
		must.Do(t, json.Unmarshal(must.Get(written(text))(t), &got))
		if at := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' && r != '\t' }); at >= 0 {
			t.Errorf("%q became %q", text, got)
		}
		if strings.ToValidUTF8(text, "\ufffd") == got {
			return
		}
		if len([]rune(got)) > len([]rune(text)) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
