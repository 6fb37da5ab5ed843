package iampolicy

import (
	"strings"
	"unicode/utf8"
)

// A pattern is a string in which two bytes that UTF-8 does not have stand for
// the wildcards. So a star that is meant as a star, out of ${*} or out of a
// request's value, cannot be taken for one that acts.
const (
	anyText = '\xff' // *
	anyChar = '\xfe' // ?
)

// activate turns the wildcards of a policy's text into those of a pattern.
var activate = strings.NewReplacer("*", string([]byte{anyText}), "?", string([]byte{anyChar}))

// glob is a pattern made ready for many texts: most patterns of real policies
// are plain, or plain with a star at the end, and cost no more than that.
type glob struct {
	pattern string
	// head is the length of the text before the first wildcard.
	head int
	form form
}

// form is where a pattern's wildcards are.
type form uint8

const (
	// plain is a pattern without any.
	plain form = iota
	// opening is a text and a star behind it.
	opening
	// scattered is any other.
	scattered
)

// newGlob makes a pattern ready.
func newGlob(pattern string) glob {
	end := 0
	for end < len(pattern) && pattern[end] != anyText && pattern[end] != anyChar {
		end++
	}
	g := glob{pattern: pattern, head: end, form: scattered}
	switch rest := pattern[end:]; {
	case rest == "":
		g.form = plain
	case rest == string([]byte{anyText}):
		g.form = opening
	}
	return g
}

// match says whether the pattern covers the whole of a text.
func (g *glob) match(s string) bool {
	switch g.form {
	case plain:
		return s == g.pattern
	case opening:
		return strings.HasPrefix(s, g.pattern[:g.head])
	default:
		rest, ok := strings.CutPrefix(s, g.pattern[:g.head])
		return ok && matchGlob(g.pattern[g.head:], rest)
	}
}

// matchGlob matches a pattern against the whole of a text. Between two stars
// the leftmost place of a piece is as good as any later one, so nothing is ever
// tried twice and the time does not grow with the number of stars.
func matchGlob(pattern, s string) bool {
	star := strings.IndexByte(pattern, anyText)
	if star < 0 {
		rest, ok := cutPiece(pattern, s)
		return ok && rest == ""
	}
	s, ok := cutPiece(pattern[:star], s)
	if !ok {
		return false
	}
	pattern = pattern[star+1:]
	for {
		star = strings.IndexByte(pattern, anyText)
		if star < 0 {
			return endsWithPiece(pattern, s)
		}
		if s, ok = cutThroughPiece(pattern[:star], s); !ok {
			return false
		}
		pattern = pattern[star+1:]
	}
}

// cutPiece takes a piece without stars off the start of a text.
func cutPiece(piece, s string) (string, bool) {
	for {
		char := strings.IndexByte(piece, anyChar)
		if char < 0 {
			return strings.CutPrefix(s, piece)
		}
		rest, ok := strings.CutPrefix(s, piece[:char])
		if !ok || rest == "" {
			return s, false
		}
		_, size := utf8.DecodeRuneInString(rest)
		piece, s = piece[char+1:], rest[size:]
	}
}

// cutThroughPiece cuts a text after the first place where a piece fits.
func cutThroughPiece(piece, s string) (string, bool) {
	if strings.IndexByte(piece, anyChar) < 0 {
		_, rest, ok := strings.Cut(s, piece)
		return rest, ok
	}
	for {
		if rest, ok := cutPiece(piece, s); ok {
			return rest, true
		}
		if s == "" {
			return "", false
		}
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
}

// endsWithPiece says whether a piece fits the end of a text.
func endsWithPiece(piece, s string) bool {
	for {
		char := strings.LastIndexByte(piece, anyChar)
		if char < 0 {
			return strings.HasSuffix(s, piece)
		}
		rest, ok := strings.CutSuffix(s, piece[char+1:])
		if !ok || rest == "" {
			return false
		}
		_, size := utf8.DecodeLastRuneInString(rest)
		piece, s = piece[:char], rest[:len(rest)-size]
	}
}
