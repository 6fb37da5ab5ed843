// Package raw reads JSON in place, without building a tree of it. The webhook
// looks at a few fields of a pod and must not touch the rest, so that fields
// that it has never heard of survive; and it does so for every pod of a cluster,
// so that reading costs next to nothing.
//
// Parse checks the whole text once. All other functions rely on that check and
// cannot fail: what is not there, or is of another kind, is an absent Value.
package raw

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Kind is what a Value is. Its text is fit for an error message.
type Kind string

// The kinds of JSON, and Absent for a value that is not there.
const (
	Absent Kind = "absent"
	Null   Kind = "null"
	Object Kind = "an object"
	Array  Kind = "an array"
	String Kind = "a string"
	Number Kind = "a number"
	Bool   Kind = "a boolean"
)

// Value is one value within a checked text. It shares the text's memory: it is
// good as long as the text is not changed. The zero Value is absent.
type Value struct {
	document *document
	// start and end are where it is in the text.
	start, end int
	// span is its place among the spans, if it is an object or array.
	span int
}

// Bytes is the value as it was written. It shares the text's memory.
func (v Value) Bytes() []byte {
	if v.document == nil {
		return nil
	}
	return v.document.text[v.start:v.end]
}

// Kind says what the value is.
func (v Value) Kind() Kind {
	if v.document == nil {
		return Absent
	}
	switch v.document.text[v.start] {
	case 'n':
		return Null
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	default:
		return Number
	}
}

// Empty says that there is nothing: the value is absent or null.
func (v Value) Empty() bool {
	return v.document == nil || v.document.text[v.start] == 'n'
}

// Text is the string that the value stands for, without escapes. It is empty
// for everything but a string.
func (v Value) Text() string { return string(v.Unquoted()) }

// Unquoted is the same as bytes, nil for everything but a string. It may share
// the text's memory.
func (v Value) Unquoted() []byte {
	if v.Kind() != String {
		return nil
	}
	return unquote(v.Bytes())
}

// Is says whether the value is the string want. It does not allocate for a
// string without escapes.
func (v Value) Is(want string) bool {
	return v.Kind() == String && string(v.Unquoted()) == want
}

// Get is the member of that name of an object; the last one if the name is
// there twice, as encoding/json has it.
func (v Value) Get(name string) Value {
	var found Value
	for c := v.Walk(); c.Next(); {
		if string(c.Name()) == name {
			found = c.Value()
		}
	}
	return found
}

// Equal says whether two values mean the same, whatever the order of members and
// the way a string is written. Numbers are compared as they are written. What of v
// is not in other ends the comparison, so that its cost is bounded by other.
func (v Value) Equal(other Value) bool {
	if v.Kind() != other.Kind() {
		return false
	}
	switch v.Kind() {
	case Object:
		return v.hasMembersOf(other)
	case Array:
		mine, theirs := v.Walk(), other.Walk()
		for mine.Next() {
			if !theirs.Next() || !mine.Value().Equal(theirs.Value()) {
				return false
			}
		}
		return !theirs.Next()
	case String:
		return bytes.Equal(v.Unquoted(), other.Unquoted())
	default:
		return bytes.Equal(v.Bytes(), other.Bytes())
	}
}

// hasMembersOf says that an object has the members of another one, and no more.
func (v Value) hasMembersOf(other Value) bool {
	for c := v.Walk(); c.Next(); {
		if !c.Value().Equal(other.Get(string(c.Name()))) {
			return false
		}
	}
	for c := other.Walk(); c.Next(); {
		if v.Get(string(c.Name())).Kind() == Absent {
			return false
		}
	}
	return true
}

// Walk goes over the members of an object or the elements of an array; over
// nothing for any other kind.
func (v Value) Walk() Cursor {
	switch v.Kind() {
	case Object:
		return Cursor{document: v.document, at: v.start + 1, span: v.span + 1, object: true}
	case Array:
		return Cursor{document: v.document, at: v.start + 1, span: v.span + 1}
	default:
		return Cursor{}
	}
}

// Cursor stands on one member or element after each Next that was true. It is
// not safe for concurrent use.
type Cursor struct {
	document *document
	at       int
	// span is the first span that begins at at or later.
	span   int
	object bool
	name   []byte
	value  Value
}

// Next goes to the next member or element, and says whether there is one.
func (c *Cursor) Next() bool {
	if c.document == nil {
		return false
	}
	text := c.document.text
	c.at = c.document.space(c.at)
	switch text[c.at] {
	case '}', ']':
		c.document = nil
		return false
	case ',':
		c.at = c.document.space(c.at + 1)
	}
	if c.object {
		end := skipString(text, c.at)
		c.name = text[c.at:end]
		c.at = c.document.space(c.document.space(end) + 1) // past the colon
	}
	c.value = Value{document: c.document, start: c.at, span: c.span}
	c.at = c.skip()
	c.value.end = c.at
	return true
}

// skip is the position after the value that starts at the cursor.
func (c *Cursor) skip() int {
	text, at := c.document.text, c.at
	switch text[at] {
	case '"':
		return skipString(text, at)
	case '{', '[':
		own := c.document.spans[c.span]
		c.span = own.next
		return own.end
	}
	for at < len(text) && !delimits(text[at]) {
		at++
	}
	return at
}

// Name is the name of the member, without escapes; empty for an element. It may
// share the text's memory.
func (c *Cursor) Name() []byte {
	if len(c.name) == 0 {
		return nil
	}
	return unquote(c.name)
}

// Value is the value of the member or element.
func (c *Cursor) Value() Value { return c.value }

// unquote takes the quotes and escapes off a checked string. A string of plain
// text shares its memory.
func unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return nil // not reached: the text was checked
	}
	return []byte(text)
}

// skipString is the position after the string that starts at at.
func skipString(text []byte, at int) int {
	for at++; ; at++ {
		at += bytes.IndexByte(text[at:], '"')
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// delimits says that c ends a number or a literal.
func delimits(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\n', '\r', '\t':
		return true
	}
	return false
}
