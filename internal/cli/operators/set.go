package operators

import (
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// tellSet tells what is wrong with a source of permissions.
func tellSet(streams command.Streams, findings []permission.Finding) {
	if len(findings) == 0 {
		return
	}
	sayOn(streams.Err, "tabard: %s in what is declared", line.Count(len(findings), "finding", "findings"))
	for _, f := range findings {
		at := ""
		if f.Path != "" {
			at = f.Path + ": "
		}
		sayOn(streams.Err, "  %s: %s%s", f.Code, at, f.Message)
	}
}

// marks says why something is sensitive, for a table.
func marks(all []string) string { return orDash(strings.Join(all, "; ")) }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// sayInstructions prints the author's own code blocks.
func (l *lines) sayInstructions(b catalogue.Bundle) {
	all := listing.Instructions(b)
	if len(all.Lines) == 0 {
		return
	}
	l.say("The author's instructions (not evaluated):")
	for _, line := range all.Lines {
		l.say("    %s", strings.ReplaceAll(line, "\t", "    "))
	}
	if all.More > 0 {
		l.say("    … and %s", line.Count(all.More, "more line", "more lines"))
	}
}
