package ekstoken

import (
	"fmt"
	"strings"
)

const defaultProfile = "default"

// sections are properties in lower case, by the name of what they are of.
type sections map[string]map[string]string

// shared is what the two files hold together. What is in no profile that is used is not
// looked at.
type shared struct{ profiles, services sections }

// readShared reads both files; the credentials file wins where both have a property.
func readShared(config, credentials string) (shared, error) {
	all := shared{sections{}, sections{}}
	if err := read("config", config, all.inConfig); err != nil {
		return shared{}, err
	}
	return all, read("credentials", credentials, func(header string) (sections, string) { return all.profiles, header })
}

// inConfig is where the properties below a header of the config file belong, nil for
// nowhere. The words of a header are quoted as for a shell: aws writes
// [profile 'my profile'] for a name with blanks. A name that it writes and cannot read
// again, such as [profile bob's], is taken as it stands.
func (f shared) inConfig(header string) (sections, string) {
	if header == defaultProfile {
		return f.profiles, header
	}
	if parts, ok := wordsOf(header); ok && len(parts) == 2 {
		switch parts[0] {
		case "profile":
			return f.profiles, parts[1]
		case keyServices:
			return f.services, parts[1]
		}
		return nil, ""
	}
	if name, ok := strings.CutPrefix(header, "profile "); ok {
		return f.profiles, strings.TrimSpace(name)
	}
	return nil, ""
}

// read gives each property of a document to the section that place finds. A line that
// begins further right than the property above it is part of its value. An error names
// the line's number and never its content, which may be a key.
func read(file, document string, place func(header string) (sections, string)) error {
	var current map[string]string
	inside, number, above, column := false, 0, "", 0
	for line := range strings.Lines(document) {
		number++
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "[") {
			header, ok := headerOf(text)
			if !ok {
				return fmt.Errorf("the %s file: line %d opens a section that it does not close", file, number)
			}
			in, name := place(header)
			if in != nil && in[name] == nil {
				in[name] = map[string]string{}
			}
			current, inside, above = in[name], true, ""
			continue
		}
		text = withoutComment(text)
		begins := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case text == "":
			continue
		case !inside:
			return fmt.Errorf("the %s file: line %d comes before any section", file, number)
		case current == nil:
			continue // of no profile
		case above != "" && begins > column:
			current[above] += "\n" + text
			continue
		}
		key, value, ok := cutProperty(text)
		if !ok {
			return fmt.Errorf("the %s file: line %d is not NAME = VALUE", file, number)
		}
		above, column = strings.ToLower(strings.TrimSpace(key)), begins
		current[above] = strings.TrimSpace(value)
	}
	return nil
}

// cutProperty splits NAME = VALUE; aws takes a colon for the sign as well.
func cutProperty(text string) (name, value string, ok bool) {
	at := strings.IndexAny(text, "=:")
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

// headerOf is what stands between the brackets of a line that opens a section; only a
// comment may stand behind them.
func headerOf(text string) (string, bool) {
	for i := range len(text) {
		if text[i] != ']' {
			continue
		}
		if rest := strings.TrimSpace(text[i+1:]); rest == "" || rest[0] == '#' || rest[0] == ';' {
			return strings.TrimSpace(text[1:i]), true
		}
	}
	return "", false
}

// withoutComment is a line without the comment in it: one that begins the line, or
// stands behind a space.
func withoutComment(line string) string {
	for i := range len(line) {
		if (line[i] == '#' || line[i] == ';') && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}

// wordsOf are the words of a text as a shell reads them, with quotes and backslashes;
// false if a quote is not closed. The library of aws reads headers so (botocore:
// configloader, Python's shlex).
func wordsOf(text string) ([]string, bool) {
	var all []string
	var word strings.Builder
	begun, escaped, quote := false, false, rune(0)
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all, quote == 0 && !escaped
}
