package main

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// explained are the kinds whose conditions the reference explains.
var explained = []condition.Kind{issuer.Reference, credentials.Reference, credentials.BoundaryReference, hubaccess.Reference()}

// reasonPage is the reference of conditions and the troubleshooting page in
// one: for each kind every reason, what it means and what to do.
func reasonPage(kinds []condition.Kind) string {
	var b strings.Builder
	b.WriteString(`# Conditions and their reasons

Conditions are True, False or Unknown; Unknown means that it could not be looked
at. Ready repeats the reason of what it waits for. The message of a condition
holds what was seen, what is expected and what to do; this page is the list of
all reasons.
`)
	for _, kind := range kinds {
		fmt.Fprintf(&b, "\n## %s\n\n| Condition | True means |\n| --- | --- |\n", kind.Name)
		for _, t := range kind.Types {
			fmt.Fprintf(&b, "| `%s` | %s |\n", t.Name, t.Holds)
		}
		for _, e := range kind.Reasons {
			fmt.Fprintf(&b, "\n### %s\n\n", e.Reason)
			fmt.Fprintf(&b, "- Conditions: %s\n- Meaning: %s\n- What to do: %s\n", e.Conditions, e.Meaning, e.Remedy)
		}
	}
	return b.String()
}
