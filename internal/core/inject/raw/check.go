package raw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDepth bounds how deep a text may be nested, as encoding/json bounds it: the
// check recurses.
const maxDepth = 10000

// document is a checked text, and where its objects and arrays end, so that a
// walk steps over them at once.
type document struct {
	text []byte
	// spans are the objects and arrays in the order in which they begin.
	spans []span
}

// span is one object or array.
type span struct {
	// end is the position after it.
	end int
	// next is the index of the first span that begins after that.
	next int
}

// Parse checks that text is exactly one JSON value. It keeps text, and does not
// change it.
func Parse(text []byte) (Value, error) {
	d := &document{text: text, spans: make([]span, 0, len(text)/24+1)}
	start := d.space(0)
	end := d.value(start, 0)
	if end < 0 || d.space(end) != len(text) {
		return Value{}, explain(text)
	}
	return Value{document: d, start: start, end: end}, nil
}

// explain says what is wrong with a text, in the words of encoding/json.
func explain(text []byte) error {
	err := json.Unmarshal(text, new(json.RawMessage))
	if err == nil {
		err = errors.New("it is none") // not reached: a fuzz test compares the two
	}
	return fmt.Errorf("expected one JSON value: %w", err)
}

// value is the position after the value that starts at at, -1 if there is none.
// The functions below it have the same answers.
func (d *document) value(at, depth int) int {
	if at >= len(d.text) {
		return -1
	}
	switch d.text[at] {
	case '"':
		return d.str(at)
	case '{', '[':
		return d.nested(at, depth+1)
	case 't':
		return d.literal(at, "true")
	case 'f':
		return d.literal(at, "false")
	case 'n':
		return d.literal(at, "null")
	default:
		return d.number(at)
	}
}

// nested is an object or array. It takes its place among the spans.
func (d *document) nested(at, depth int) int {
	if depth > maxDepth {
		return -1
	}
	own := len(d.spans)
	d.spans = append(d.spans, span{})
	object := d.text[at] == '{'
	closing := d.text[at] + 2 // ']' is two after '[', and '}' after '{'
	at = d.space(at + 1)
	for first := true; ; first = false {
		switch {
		case at >= len(d.text):
			return -1
		case first && d.text[at] == closing:
			d.spans[own] = span{end: at + 1, next: len(d.spans)}
			return at + 1
		}
		if object {
			if at = d.name(at); at < 0 {
				return -1
			}
		}
		if at = d.value(at, depth); at < 0 {
			return -1
		}
		at = d.space(at)
		switch {
		case at >= len(d.text):
			return -1
		case d.text[at] == closing:
			d.spans[own] = span{end: at + 1, next: len(d.spans)}
			return at + 1
		case d.text[at] != ',':
			return -1
		}
		at = d.space(at + 1)
	}
}

// name is a member's name and colon; the answer is where its value starts.
func (d *document) name(at int) int {
	if d.text[at] != '"' {
		return -1
	}
	if at = d.str(at); at < 0 {
		return -1
	}
	if at = d.space(at); at >= len(d.text) || d.text[at] != ':' {
		return -1
	}
	return d.space(at + 1)
}

// str is a string.
func (d *document) str(at int) int {
	for at++; at < len(d.text); at++ {
		switch c := d.text[at]; {
		case c == '"':
			return at + 1
		case c < ' ':
			return -1
		case c == '\\':
			if at = d.escape(at); at < 0 {
				return -1
			}
		}
	}
	return -1
}

// escape is the last position of an escape.
func (d *document) escape(at int) int {
	at++
	if at >= len(d.text) {
		return -1
	}
	if d.text[at] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), d.text[at]) < 0 {
			return -1
		}
		return at
	}
	for range 4 {
		if at++; at >= len(d.text) || !isHex(d.text[at]) {
			return -1
		}
	}
	return at
}

// number is a number, without zeros in front.
func (d *document) number(at int) int {
	if d.text[at] == '-' {
		at++
	}
	start := at
	if at = d.digits(at); at < 0 || d.text[start] == '0' && at > start+1 {
		return -1
	}
	if at < len(d.text) && d.text[at] == '.' {
		if at = d.digits(at + 1); at < 0 {
			return -1
		}
	}
	if at < len(d.text) && (d.text[at] == 'e' || d.text[at] == 'E') {
		at++
		if at < len(d.text) && (d.text[at] == '+' || d.text[at] == '-') {
			at++
		}
		return d.digits(at)
	}
	return at
}

// digits are one or more digits.
func (d *document) digits(at int) int {
	start := at
	for at < len(d.text) && '0' <= d.text[at] && d.text[at] <= '9' {
		at++
	}
	if at == start {
		return -1
	}
	return at
}

func (d *document) literal(at int, want string) int {
	if !bytes.HasPrefix(d.text[at:], []byte(want)) {
		return -1
	}
	return at + len(want)
}

// space is the first position from at on that is not blank.
func (d *document) space(at int) int {
	for at < len(d.text) && (d.text[at] == ' ' || d.text[at] == '\n' || d.text[at] == '\r' || d.text[at] == '\t') {
		at++
	}
	return at
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
