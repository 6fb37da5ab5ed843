package catalogue_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/catalogue"
)

// TestJSONOfOneDocument: a manifest has the bounds of a catalogue's documents.
func TestJSONOfOneDocument(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: [1, x]}":   `{"a":{"b":[1,"x"` + "\n]}}",
		` {"a": "\u00e9"}`: `{"a": "\u00e9"}`,
		`["a"]`:            `["a"]`,
	} {
		got, err := catalogue.JSON([]byte(text))
		if compact := strings.ReplaceAll(string(got), "\n", ""); err != nil || compact != strings.ReplaceAll(want, "\n", "") {
			t.Errorf("%s becomes %s, %v", text, got, err)
		}
	}
	for name, text := range map[string]string{
		"too many values": strings.Repeat("-\n", 1<<18),
		"too deep":        strings.Repeat("[", 200) + strings.Repeat("]", 200) + " # YAML",
		"too large":       strings.Repeat("x", 16<<20+1),
		"no YAML":         "a: [",
		"empty":           "# nothing",
		"an alias within": "a: &a [*a]",
	} {
		if got, err := catalogue.JSON([]byte(text)); err == nil {
			t.Errorf("%s becomes %.100s", name, got)
		}
	}
}
