// Package docs tests docs/capacity.md: its commands and examples on a real
// API server and the local AWS, and its tables against the code.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const page = "../../../docs/capacity.md"

func readPage(t testing.TB) string {
	t.Helper()
	text := must.Get(os.ReadFile(page))(t)
	return string(text)
}

// part is a section of the page, up to the next heading of any level, without the
// indentation of numbered steps.
func part(t testing.TB, heading string) string {
	t.Helper()
	_, found, ok := strings.Cut(readPage(t), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", page, heading)
	}
	found = regexp.MustCompile(`(?s)\n##+ .*`).ReplaceAllString(found, "\n")
	if strings.Contains(found, "\n1. ") {
		found = strings.ReplaceAll(found, "\n   ", "\n")
	}
	return found
}

// blocks are the blocks of a section that are marked so; the test knows how many.
func blocks(t testing.TB, heading, mark string, count int) []string {
	t.Helper()
	found := testkit.Blocks(part(t, heading), mark)
	if len(found) != count {
		t.Fatalf("%s: the section %q has %d blocks of %s, and the test knows %d", page, heading, len(found), mark, count)
	}
	return found
}

// rows are the cells of a section's tables, without their heads.
func rows(t testing.TB, heading string) [][]string {
	t.Helper()
	var found [][]string
	for line := range strings.Lines(part(t, heading)) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		line = strings.ReplaceAll(strings.Trim(line, "| \n"), `\|`, "\x00")
		var cells []string
		for cell := range strings.SplitSeq(line, " | ") {
			cells = append(cells, strings.ReplaceAll(cell, "\x00", "|"))
		}
		found = append(found, cells)
	}
	isRule := func(cells []string) bool { return strings.HasPrefix(cells[0], "---") }
	var bare [][]string
	for i, cells := range found {
		if !isRule(cells) && (i+1 == len(found) || !isRule(found[i+1])) {
			bare = append(bare, cells)
		}
	}
	if len(bare) == 0 {
		t.Fatalf("%s: the section %q has no table", page, heading)
	}
	return bare
}

// quoted are the pieces of a text that are set as code.
func quoted(text string) []string {
	var found []string
	for _, one := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ReplaceAll(one[1], "\n", " "))
	}
	return found
}

// TestThePagesBlocksAreAllKnown: a new one is to be run by a test, too.
func TestThePagesBlocksAreAllKnown(t *testing.T) {
	fences := regexp.MustCompile("(?m)^ *```[a-z]+$").FindAllString(readPage(t), -1)
	got := map[string]int{}
	for _, fence := range fences {
		got[strings.Trim(fence, " `")]++
	}
	want := map[string]int{"sh": 12, "yaml": 5, "json": 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-known +page):\n%s", diff)
	}
}

// TestThePagesLinksLead finds what the page's links name.
func TestThePagesLinksLead(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]*)#?([^)]*)\)`).FindAllStringSubmatch(readPage(t), -1)
	if len(links) < 10 {
		t.Fatalf("%s has %d links; the test has not found them", page, len(links))
	}
	for _, link := range links {
		file := page
		if link[1] != "" {
			file = filepath.Join(filepath.Dir(page), link[1])
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		var anchors []string
		for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
			anchors = append(anchors, strings.NewReplacer(" ", "-", ",", "", "`", "").Replace(strings.ToLower(heading[1])))
		}
		if link[2] != "" && !slices.Contains(anchors, link[2]) {
			t.Errorf("%s leads to #%s, and the headings there are %q", link[0], link[2], anchors)
		}
	}
}
