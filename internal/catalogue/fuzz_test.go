package catalogue_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Whatever the bytes are, the reader ends without a panic, says the same however they arrive,
// keeps no more than it read, and its findings are harmless.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		allP, yamlP, bundleWith("x", encoded(csv)), bundleWith("x", encoded(csvYAML)), bomb(2), "a: &a {x: 1}\nb: {<<: [*a, *a], y: *a}", "a: &a [*a]", "a: &a {<<: *a}",
		"{\"a\":[1,\n{\"b\":2}\n{\"c\":\"\\\n", "---\n...\n--- {}\n%YAML", "\xef\xbb\xbf{", "{}}", "\x00", "? a\n: b\n", "!!binary x: 1", "{\"a\":\"\\u001b\"}",
		`{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.bundle","name":"b"},"message":"m"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := catalogue.Reader{Stdin: bytes.NewReader(text)}.Read(t.Context(), "-")
		if err != nil {
			t.Fatalf("bytes without a fault of a file are the error %v", err)
		}
		again, err := catalogue.Reader{Stdin: iotest.OneByteReader(bytes.NewReader(text))}.Read(t.Context(), "-")
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("byte by byte: %v (-whole +byte by byte):\n%s", err, diff)
		}
		// An alias may stand for a text many times, so YAML may keep more; a replaced bad byte becomes three.
		if kept := keptBytes(got); bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && kept > 4*len(text)+100 {
			t.Errorf("%d bytes are kept of %d", kept, len(text))
		}
		for _, finding := range got.Findings {
			if i := strings.IndexFunc(finding.String(), harmful); i >= 0 {
				t.Errorf("the finding is %q", finding.String())
			}
		}
	})
}

// harmful says of a character that a finding may not have it.
func harmful(r rune) bool {
	return !unicode.IsGraphic(r) && !unicode.Is(unicode.Co, r) && !unicode.Is(unicode.Cn, r)
}

func keptBytes(c model.Catalogue) int {
	c.Findings = nil
	text, _ := json.Marshal(c) // Plain data is always JSON.
	size := 0
	for _, p := range c.Packages {
		size += len(p.Name)
	}
	return min(size, len(text))
}

// A catalogue of lines of which some are broken has every package of a good line.
func FuzzGoodLinesAreRead(f *testing.F) {
	f.Add(`{"schema":"olm.package","name":"x"`, `"`)
	f.Add(`{"a":[1,`, `{"a":`)
	f.Add(`}`, `{"a":"\`)
	f.Add(`[{`, "{\"a\":[\n{},")
	f.Fuzz(func(t *testing.T, first, second string) {
		text := simple("good1") + "\n" + first + "\n" + simple("good2") + "\n" + second + "\n" + simple("good3")
		got, err := catalogue.Reader{Stdin: strings.NewReader(text)}.Read(t.Context(), "-")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"good1", "good2", "good3"} {
			if !slices.Contains(names(got), want) && !swallowed(text, want) {
				t.Errorf("%s is hidden by %q and %q: %v", want, first, second, names(got))
			}
		}
	})
}

// swallowed says that a JSON value begins before the good line and ends behind it: then the line
// is no document of its own.
func swallowed(text, good string) bool {
	at := strings.Index(text, simple(good))
	for i := range text[:at] {
		var value json.RawMessage
		if text[i] == '{' && json.NewDecoder(strings.NewReader(text[i:])).Decode(&value) == nil && i+len(value) > at {
			return true
		}
	}
	return false
}
