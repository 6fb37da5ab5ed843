package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readme is the chart's README: what values.yaml says, and how to install.
func readme(folder string) (string, error) {
	head, err := os.ReadFile(filepath.Join(folder, "README.md.tmpl"))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(folder, "values.yaml"))
	if err != nil {
		return "", err
	}
	table, err := valuesTable(string(text))
	if err != nil {
		return "", err
	}
	return string(head) + "\n" + table, nil
}

// valuesTable has a row for each value that values.yaml explains by a comment "# --".
func valuesTable(text string) (string, error) {
	var out strings.Builder
	out.WriteString("| value | default | what it does |\n| --- | --- | --- |\n")
	var path []string
	var said string
	for number, line := range strings.Split(text, "\n") {
		bare := strings.TrimSpace(line)
		if comment, is := strings.CutPrefix(bare, "# -- "); is {
			said = comment
			continue
		}
		if rest, is := strings.CutPrefix(bare, "# "); is {
			if said != "" {
				said += " " + rest
			}
			continue
		}
		key, value, is := strings.Cut(bare, ":")
		if !is || strings.HasPrefix(bare, "-") || strings.ContainsAny(key, " {\"") {
			continue
		}
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		if depth > len(path) {
			return "", fmt.Errorf("values.yaml, line %d: %s is further in than its parent", number+1, key)
		}
		path = append(path[:depth], key)
		if said != "" {
			fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", strings.Join(path, "."), strings.TrimSpace(value), said)
			said = ""
		}
	}
	return out.String(), nil
}
