package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	heading  = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	linked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	anchored = regexp.MustCompile(`\]\(([^)#\s]*)#([^)\s]+)\)`)
	given    = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	fence    = regexp.MustCompile("^ *(```|~~~)")
)

// anchors are those of a page's headings, as GitHub and the site make them, and those that are
// written into it.
func anchors(page string) []string {
	var out []string
	fenced, seen := false, map[string]int{}
	for row := range strings.Lines(page) {
		if fence.MatchString(row) {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, one := range given.FindAllStringSubmatch(row, -1) {
			out = append(out, one[1])
		}
		match := heading.FindStringSubmatch(strings.TrimRight(row, "\r\n"))
		if match == nil {
			continue
		}
		slug := slug(match[1])
		if n := seen[slug]; n > 0 {
			out = append(out, fmt.Sprintf("%s-%d", slug, n))
		} else {
			out = append(out, slug)
		}
		seen[slug]++
	}
	return out
}

// slug is a heading's anchor: lower case, without what is no letter, number, - or _, and - for
// each blank.
func slug(heading string) string {
	heading = linked.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// missingAnchors are the links of a page to headings that are not there.
func missingAnchors(tree fs.FS, name, text string) []string {
	var findings []string
	for _, match := range anchored.FindAllStringSubmatch(text, -1) {
		target := name
		if strings.Contains(match[1], "://") {
			continue
		}
		if match[1] != "" {
			target = path.Join(path.Dir(name), match[1])
		}
		if path.Ext(target) != ".md" {
			continue
		}
		page, err := fs.ReadFile(tree, target)
		if err == nil && !slices.Contains(anchors(string(page)), match[2]) {
			findings = append(findings, fmt.Sprintf("%s: links to #%s, and %s has no such heading", name, match[2], target))
		}
	}
	return findings
}
