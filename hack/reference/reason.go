package main

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// reasonPage is the reference of conditions and the troubleshooting page in
// one: every reason, what it means and what to do.
func reasonPage(reasons []issuer.Explanation) string {
	var b strings.Builder
	b.WriteString(`# Conditions of an OIDCIssuer, and their reasons

| Condition | True means |
| --- | --- |
`)
	for _, row := range [][2]string{
		{issuer.TypePublished, "both documents were fetched from the issuer's URL without credentials, and are what was written (L1 publication)"},
		{issuer.TypeKeysInSync, "every key that the cluster signs with is published (L0 issuer, L1 publication)"},
		{issuer.TypeProviderReady, "every wanted AWS account knows the issuer with the wanted audiences (L2 provider)"},
		{issuer.TypeReady, "the three above are True, and a token requested just now verifies against the public documents"},
		{issuer.TypeDeletionBlocked, "the object is being deleted and something is in the way; on such objects only"},
	} {
		fmt.Fprintf(&b, "| `%s` | %s |\n", row[0], row[1])
	}
	b.WriteString(`
Conditions are True, False or Unknown; Unknown means that it could not be looked
at. Ready repeats the reason of what it waits for. The message of a condition
holds what was seen, what is expected and what to do; this page is the list of
all reasons.
`)
	for _, e := range reasons {
		fmt.Fprintf(&b, "\n## %s\n\n", e.Reason)
		fmt.Fprintf(&b, "- Conditions: %s\n- Meaning: %s\n- What to do: %s\n", e.Conditions, e.Meaning, e.Remedy)
	}
	return b.String()
}
