// Command shape keeps the size and the form of what we write: it names files and
// functions that have grown too long, packages that do not say what they are
// for, marks of work left undone, links between pages that lead nowhere, and pages
// that docs/index.md does not link.
//
//	go run ./hack/shape
//
// Exit codes: 0 fine, 1 findings, 2 the tree could not be read.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

func main() {
	os.Exit(run(os.DirFS("."), os.Stdout, os.Stderr))
}

func run(tree fs.FS, stdout, stderr io.Writer) int {
	files, err := load(tree)
	if err != nil {
		fmt.Fprintf(stderr, "shape: %v\n", err)
		return 2
	}
	links, err := brokenLinks(tree)
	if err != nil {
		fmt.Fprintf(stderr, "shape: %v\n", err)
		return 2
	}
	pages, err := unlisted(tree)
	if err != nil {
		fmt.Fprintf(stderr, "shape: %v\n", err)
		return 2
	}
	findings := slices.Concat(check(files), links, pages)
	for _, f := range findings {
		fmt.Fprintln(stdout, f)
	}
	if len(findings) > 0 {
		fmt.Fprintf(stderr, "shape: %d findings in %d files; the limits are in hack/shape/check.go\n", len(findings), len(files))
		return 1
	}
	longest := longestFunction(files)
	fmt.Fprintf(stdout, "shape: %d files; the longest function is %s with %d lines (%s)\n",
		len(files), longest.name, longest.lines, longest.where)
	return 0
}
