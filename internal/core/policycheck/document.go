package policycheck

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/iampolicy"
)

// maxNesting bounds how deep a policy may lie in a file: more than any answer of AWS's.
const maxNesting = 8

// place is a line and a column of the file, counted from 1, columns in characters.
type place struct{ line, column int }

// source is a part of a file, decoded if the file has it encoded.
type source struct {
	text []byte
	// at are the places of the bytes in the file, and of the end.
	at []place
}

// newSource is a whole file.
func newSource(text []byte) source {
	s := source{text, make([]place, 0, len(text)+1)}
	now := place{1, 1}
	for i, b := range text {
		if i > 0 && text[i-1] != '\n' && utf8.RuneStart(b) {
			now.column++
		}
		s.at = append(s.at, now)
		if b == '\n' {
			now = place{now.line + 1, 1}
		}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		now.column++
	}
	s.at = append(s.at, now)
	return s
}

// slice is a part of the text.
func (s source) slice(from, to int) source { return source{s.text[from:to], s.at[from : to+1]} }

// trimmed is the text without space around it.
func (s source) trimmed() source {
	const space = " \t\r\n"
	to := len(bytes.TrimRight(s.text, space))
	return s.slice(to-len(bytes.TrimLeft(s.text[:to], space)), to)
}

// append adds text whose bytes are all at one place.
func (s *source) append(text []byte, at place) {
	s.text = append(s.text, text...)
	s.at = append(s.at, slices.Repeat([]place{at}, len(text))...)
}

// unquoted is the text of a JSON string; the text must be one.
func (s source) unquoted() source {
	var out source
	for i := 1; i < len(s.text)-1; {
		width := 1
		if s.text[i] == '\\' {
			width = escapeWidth(s.text[i:])
		}
		piece := s.text[i : i+width]
		if width > 1 {
			var decoded string
			_ = json.Unmarshal(slices.Concat([]byte{'"'}, piece, []byte{'"'}), &decoded) // it was read before
			piece = []byte(decoded)
		}
		out.append(piece, s.at[i])
		i += width
	}
	out.at = append(out.at, s.at[len(s.text)-1])
	return out
}

// escapeWidth is how long the escape is with which a text of a valid JSON string begins, both
// halves of a surrogate pair included.
func escapeWidth(text []byte) int {
	switch {
	case text[1] != 'u':
		return 2
	case text[2]|0x20 == 'd' && len(text) > 12 && text[6] == '\\' && text[7] == 'u':
		return 12
	default:
		return 6
	}
}

// percentDecoded is a URL-encoded document. false: it is none (AWS IAM API: policies are URL-encoded
// compliant with RFC 3986, which has no plus sign for a space).
func (s source) percentDecoded() (source, bool) {
	if !bytes.HasPrefix(bytes.ToUpper(s.text[:min(len(s.text), 3)]), []byte("%7B")) {
		return s, false
	}
	var out source
	for i := 0; i < len(s.text); i++ {
		if s.text[i] != '%' {
			out.append(s.text[i:i+1], s.at[i])
			continue
		}
		if i+2 >= len(s.text) {
			return s, false
		}
		char, err := strconv.ParseUint(string(s.text[i+1:i+3]), 16, 8)
		if err != nil {
			return s, false
		}
		out.append([]byte{byte(char)}, s.at[i])
		i += 2
	}
	out.at = append(out.at, s.at[len(s.text)])
	return out, true
}

// wrappers are the fields of AWS's answers in which policies lie.
func wrappers(kind iampolicy.Kind) []string {
	if kind == iampolicy.TrustPolicy {
		return []string{"Role", "Roles", "RoleDetailList", "AssumeRolePolicyDocument"}
	}
	return []string{"PolicyVersion", "Document", "PolicyDocument"}
}

// documents are the policies of a file: the file itself, a URL-encoded one, those of a list, and
// those of an answer of AWS's. What is neither is a document for Parse to refuse. Where there are more than most,
// which zero does not bound, at least one more is returned.
func documents(kind iampolicy.Kind, file source, depth, most int) []source {
	inner := file.trimmed()
	if plain, ok := inner.percentDecoded(); ok {
		return []source{plain}
	}
	if depth == 0 || !json.Valid(inner.text) {
		return []source{file}
	}
	var found []source
	switch inner.text[0] {
	case '"':
		return documents(kind, inner.unquoted(), depth-1, most)
	case '[':
		for item := range inner.items() {
			if found = append(found, documents(kind, item, depth-1, most)...); most > 0 && len(found) > most {
				break
			}
		}
	case '{':
		found = inner.wrapped(kind, depth, most)
	}
	if len(found) == 0 {
		return []source{file}
	}
	return found
}

// items are the values of a valid JSON list.
func (s source) items() iter.Seq[source] {
	return func(yield func(source) bool) {
		decoder := json.NewDecoder(bytes.NewReader(s.text))
		_, _ = decoder.Token() // the bracket
		for decoder.More() {
			if !yield(s.value(decoder)) {
				return
			}
		}
	}
}

// value is the next value of a decoder that reads the text.
func (s source) value(decoder *json.Decoder) source {
	var raw json.RawMessage
	_ = decoder.Decode(&raw) // the text is valid
	end := int(decoder.InputOffset())
	return s.slice(end-len(raw), end)
}

// wrapped are the policies in the fields of an answer; none in an object that is a policy itself.
func (s source) wrapped(kind iampolicy.Kind, depth, most int) []source {
	decoder := json.NewDecoder(bytes.NewReader(s.text))
	_, _ = decoder.Token() // the brace
	var all []source
	for decoder.More() {
		name, _ := decoder.Token()
		field, value := name.(string), s.value(decoder)
		if field == "Statement" {
			return nil
		}
		// A policy itself is told by a later field, so that it is read to its end.
		if slices.Contains(wrappers(kind), field) && (most == 0 || len(all) <= most) {
			all = append(all, documents(kind, value, depth-1, most)...)
		}
	}
	return all
}

// locate turns places in the text into places in the file.
func (s source) locate(found iampolicy.Errors) {
	lines, characters := []int{0}, []int{}
	for i := 0; i < len(s.text); {
		_, width := utf8.DecodeRune(s.text[i:])
		characters = append(characters, i)
		if s.text[i] == '\n' {
			lines = append(lines, len(characters))
		}
		i += width
	}
	characters = append(characters, len(s.text))
	for _, one := range found {
		character := lines[min(one.Line, len(lines))-1] + one.Column - 1
		at := s.at[characters[min(character, len(characters)-1)]]
		one.Line, one.Column = at.line, at.column
	}
}
