package picture

import (
	"strings"
	"unicode/utf8"
)

// Explain draws what a command printed, its longer lines wrapped below where their text begins.
func Explain(command, printed string) string {
	lines := []string{"$ " + command, ""}
	for line := range strings.SplitSeq(strings.TrimSpace(printed), "\n") {
		lines = append(lines, wrapped(line)...)
	}
	return SVG("What tabard explain prints", "The links of the chain are marked up to the broken one, which has what was observed, what is required, and the command that mends it.", lines)
}

// words is where the texts of the links begin, in columns, and more where those of a finding do.
const words, more = 19, 10

// wrapped is a line in the picture's columns. A word that is longer than one is broken.
func wrapped(line string) (out []string) {
	indent := words
	if strings.HasPrefix(line, strings.Repeat(" ", words)) {
		indent += more
	}
	for utf8.RuneCountInString(line) > columns {
		runes := []rune(line)
		at := strings.LastIndex(string(runes[:columns]), " ")
		if at <= len(strings.Repeat(" ", indent)) || strings.TrimSpace(string(runes[:columns])[:at]) == "" {
			at = len(string(runes[:columns]))
		}
		out = append(out, strings.TrimRight(line[:at], " "))
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[at:], " ")
	}
	return append(out, line)
}
