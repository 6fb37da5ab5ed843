package explain

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/chain"
)

// markOf is the sign of a state. Behind a broken link, nothing is called sound.
func markOf(state chain.State, behind bool) string {
	switch {
	case state == chain.Sound && !behind:
		return "✓"
	case state == chain.Broken:
		return "✗"
	case state == chain.Unseen:
		return "?"
	}
	return "·"
}

// text is the answer for people: the links in their order, marked up to the first that is broken.
func text(r *chain.Report) string {
	var out strings.Builder
	role := r.Role
	if role == "" {
		role = "no role"
	}
	fmt.Fprintf(&out, "%s → %s\n\n", r.Subject, command.Plain(role))
	over := false
	var unasked []string
	for _, step := range r.Links {
		if step.State == chain.Unasked {
			unasked = append(unasked, string(step.Link)+" "+step.Name)
			continue
		}
		fmt.Fprintf(&out, " %s %-3s %-11s %s\n", markOf(step.State, over), step.Link, step.Name, command.Plain(step.Text))
		if step.State == chain.Unseen {
			fmt.Fprintf(&out, "%snot seen: needs %s\n", indent, command.Plain(step.Needs))
		}
		if step.State == chain.Broken && !over {
			over = true
			finding(&out, step.Findings[0])
		}
	}
	fmt.Fprintf(&out, "\nNot looked at: %s.\n", strings.Join(unasked, ", "))
	if others := r.Others(); len(others) > 0 {
		out.WriteString("\nWrong besides:\n")
		for _, f := range others {
			fmt.Fprintf(&out, "\n %s %s\n", f.Link, command.Plain(f.Symptom))
			finding(&out, f)
		}
	}
	return out.String()
}

// indent is where what is said of a link stands.
const indent = "                   "

// finding says what is wrong, and what to type.
func finding(out *strings.Builder, f chain.Finding) {
	say := func(what, text string) {
		if text != "" {
			fmt.Fprintf(out, "%s%-9s %s\n", indent, what, command.Plain(text))
		}
	}
	say("code:", fmt.Sprintf("%s (%s)", f.Code, f.Certainty))
	say("observed:", f.Observed)
	say("required:", f.Required)
	for i, typed := range f.Mend {
		what := "mend:"
		if i > 0 {
			what = "  then:"
		}
		say(what, typed)
	}
	say("note:", f.Note)
	say("verify:", f.Verify)
}
