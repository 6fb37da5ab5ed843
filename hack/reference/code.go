package main

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// codePage is the table of the exit codes.
func codePage(codes []usage.Code) string {
	var b strings.Builder
	b.WriteString(`# Exit codes

They mean the same in all commands of tabard and in tabard-eks-token. A command that runs another program, such as
` + "`tabard lab run`" + `, passes that program's code on. The help of a command says what of its own makes which code.

| Code | Meaning | Such as |
| --- | --- | --- |
`)
	for _, code := range codes {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", code.Number, code.Meaning, strings.Join(code.Such, "; "))
	}
	b.WriteString(`
A command that cannot read what it is to check ends with 1 or 3, never with 0: what was not seen is not well.
`)
	return b.String()
}
