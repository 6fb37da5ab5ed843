package installing

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/internal/olm"
)

// How long a reason may be. The note of an Event is bounded by bytes, and has to have room for what was
// done, too.
const (
	mostReasonRunes = 500
	mostReasonBytes = 800
)

// CheckReason says what is wrong with why a person takes a risk, in which others shall see all that it
// has: it is one line of text, and no character of it is hidden or controls how it is shown.
func CheckReason(text string) error {
	switch runes := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("the reason is empty, expected why the risk is taken, in 1 to %d characters", mostReasonRunes)
	case !utf8.ValidString(text) || strings.ContainsRune(text, unicode.ReplacementChar):
		return errors.New("the reason is not valid UTF-8, expected one line of text")
	case runes > mostReasonRunes:
		return fmt.Errorf("the reason has %d characters, expected at most %d", runes, mostReasonRunes)
	case len(text) > mostReasonBytes:
		return fmt.Errorf("the reason has %d bytes in UTF-8, expected at most %d, for which an Event has room", len(text), mostReasonBytes)
	}
	at := 0
	for _, r := range text {
		at++
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return fmt.Errorf("the reason has an end of a line (U+%04X) as character %d, expected one line", r, at)
		case isHidden(r):
			return fmt.Errorf("the reason has U+%04X as character %d, which is not seen as itself, expected text without characters that are hidden or that control how it is shown", r, at)
		}
	}
	return nil
}

// isHidden says that a character has no form of its own: it controls a terminal or the direction of
// writing, or nobody sees it.
func isHidden(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// noted is what an Event says of a risk that was taken. Where both are too long for it, the reason is
// whole and what was done is cut.
func noted(what, reason string) string {
	if reason == "" {
		return what
	}
	const ellipsis = "…"
	why := ". Reason: " + reason
	if room := olm.LongestNote - len(why); len(what) > room {
		what = strings.ToValidUTF8(what[:room-len(ellipsis)], "") + ellipsis
	}
	return what + why
}
