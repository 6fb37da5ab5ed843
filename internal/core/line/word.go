package line

import (
	"regexp"
	"strings"
	"sync"
)

// harmless is what a shell takes as it is.
var harmless = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@,+-]+$`) })

// Word is the text as one word of a POSIX shell, for commands that people type: others may have written
// a part of it. A text that means only itself has no quotes.
func Word(text string) string {
	if harmless().MatchString(text) {
		return text
	}
	return Quoted(text)
}

// Quoted is the text as one word of a POSIX shell, always in quotes.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Argument is the name as an argument of a command: one that looks like a flag stands after --.
func Argument(name string) string {
	if strings.HasPrefix(name, "-") {
		return "-- " + Word(name)
	}
	return Word(name)
}
