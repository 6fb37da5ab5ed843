// Package line makes one line, or one word of a shell, of a text of which others wrote a part, for
// people to read and to type.
package line

import (
	"strings"
	"unicode"
)

// longest is how many characters of a text are shown.
const longest = 600

// Of is the text in one line, without characters that control a terminal or the direction of
// writing, and 600 characters of it at most.
func Of(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
