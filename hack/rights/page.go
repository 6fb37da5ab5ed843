package main

import (
	"fmt"
	"slices"
	"strings"
)

// page is docs/reference/rights.md.
func (w *world) page() string {
	var text strings.Builder
	text.WriteString("# Rights\n\n<!-- Written by hack/rights from config/manifests and config/rbac; do not edit. -->\n\n" +
		"What each ServiceAccount of the manifests may do, optional manifests included, and what it reaches by that beyond\nitself. Of an account without such a table nothing is found. What follows from it stands in\n[Security](../security.md).\n")
	for _, of := range w.accounts {
		grants, err := w.grants(of)
		if err != nil {
			fmt.Fprintf(&text, "\n## %s\n\n%v\n", of, err)
			continue
		}
		fmt.Fprintf(&text, "\n## `%s`\n\n", of)
		if len(grants) == 0 {
			text.WriteString("Nothing.\n")
			continue
		}
		text.WriteString("| where | what | names | verbs |\n| --- | --- | --- | --- |\n")
		lines := map[string]bool{}
		for _, g := range grants {
			for _, line := range g.lines() {
				lines[line] = true
			}
		}
		sorted := make([]string, 0, len(lines))
		for line := range lines {
			sorted = append(sorted, line)
		}
		slices.Sort(sorted)
		text.WriteString(strings.Join(sorted, ""))
		for _, guard := range w.guards {
			if strings.Contains(guard.conditions(), "'"+of.user()+"'") {
				fmt.Fprintf(&text, "\nHeld by the policy `%s`.\n", guard.policy.Name)
			}
		}
		text.WriteString(w.reached(of))
	}
	return text.String()
}

// reached is what an account can take for a reason.
func (w *world) reached(of account) string {
	var rows strings.Builder
	found, err := w.searchFrom(of)
	if err != nil {
		return fmt.Sprintf("\n%v\n", err)
	}
	for _, root := range roots {
		if slices.ContainsFunc(found, func(e edge) bool { return e.from == root.from && e.to == root.to }) {
			fmt.Fprintf(&rows, "| %s | %s |\n", root.to, root.reason)
		}
	}
	if rows.Len() == 0 {
		return ""
	}
	return "\n| who has this account reaches | why it has the rights |\n| --- | --- |\n" + rows.String()
}

// conditions are those under which a policy is asked.
func (g guard) conditions() string {
	var found []string
	for _, each := range g.policy.Spec.MatchConditions {
		found = append(found, each.Expression)
	}
	return strings.Join(found, "\n")
}

// lines are the rows of a grant.
func (g grant) lines() []string {
	where := "everywhere"
	if g.namespace != "" {
		where = "`" + g.namespace + "`"
	}
	verbs := slices.Clone(g.Verbs)
	slices.Sort(verbs)
	names := "all"
	if len(g.ResourceNames) > 0 {
		names = "`" + strings.Join(g.ResourceNames, "`, `") + "`"
	}
	var found []string
	for _, url := range g.NonResourceURLs {
		found = append(found, fmt.Sprintf("| %s | `%s` | – | %s |\n", where, url, strings.Join(verbs, ", ")))
	}
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			what := resource
			if group != "" {
				what += "." + group
			}
			found = append(found, fmt.Sprintf("| %s | `%s` | %s | %s |\n", where, what, names, strings.Join(verbs, ", ")))
		}
	}
	return found
}
