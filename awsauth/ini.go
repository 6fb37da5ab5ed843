package awsauth

import (
	"fmt"
	"strings"
)

// property is one line NAME = VALUE of an INI document.
type property struct {
	name, value string
	line        int
}

// readSection returns the properties of one section of an INI document, in
// their order, from all places where the section is opened; nil if it never is.
// What other sections hold is not looked at. It knows what AWS's credentials
// files have (AWS SDKs and Tools Reference Guide: shared config and credentials
// files): sections in brackets, NAME = VALUE, empty lines, comments that begin
// with # or ; at the start of a line or after a space. An error names the line's
// number and never its content, which may be a key.
func readSection(document, section string) ([]property, error) {
	var found []property
	before, inside, opened := true, false, false
	number := 0
	for line := range strings.Lines(strings.ReplaceAll(document, "\r\n", "\n")) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case line[0] == '[':
			name, err := sectionName(line, number)
			if err != nil {
				return nil, err
			}
			before, inside = false, name == section
			opened = opened || inside
			continue
		case before:
			return nil, fmt.Errorf("line %d comes before any section; begin with [%s]", number, section)
		case !inside:
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, fmt.Errorf("line %d is not NAME = VALUE", number)
		}
		found = append(found, property{strings.ToLower(name), withoutComment(value), number})
	}
	if !opened {
		return nil, nil
	}
	if found == nil {
		found = []property{}
	}
	return found, nil
}

func sectionName(line string, number int) (string, error) {
	name, rest, ok := strings.Cut(line[1:], "]")
	if rest = strings.TrimSpace(rest); !ok || rest != "" && rest[0] != '#' && rest[0] != ';' {
		return "", fmt.Errorf("line %d opens a section that it does not close", number)
	}
	return strings.TrimSpace(name), nil
}

// withoutComment is a value without the comment behind it.
func withoutComment(value string) string {
	for i := 1; i < len(value); i++ {
		if (value[i] == '#' || value[i] == ';') && (value[i-1] == ' ' || value[i-1] == '\t') {
			value = value[:i]
			break
		}
	}
	return strings.TrimSpace(value)
}
