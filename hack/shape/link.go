package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// link is an inline Markdown link; its target ends at a blank, a # or the bracket.
var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// brokenLinks names links between our own pages and files that lead nowhere.
// Links to other hosts are not followed: their absence is not ours to fail on.
func brokenLinks(tree fs.FS) ([]string, error) {
	var findings []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if isForeign(name, entry) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		findings = append(findings, missingAnchors(tree, name, string(text))...)
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			target := path.Join(path.Dir(name), match[1])
			if strings.Contains(match[1], "://") {
				continue
			}
			if _, err := fs.Stat(tree, target); err != nil {
				findings = append(findings, fmt.Sprintf("%s: links to %s, and there is no %s", name, match[1], target))
			}
		}
		return nil
	})
	slices.Sort(findings)
	return findings, err
}

// unlisted names the pages of docs that docs/index.md does not link: readers of the
// repository would not find them, and the site's menu is made of these links.
func unlisted(tree fs.FS) ([]string, error) {
	const docs, index = "docs", "docs/index.md"
	if _, err := fs.Stat(tree, docs); err != nil {
		return nil, nil
	}
	text, err := fs.ReadFile(tree, index)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{index: true}
	for _, match := range link.FindAllStringSubmatch(string(text), -1) {
		listed[path.Join(docs, match[1])] = true
	}
	var findings []string
	err = fs.WalkDir(tree, docs, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" && !listed[name] {
			findings = append(findings, fmt.Sprintf("%s: %s has no link to it: add one to a list there", name, index))
		}
		return err
	})
	return findings, err
}
