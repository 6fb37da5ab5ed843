package catalogue

import (
	"fmt"
	"path"
	"strings"
)

// ignoreName is the file that prunes a directory of a catalogue.
const ignoreName = ".indexignore"

// ignoring are the rules of one .indexignore, for the paths below its directory.
type ignoring []ignoreRule

// ignoreRule is one line, as gitignore has it.
type ignoreRule struct {
	negate, directories bool
	// parts are the pattern between its slashes; "**" stands for any number of folders.
	parts []string
}

// mostParts bounds the work for one pattern.
const mostParts = 64

// parseIgnore reads an .indexignore: blank lines and comments, "!", a "/" that binds a pattern to
// the directory, a "/" at the end for directories only, "*", "?", "[a-z]", "[!a]", "**", and "\"
// before any of them. wrong are the lines that are no pattern.
func parseIgnore(text string) (rules ignoring, wrong []string) {
	for line := range strings.Lines(text) {
		line = trimIgnored(strings.TrimRight(line, "\r\n"))
		var rule ignoreRule
		pattern, negated := strings.CutPrefix(line, "!")
		rule.negate = negated
		if pattern == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, rule.directories = strings.CutSuffix(pattern, "/")
		bound := strings.Contains(pattern, "/")
		rule.parts = strings.Split(strings.TrimPrefix(pattern, "/"), "/")
		if !bound {
			rule.parts = append([]string{"**"}, rule.parts...)
		}
		ok := len(rule.parts) <= mostParts
		for i, part := range rule.parts {
			rule.parts[i] = strings.ReplaceAll(part, "[!", "[^")
			if _, err := path.Match(rule.parts[i], ""); err != nil || part == "" {
				ok = false
			}
		}
		if !ok {
			wrong = append(wrong, line)
			continue
		}
		rules = append(rules, rule)
	}
	return rules, wrong
}

// trimIgnored takes spaces from the end, but one behind a backslash.
func trimIgnored(line string) string {
	trimmed := strings.TrimRight(line, " \t")
	if strings.HasSuffix(trimmed, `\`) && len(trimmed) < len(line) {
		return trimmed + line[len(trimmed):len(trimmed)+1]
	}
	return trimmed
}

// says is what the rules say of a path below their directory: the last rule that matches wins.
func (i ignoring) says(name string, directory bool) (ignored, matched bool) {
	parts := strings.Split(name, "/")
	for n := len(i) - 1; n >= 0; n-- {
		rule := i[n]
		if (!rule.directories || directory) && rule.match(parts) {
			return !rule.negate, true
		}
	}
	return false, false
}

// match compares all parts with the pattern, in steps that are at most the product of both.
func (r ignoreRule) match(parts []string) bool {
	// fits[i] says that the pattern so far fits the first i parts.
	fits := make([]bool, len(parts)+1)
	fits[0] = true
	for n, pattern := range r.parts {
		next := make([]bool, len(parts)+1)
		for i := range fits {
			switch {
			case pattern == "**" && n == len(r.parts)-1:
				// At the end "**" is everything inside, not the folder itself.
				next[i] = i > 0 && (fits[i-1] || next[i-1])
			case pattern == "**":
				next[i] = fits[i] || i > 0 && next[i-1]
			case i > 0 && fits[i-1]:
				next[i], _ = path.Match(pattern, parts[i-1]) // The pattern was checked.
			}
		}
		fits = next
	}
	return fits[len(parts)]
}

// ignores are the .indexignore files of a tree, by the directory that they are in.
type ignores map[string]ignoring

// ignored says whether a path is pruned. Deeper files win over those above them. Directories
// above the path are not looked at: what is below a pruned one is not asked for.
func (all ignores) ignored(name string, directory bool) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		below := name
		if dir != "." {
			below = strings.TrimPrefix(name, dir+"/")
		}
		if ignored, matched := all[dir].says(below, directory); matched {
			return ignored
		}
		if dir == "." {
			return false
		}
	}
}

func wrongPattern(pattern string) string {
	return fmt.Sprintf("the pattern %q cannot be read; it prunes nothing", pattern)
}
