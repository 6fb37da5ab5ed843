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
