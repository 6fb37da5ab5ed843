package selector

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/roleselector"
)

// text is the explanation for people.
func (e *explanation) text() string {
	var out strings.Builder
	r := e.Resource
	rows := [][]string{{"Resource:", fmt.Sprintf("%s/%s %s %s", r.Group, r.Version, r.Kind, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))}}
	if r.Namespace != "" {
		rows = append(rows, []string{"Namespace:", r.Namespace + ": " + e.namespaceLabels()})
	}
	if e.Choice != "" {
		rows = append(rows, []string{"Choice:", e.Choice + ", by the annotation " + services.ChoiceAnnotation})
	}
	out.WriteString(command.Table(rows))
	for _, why := range e.Unread {
		fmt.Fprintf(&out, "Not read: %s\n", command.Plain(why))
	}
	out.WriteString("\n")
	e.writeSelectors(&out)
	rows = [][]string{{"Decision:", e.Decision.String()}, {"", e.Decision.Message}}
	rows = append(rows, e.usedRows()...)
	if e.Course != nil {
		rows = append(rows, []string{"Course:", string(e.Course.Step)})
		if e.Course.Message != e.Decision.Message {
			rows = append(rows, []string{"", e.Course.Message})
		}
	}
	for _, note := range e.Notes {
		rows = append(rows, []string{"Note:", note})
	}
	out.WriteString(command.Table(rows))
	for i, line := range e.Next {
		if i == 0 {
			out.WriteString("\nNext:\n")
		}
		fmt.Fprintf(&out, "  %s\n", command.Plain(line))
	}
	return out.String()
}

func (e *explanation) namespaceLabels() string {
	if e.NamespaceLabels == nil {
		return "its labels are not known"
	}
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(e.NamespaceLabels)) {
		pairs = append(pairs, key+"="+e.NamespaceLabels[key])
	}
	return strings.Join(pairs, ", ")
}

func (e *explanation) writeSelectors(out *strings.Builder) {
	if len(e.Selectors) > 0 {
		rows := [][]string{{"SELECTOR", "EFFECT", "MODE", "SELECTS", "NAMESPACE NAME", "NAMESPACE LABELS", "TYPE", "RESOURCE LABELS"}}
		details := [][]string{{"SELECTOR", "CRITERION", "HOLDS", "WANTED", "SEEN"}}
		for _, one := range e.Selectors {
			mode := string(one.Mode)
			if one.Effect == services.Deny {
				mode = "-"
			}
			cells := []string{one.Name, string(one.Effect), mode, one.Selects}
			for _, c := range one.Criteria {
				cells = append(cells, c.Holds)
				if tells(one, c) {
					details = append(details, []string{one.Name, c.Name, c.Holds, c.Wanted, c.Seen})
				}
			}
			rows = append(rows, cells)
		}
		out.WriteString(command.Table(rows))
		out.WriteString("\n")
		if len(details) > 1 {
			out.WriteString(command.Table(details))
			out.WriteString("\n")
		}
	}
	if e.Hidden > 0 {
		fmt.Fprintf(out, "IAMRoleSelectors that do not select the resource: %d (--show all lists them)\n\n", e.Hidden)
	} else if len(e.Selectors) == 0 {
		out.WriteString("No IAMRoleSelectors are known.\n\n")
	}
	for _, p := range e.Problems {
		fmt.Fprintf(out, "Problem: %s\n", command.Plain(p.String()))
	}
	if len(e.Problems) > 0 {
		out.WriteString("\n")
	}
}

// tells says whether a criterion tells why: of a selector that does not select
// those that fail, of others those that ask for something.
func tells(one row, c criterion) bool {
	if one.Selects == roleselector.No.String() {
		return c.Holds == roleselector.No.String()
	}
	return c.Wanted != "any"
}

// String is the problem in a line.
func (p problem) String() string {
	text := p.Object + ": " + p.Field + ": " + p.Message
	if p.Blocks {
		text += " (what it selects is blocked)"
	}
	return text
}

func (e *explanation) usedRows() [][]string {
	u := e.Used
	var words []string
	switch {
	case u.Selector == "" && u.Account == "":
		return [][]string{{"Used now:", u.Difference}}
	case u.Selector == "":
		words = append(words, "the controller's own role")
	default:
		words = append(words, u.Selector)
	}
	if u.Generation != 0 {
		words = append(words, fmt.Sprintf("generation %d", u.Generation))
	}
	if u.RoleARN != "" {
		words = append(words, u.RoleARN)
	}
	if u.Account != "" {
		words = append(words, "account "+u.Account)
	}
	if u.Since != nil {
		words = append(words, "since "+u.Since.UTC().Format(time.RFC3339))
	}
	rows := [][]string{{"Used now:", strings.Join(words, ", ")}}
	if u.AsDecided {
		return append(rows, []string{"", "This is what is decided."})
	}
	return append(rows, []string{"", u.Difference})
}
