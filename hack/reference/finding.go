package main

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// findingPage is the list of what "tabard explain" finds, by link.
func findingPage(codes []chain.Explanation) string {
	var b strings.Builder
	b.WriteString(`# Findings of tabard explain

[Why does my pod get AccessDenied?](../explain.md) tells how the findings are made. A code never changes its meaning.
`)
	for _, link := range chain.Links() {
		heading := fmt.Sprintf("\n## %s %s: %s\n", link, link.Name(), link.Asks())
		for _, each := range codes {
			if !strings.HasPrefix(string(each.Code), string(link)+"-") {
				continue
			}
			fmt.Fprintf(&b, "%s\n### %s\n\n%s\n\nWhat to do: %s\n", heading, each.Code, each.Means, each.Mend)
			heading = ""
		}
	}
	return b.String()
}
