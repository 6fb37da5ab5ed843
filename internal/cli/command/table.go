package command

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Table aligns the columns of rows. Every cell is made Plain.
func Table(rows [][]string) string {
	var out strings.Builder
	aligned := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		for i := range cells {
			cells[i] = Plain(cells[i])
		}
		// A strings.Builder takes everything.
		_, _ = fmt.Fprintln(aligned, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	_ = aligned.Flush()
	return out.String()
}

// Plain is a text that others wrote, for a terminal: in one line, and without
// characters that control it.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
