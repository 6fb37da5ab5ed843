// Command imports keeps the architecture: it lists every package of every
// module of the repository and names each import that the table of rules in
// rule.go does not allow, with the reason.
//
//	go run ./hack/imports
//
// It is a program and not a test, because the go command caches a test's result
// and does not know that this one depends on every file of the tree. Exit
// codes: 0 fine, 1 violations, 2 the packages could not be listed.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// modules are the folders with a go.mod.
var modules = []string{
	".", "iampolicy", "awslocal", "api", "awsauth", "awsauth/kube", "roleselector", "roleselector/kube",
	"localkube", "test/bundle", "test/credentials/sdk", "test/ekstoken", "test/handoff", "test/ocm", "test/oldmodules", "hack/rights",
}

func main() {
	os.Exit(run(context.Background(), os.Stdout, os.Stderr))
}

func run(ctx context.Context, stdout, stderr io.Writer) int {
	packages, err := list(ctx, modules)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	violations := append(check(packages, rules), checkNames(packages)...)
	for _, v := range violations {
		fmt.Fprintln(stdout, v)
	}
	if len(violations) > 0 {
		fmt.Fprintf(stderr, "imports: %d violations in %d packages; the rules are in hack/imports/rule.go\n",
			len(violations), len(packages))
		return 1
	}
	fmt.Fprintf(stdout, "imports: %d packages keep %d rules\n", len(packages), len(rules))
	return 0
}
