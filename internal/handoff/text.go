package handoff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// plain is the work as it is, in JSON.
func plain(w Work) (string, error) { return encoded(w) + "\n", nil }

// encoded is a value in JSON, indented, in ASCII: forms differ in what they make of
// other characters, and none touches the escapes of JSON.
func encoded(value any) string { return ascii(indented(value), jsonEscape) }

func indented(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic("handoff: " + err.Error()) // check has seen every document
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// ascii writes characters that are not ASCII as escapes; in JSON they are within texts.
func ascii(text string, escape func(rune) string) string {
	var out strings.Builder
	for _, char := range text {
		if char < 0x7f {
			out.WriteRune(char)
		} else {
			out.WriteString(escape(char))
		}
	}
	return out.String()
}

func jsonEscape(char rune) (out string) {
	for _, unit := range utf16.Encode([]rune{char}) {
		out += fmt.Sprintf(`\u%04x`, unit)
	}
	return out
}

// yamlEscape differs from JSON's beyond the first 65,536 characters: YAML knows no
// pairs of escapes.
func yamlEscape(char rune) string { return fmt.Sprintf(`\U%08x`, char) }

// comment is sentences as lines that begin with a number sign. What might end a line
// in one of the forms, or be shown as something else, is a blank.
func comment(sentences []string) string {
	var out strings.Builder
	for _, sentence := range sentences {
		out.WriteString("# " + strings.Map(func(char rune) rune {
			if unicode.IsPrint(char) {
				return char
			}
			return ' '
		}, sentence) + "\n")
	}
	return out.String()
}

// numbered tells things of a kind apart, which have no other number: the first has none,
// then it is 2, 3 behind the separator. CloudFormation takes letters and digits alone.
func numbered(kind, separator string, index int) string {
	if index == 0 {
		return kind
	}
	return fmt.Sprintf("%s%s%d", kind, separator, index+1)
}
