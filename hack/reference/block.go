package main

import (
	"regexp"
	"strings"
)

// What the indented lines of a help can be, by their first one.
var (
	object   = regexp.MustCompile(`^(#.*|- .*|[\w./-]+:( .*)?)$`)
	numbered = regexp.MustCompile(`^([0-9]+\.) (.*)$`)
	term     = regexp.MustCompile(`^(\S+(?: \S+)*?) {2,}(\S.*)$`)
	set      = regexp.MustCompile(`^[A-Z][A-Z_]*=\S* `)
)

// programNames are those that the examples of a help call.
var programNames = []string{"tabard", "tabard-webhook", "kubectl", "aws", "eval", "source", "sudo", "make", "echo", "chmod"}

// isTyped says that a line is for a shell.
func isTyped(line string) bool {
	line = set.ReplaceAllString(line, "")
	for _, name := range programNames {
		if strings.HasPrefix(line, name+" ") {
			return true
		}
	}
	return strings.HasPrefix(line, "# ")
}

// block shows indented lines of a help as what they are: commands and objects as code, steps and
// explained words as lists. What is none of them is shown as it is, and is nothing to type.
func block(lines []string) string {
	lines = outdented(lines)
	switch first := lines[0]; {
	case strings.HasPrefix(first, "[{"):
		return fenced("json", lines)
	case isTyped(first):
		return fenced("sh", lines)
	case numbered.MatchString(first):
		return list(lines, numbered, func(number string) string { return number + " " })
	case term.MatchString(first):
		return list(lines, term, func(word string) string { return "- " + quoted(word) + ": " })
	case object.MatchString(first):
		return fenced("yaml", lines)
	}
	return fenced("text", lines)
}

// list makes items of lines, each with those that go on with it.
func list(lines []string, begins *regexp.Regexp, form func(string) string) string {
	var b strings.Builder
	for _, line := range lines {
		if item := begins.FindStringSubmatch(line); item != nil {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(form(item[1]) + prose(item[2]))
			continue
		}
		b.WriteString(" " + prose(strings.TrimSpace(line)))
	}
	return b.String() + "\n"
}

// quoted is a word as code, and words as they are.
func quoted(words string) string {
	if strings.Contains(words, " ") {
		return prose(words)
	}
	return "`" + words + "`"
}

// fence makes code of lines that are typed.
func fence(lines []string) string { return fenced("sh", outdented(lines)) }

func fenced(language string, lines []string) string {
	return "```" + language + "\n" + strings.Join(lines, "\n") + "\n```\n"
}

// outdented are lines without the indent that all of them have in a help.
func outdented(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, strings.TrimPrefix(strings.TrimPrefix(line, "\t"), "  "))
	}
	return out
}
