package handoff

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// mark is the owner's tag as a text, for the description of what has no tags.
func (t Tag) mark() string { return t.Key + "=" + t.Value }

// checkMark refuses what would not come back from a command line's answer as it went in.
func checkMark(owner Tag) error {
	if owner.Value == "" || len(owner.mark()) > maxMark || strings.TrimSpace(owner.Value) != owner.Value ||
		strings.ContainsFunc(owner.Value, func(char rune) bool { return !unicode.IsPrint(char) }) {
		return fmt.Errorf("the owner's tag is %q=%q, expected a value of characters that can be shown, with no blank around it, and at most %d bytes with the key", owner.Key, owner.Value, maxMark)
	}
	return nil
}

func checkTexts(texts []string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("%q is no text of UTF-8, or holds a zero byte: no form can say it", text)
		}
	}
	return nil
}

// ownedFunction is a function of a script: it ends the script for a thing that is there and belongs to
// somebody else.
func ownedFunction(owner Tag) string {
	return `# owned ends the script for a thing that is there and belongs to somebody else: the thing $1 is marked
# as $2, expected $3.
owned() {
  test "$2" = "$3" && return
  printf '%s is there and is not marked %s: it stays as it is\n' "$1" ` + line.Quoted(owner.mark()) + ` >&2
  exit 1
}
`
}
