package operators

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// whyUnknown says why nothing is known of what a bundle asks for; empty where something is.
func whyUnknown(s permission.Set, b catalogue.Bundle) string {
	if _, known := s.Requests(); known {
		return ""
	}
	if slices.ContainsFunc(s.Findings, func(f permission.Finding) bool { return f.Code == permission.CodeOtherCloud && f.Path == "" }) {
		return "all requests are to other clouds"
	}
	if b.Metadata == nil {
		return "the catalogue has no metadata of this version that can be used"
	}
	if _, ok := b.Metadata.Annotations[permission.Annotation]; !ok {
		return "the author does not declare it: the annotation " + permission.Annotation + " is absent"
	}
	return "what the author declares cannot be used: the findings say why"
}

// oneCloud is the cloud of all requests of some sets; nil for none, or for several clouds.
func oneCloud(sets ...permission.Set) *catalogue.Cloud {
	found := map[permission.Cloud]bool{}
	for _, s := range sets {
		requests, _ := s.Requests()
		for _, r := range requests {
			found[r.Cloud()] = true
		}
	}
	if len(found) != 1 {
		return nil
	}
	for _, c := range clouds {
		if found[permission.Cloud(c.String())] {
			return &c
		}
	}
	return nil
}

// tellSet tells what is wrong with a source of permissions.
func tellSet(streams command.Streams, findings []permission.Finding) {
	if len(findings) == 0 {
		return
	}
	sayOn(streams.Err, "tabard: %s in what is declared", count(len(findings), "finding", "findings"))
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

// instructions are the code blocks of a bundle's long description, or of its short one.
func instructions(b catalogue.Bundle) catalogue.Instructions {
	if b.Metadata == nil {
		return catalogue.Instructions{}
	}
	if own := b.Metadata.Instructions; len(own.Lines) > 0 {
		return own
	}
	return catalogue.InstructionsOf(b.Metadata.Annotations[catalogue.Description])
}

// sayInstructions prints the author's own code blocks.
func (l *lines) sayInstructions(b catalogue.Bundle) {
	all := instructions(b)
	if len(all.Lines) == 0 {
		return
	}
	l.say("The author's instructions (not evaluated):")
	for _, line := range all.Lines {
		l.say("    %s", strings.ReplaceAll(line, "\t", "    "))
	}
	if all.More > 0 {
		l.say("    … and %s", count(all.More, "more line", "more lines"))
	}
}
