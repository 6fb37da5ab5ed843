package main

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The limits. A file or function over its limit does two things; Reconcile only
// chains observe, decide, perform and report.
const (
	maxFileLines      = 400
	maxFunctionLines  = 60
	maxReconcileLines = 20
)

// undone are the marks of work left for later, as words of their own. The
// pattern is put together so that it does not find itself.
var undone = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}, "|") + `)\b`)

// check returns one sentence a finding, sorted.
func check(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.lines > maxFileLines {
			findings = append(findings, fmt.Sprintf("%s: %d lines, at most %d: split it by noun", f.path, f.lines, maxFileLines))
		}
		findings = append(findings, longFunctions(f)...)
		findings = append(findings, undoneWork(f)...)
	}
	findings = append(findings, silentPackages(files)...)
	slices.Sort(findings)
	return findings
}

func longFunctions(f file) []string {
	var findings []string
	for _, fn := range functions(f) {
		limit := maxFunctionLines
		if fn.name == "Reconcile" {
			limit = maxReconcileLines
		}
		// A test's table is data: only the product's functions are bound.
		if fn.lines > limit && !strings.HasSuffix(f.path, "_test.go") {
			findings = append(findings, fmt.Sprintf("%s: %s has %d lines, at most %d: give its parts names", fn.where, fn.name, fn.lines, limit))
		}
	}
	return findings
}

// function is a function declaration and its length, first line to last.
type function struct {
	name, where string
	lines       int
}

func functions(f file) []function {
	var out []function
	for _, declaration := range f.ast.Decls {
		fn, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := f.set.Position(fn.Pos()), f.set.Position(fn.End())
		out = append(out, function{fn.Name.Name, fmt.Sprintf("%s:%d", f.path, first.Line), last.Line - first.Line + 1})
	}
	return out
}

func undoneWork(f file) []string {
	var findings []string
	for _, group := range f.ast.Comments {
		for _, comment := range group.List {
			if mark := undone.FindString(comment.Text); mark != "" {
				line := f.set.Position(comment.Pos()).Line
				findings = append(findings, fmt.Sprintf("%s:%d: %s: do it now, or open an issue and say here what is so today", f.path, line, mark))
			}
		}
	}
	return findings
}

// silentPackages names packages of which no file says what they are for. A
// folder of tests alone is bound too: its comment says what they prove.
func silentPackages(files []file) []string {
	spoken := map[string]bool{}
	for _, f := range files {
		folder := path.Dir(f.path)
		says := f.ast.Doc != nil && strings.TrimSpace(f.ast.Doc.Text()) != ""
		spoken[folder] = spoken[folder] || says
	}
	var findings []string
	for folder, ok := range spoken {
		if !ok {
			findings = append(findings, folder+": no package comment: say what the package is for")
		}
	}
	return findings
}

// longestFunction is the longest outside of tests.
func longestFunction(files []file) function {
	var longest function
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for _, fn := range functions(f) {
			if fn.lines > longest.lines {
				longest = fn
			}
		}
	}
	return longest
}
