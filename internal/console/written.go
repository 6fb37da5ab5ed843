package console

import (
	"bytes"
	"encoding/json"
	"unicode"
)

// written is a document as JSON. Strangers wrote texts of it: a character that nobody sees, that turns the
// direction of writing or that means something to a terminal becomes one that everybody sees. Ends of lines
// and tabs stay.
func written(document any) ([]byte, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	return bytes.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, withoutControls(text)), nil
}

// withoutControls is JSON in which no string has a control character, which json.Marshal writes as \u00, and a
// digit 0 or 1 behind it, or as \b or \f (https://www.rfc-editor.org/rfc/rfc8259#section-7).
func withoutControls(text []byte) []byte {
	const replacement = `\ufffd`
	if !bytes.Contains(text, []byte(`\u00`)) && !bytes.Contains(text, []byte(`\b`)) && !bytes.Contains(text, []byte(`\f`)) && !bytes.Contains(text, []byte(`\r`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		switch next := text[i+1]; {
		case next == 'u' && (bytes.HasPrefix(text[i+2:], []byte("000")) || bytes.HasPrefix(text[i+2:], []byte("001"))):
			out = append(out, replacement...)
			i += 5
		case next == 'b' || next == 'f' || next == 'r':
			out = append(out, replacement...)
			i++
		default:
			out = append(out, '\\', next)
			i++
		}
	}
	return out
}
