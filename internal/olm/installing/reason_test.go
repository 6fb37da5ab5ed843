package installing

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/internal/olm"
)

func TestCheckReason(t *testing.T) {
	for text, want := range map[string]string{
		"the bucket is empty; CHG-1234":        "",
		`<b>"it's"</b> $(rm -rf /) && \n`:      "",
		"Größe, 日本語, 🙂, e\u0301, and a\u00a0b": "",
		strings.Repeat("a", 500):               "",
		strings.Repeat("é", 400):               "",
		"":                                     "the reason is empty, expected why the risk is taken",
		" \t ":                                 "the reason is empty",
		strings.Repeat("a", 501):               "has 501 characters, expected at most 500",
		strings.Repeat("a\n", 5000):            "has 10000 characters, expected at most 500",
		strings.Repeat("é", 401):               "has 802 bytes in UTF-8, expected at most 800",
		"one\ntwo":                             "an end of a line (U+000A) as character 4, expected one line",
		"é\r":                                  "an end of a line (U+000D) as character 2",
		"a\u2028b":                             "an end of a line (U+2028) as character 2",
		"\x1b[31mred":                          "U+001B as character 1, which is not seen as itself",
		"a\tb":                                 "U+0009 as character 2",
		"a\x00b":                               "U+0000 as character 2",
		"c1 \u009b31m":                         "U+009B",
		"turned \u202egpj":                     "U+202E as character 8",
		"a\u2066b\u2069":                       "U+2066",
		"a\u200bb":                             "U+200B",
		"a\ufeffb":                             "U+FEFF",
		"a\u3164b":                             "U+3164",
		"a\ufe0fb":                             "U+FE0F",
		"a\U000e0041b":                         "U+E0041",
		"a\ue000b":                             "U+E000",
		"a\xffb":                               "not valid UTF-8",
		"a\ufffdb":                             "not valid UTF-8",
	} {
		err := CheckReason(text)
		if want == "" && err != nil {
			t.Errorf("%q: %v", text, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// Of a reason that CheckReason lets pass nothing is cut, whatever is said before it.
func TestNoted(t *testing.T) {
	if got := noted("approved", ""); got != "approved" {
		t.Error(got)
	}
	for _, what := range []string{"approved with the verdict Missing", strings.Repeat("ä", 1000), "a" + strings.Repeat("ä", 1000), strings.Repeat("日", 1000)} {
		for _, reason := range []string{"why", strings.Repeat("é", 400), strings.Repeat("a", 500)} {
			got := noted(what, reason)
			before, isWhole := strings.CutSuffix(got, ". Reason: "+reason)
			if !isWhole || len(got) > olm.LongestNote || !utf8.ValidString(got) {
				t.Errorf("%d bytes: %.40q…", len(got), got)
			}
			if kept, isCut := strings.CutSuffix(before, "…"); before != what && (!isCut || !strings.HasPrefix(what, kept) || len(got) < olm.LongestNote-utf8.UTFMax) {
				t.Errorf("of %.20q is left %.20q, %d bytes", what, before, len(got))
			}
		}
	}
}
