package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "write the table of docs/development.md anew")

// TestThePageHasTheRules: the table of docs/development.md is made of the rules.
func TestThePageHasTheRules(t *testing.T) {
	const path, begin, end = "../../docs/development.md", "<!-- rules: go test ./hack/imports -update -->\n", "<!-- end of rules -->\n"
	text := must.Get(os.ReadFile(path))(t)
	before, rest, found := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the rules", path)
	}
	want := table(rules)
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil { //nolint:gosec // a page
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page's rules are others (-rules +page); go test ./hack/imports -update writes them:\n%s", diff)
	}
}

// table writes rules as a page's table.
func table(rules []rule) string {
	var out strings.Builder
	out.WriteString("| packages | may import of ours | and of others, the standard library aside | why |\n| --- | --- | --- | --- |\n")
	row := func(cells ...string) { out.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	for _, r := range rules {
		packages := names(r.in, "")
		if len(r.except) > 0 {
			packages += ", but not " + names(r.except, "")
		}
		if r.own != nil || r.foreign != nil {
			ours, others := "any", "any"
			if r.own != nil {
				ours = names(r.own, "nothing")
			}
			if r.foreign != nil {
				others = names(r.foreign, "nothing")
			}
			row(packages, ours, others, r.why)
		}
		for _, b := range r.deny {
			row(packages, "not "+names(b.what, ""), "", b.why)
		}
		if r.siblings != "" {
			row(packages, "not each other", "", "packages below "+names([]string{r.siblings}, "")+" meet through the API server or in `internal/app`")
		}
	}
	return out.String()
}

func names(patterns []string, none string) string {
	if len(patterns) == 0 {
		return none
	}
	var out []string
	for _, p := range patterns {
		out = append(out, "`"+strings.TrimPrefix(p, "./")+"`")
	}
	return strings.Join(out, ", ")
}
