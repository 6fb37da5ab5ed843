package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func source(lines ...string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
}

func body(name string, lines int) string {
	return "func " + name + "() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}"
}

func TestCheckNamesWhatHasOutgrownItsShape(t *testing.T) {
	for name, test := range map[string]struct {
		tree fstest.MapFS
		want []string
	}{
		"a short file with a package comment is fine": {
			tree: fstest.MapFS{"a/a.go": source("// Package a is for this test.", "package a", body("short", 60))},
		},
		"a package comment in one file speaks for all": {
			tree: fstest.MapFS{"a/a.go": source("// Package a is.", "package a"), "a/b.go": source("package a")},
		},
		"a package without comment": {
			tree: fstest.MapFS{"a/a.go": source("package a")},
			want: []string{"a: no package comment: say what the package is for"},
		},
		"a file over 400 lines": {
			tree: fstest.MapFS{"a/a.go": source("// Package a is.", "package a", strings.Repeat("\n", 398))},
			want: []string{"a/a.go: 401 lines, at most 400: split it by noun"},
		},
		"a function over 60 lines": {
			tree: fstest.MapFS{"a/a.go": source("// Package a is.", "package a", body("long", 61))},
			want: []string{"a/a.go:3: long has 61 lines, at most 60: give its parts names"},
		},
		"a Reconcile over 20 lines": {
			tree: fstest.MapFS{"a/a.go": source("// Package a is.", "package a", body("Reconcile", 21))},
			want: []string{"a/a.go:3: Reconcile has 21 lines, at most 20: give its parts names"},
		},
		"a long test is data": {
			tree: fstest.MapFS{"a/a_test.go": source("// Package a is.", "package a", body("TestAll", 61))},
		},
		"a mark of undone work": {
			tree: fstest.MapFS{"a/a.go": source("// Package a is.", "package a", "// TO"+"DO: the rest")},
			want: []string{"a/a.go:3: TO" + "DO: do it now, or open an issue and say here what is so today"},
		},
		"a context.TODO is no comment": {
			tree: fstest.MapFS{"a/a.go": source("// Package a is.", "package a", `import "context"`, "var ctx = context.TODO()")},
		},
		"generated files, testdata and hidden folders are not ours to shape": {
			tree: fstest.MapFS{
				"a/zz_generated.deepcopy.go": source("package a"),
				"a/testdata/b.go":            source("package b"),
				".cache/c.go":                source("package c"),
				"site/node_modules/d/d.go":   source("package d"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := must.Get(load(test.tree))(t)
			if diff := cmp.Diff(test.want, check(files)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrokenLinksAreNamed(t *testing.T) {
	tree := fstest.MapFS{
		"README.md": source("[here](docs/a.md), [part](docs/a.md#part), [gone](docs/gone.md), [far](https://example.com/x)"),
		"docs/a.md": source("[up](../README.md), [itself](#part), [away](b.md)\n## Part"),
	}
	got := must.Get(brokenLinks(tree))(t)
	want := []string{
		"README.md: links to docs/gone.md, and there is no docs/gone.md",
		"docs/a.md: links to b.md, and there is no docs/b.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestLinksToHeadingsThatAreNotThereAreNamed(t *testing.T) {
	tree := fstest.MapFS{
		"README.md": source("[a](docs/a.md#the-flags---and-a_b), [twice](docs/a.md#part-1), [code](docs/a.md#not-one), [far](https://example.com/#x), [file](go.mod#L1)\n[own](#own-id) <a id=\"own-id\">"),
		"docs/a.md": source("## The `flags` - [and](b.md) a_b!\n### Part\n# Part #\n```sh\n# Not one\n```\n[gone](#gone) [up](../README.md#part)"),
		"docs/b.md": source(""), "go.mod": source(""),
	}
	got := must.Get(brokenLinks(tree))(t)
	want := []string{
		"README.md: links to #not-one, and docs/a.md has no such heading",
		"docs/a.md: links to #gone, and docs/a.md has no such heading",
		"docs/a.md: links to #part, and README.md has no such heading",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestPagesThatTheIndexDoesNotLinkAreNamed(t *testing.T) {
	tree := fstest.MapFS{
		"docs/index.md":       source("[a](a.md), [field](reference/b.md#field), [up](../README.md)"),
		"docs/a.md":           source("[lost](lost.md)"),
		"docs/lost.md":        source("# Lost"),
		"docs/reference/b.md": source("# B"),
		"docs/reference/c.md": source("# C"),
		"docs/images/d.svg":   source("<svg/>"),
		"README.md":           source("# Not in docs"),
	}
	got := must.Get(unlisted(tree))(t)
	want := []string{
		"docs/lost.md: docs/index.md has no link to it: add one to a list there",
		"docs/reference/c.md: docs/index.md has no link to it: add one to a list there",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestRunTellsFindingsFromTrouble(t *testing.T) {
	for name, test := range map[string]struct {
		tree fstest.MapFS
		want int
	}{
		"a fine tree":                      {fstest.MapFS{"a.go": source("// Package a is.", "package a")}, 0},
		"a finding":                        {fstest.MapFS{"a.go": source("package a")}, 1},
		"a page that the index lacks":      {fstest.MapFS{"docs/index.md": source("# Docs"), "docs/a.md": source("# A")}, 1},
		"docs without an index":            {fstest.MapFS{"docs/a.md": source("# A")}, 2},
		"a file that is no Go cannot pass": {fstest.MapFS{"a.go": source("pakage a")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if got := run(test.tree, &stdout, &stderr); got != test.want {
				t.Errorf("exit code %d, want %d; stdout %q, stderr %q", got, test.want, &stdout, &stderr)
			}
		})
	}
}
