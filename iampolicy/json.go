package iampolicy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a document. A real policy needs six levels; a
// bound keeps a hostile one from exhausting the stack.
const maxDepth = 32

// shape is the JSON type of a node.
type shape string

const (
	shapeObject shape = "an object"
	shapeArray  shape = "a list"
	shapeString shape = "a string"
	shapeNumber shape = "a number"
	shapeBool   shape = "a boolean"
	shapeNull   shape = "null"
)

// text is a string of the document with its place.
type text struct {
	value        string
	line, column int
}

// node is a JSON value with its place. encoding/json is not enough here: it
// takes duplicate keys and broken UTF-8 in silence, and a second reader of the
// same document could then see another policy.
type node struct {
	text
	shape   shape
	members []member
	items   []*node
}

// member is one key of an object.
type member struct {
	key   text
	value *node
}

// reader reads one JSON document.
type reader struct {
	input        string
	offset       int
	line, column int
	errs         Errors
}

// readJSON returns the document's root, nil if it is not JSON. With duplicate
// keys it returns both: the first of them counts for finding further mistakes.
func readJSON(document []byte) (*node, Errors) {
	r := &reader{input: string(document), line: 1, column: 1}
	if !utf8.ValidString(r.input) {
		r.moveTo(invalidAt(r.input))
		r.fail(CodeInvalidEncoding, "found a byte that is not UTF-8; save the document as UTF-8")
		return nil, r.errs
	}
	r.space()
	root := r.value(1)
	if root == nil {
		return nil, r.errs
	}
	r.space()
	if r.offset < len(r.input) {
		r.fail(CodeInvalidJSON, "found more text after the end of the document; remove it")
		return nil, r.errs
	}
	return root, r.errs
}

// invalidAt finds the first byte that is not UTF-8.
func invalidAt(input string) int {
	for at, char := range input {
		if char == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(input[at:]); size == 1 {
				return at
			}
		}
	}
	return len(input)
}

// moveTo advances to an offset, counting lines and characters.
func (r *reader) moveTo(offset int) {
	for ; r.offset < offset; r.offset++ {
		switch b := r.input[r.offset]; {
		case b == '\n':
			r.line, r.column = r.line+1, 1
		case b&0xC0 != 0x80: // not the continuation of a character
			r.column++
		}
	}
}

// peek returns the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.offset < len(r.input) {
		return r.input[r.offset]
	}
	return 0
}

// space skips white space as JSON knows it.
func (r *reader) space() {
	end := r.offset
	for end < len(r.input) && strings.IndexByte(" \t\r\n", r.input[end]) >= 0 {
		end++
	}
	r.moveTo(end)
}

// fail records a mistake at the present place.
func (r *reader) fail(code Code, format string, args ...any) {
	r.errs = append(r.errs, &Error{Line: r.line, Column: r.column, Code: code, Message: fmt.Sprintf(format, args...)})
}

// unexpected records what stands where something else should.
func (r *reader) unexpected(wanted string) {
	if r.offset >= len(r.input) {
		r.fail(CodeInvalidJSON, "the document ends where %s should follow", wanted)
		return
	}
	char, _ := utf8.DecodeRuneInString(r.input[r.offset:])
	r.fail(CodeInvalidJSON, "found %q where %s should be", char, wanted)
}

// value reads any JSON value; nil after a mistake.
func (r *reader) value(depth int) *node {
	if depth > maxDepth {
		r.fail(CodeTooDeep, "the document is nested deeper than %d levels; no policy needs that", maxDepth)
		return nil
	}
	n := &node{text: text{line: r.line, column: r.column}}
	switch b := r.peek(); {
	case b == '{':
		n.shape = shapeObject
		return r.object(n, depth)
	case b == '[':
		n.shape = shapeArray
		return r.array(n, depth)
	case b == '"':
		n.shape = shapeString
		value, ok := r.quoted()
		if !ok {
			return nil
		}
		n.value = value
		return n
	case b == '-' || b >= '0' && b <= '9':
		return r.number(n)
	default:
		return r.word(n)
	}
}

// object reads the members of an object.
func (r *reader) object(n *node, depth int) *node {
	r.moveTo(r.offset + 1)
	seen := map[string]bool{}
	for r.space(); r.peek() != '}'; r.space() {
		if len(n.members) > 0 {
			if !r.expect(',', `"," or "}"`) {
				return nil
			}
		}
		m := member{key: text{line: r.line, column: r.column}}
		var ok bool
		if m.key.value, ok = r.quoted(); !ok {
			return nil
		}
		if seen[m.key.value] {
			r.errs = append(r.errs, &Error{Line: m.key.line, Column: m.key.column, Code: CodeDuplicateKey,
				Message: fmt.Sprintf("the key %q is given twice in one object; keep one", m.key.value), subject: m.key.value})
		}
		if r.space(); !r.expect(':', `":"`) {
			return nil
		}
		if m.value = r.value(depth + 1); m.value == nil {
			return nil
		}
		seen[m.key.value] = true
		n.members = append(n.members, m)
	}
	r.moveTo(r.offset + 1)
	return n
}

// array reads the items of a list.
func (r *reader) array(n *node, depth int) *node {
	r.moveTo(r.offset + 1)
	for r.space(); r.peek() != ']'; r.space() {
		if len(n.items) > 0 && !r.expect(',', `"," or "]"`) {
			return nil
		}
		item := r.value(depth + 1)
		if item == nil {
			return nil
		}
		n.items = append(n.items, item)
	}
	r.moveTo(r.offset + 1)
	return n
}

// expect takes one byte and the white space after it.
func (r *reader) expect(b byte, wanted string) bool {
	if r.peek() != b {
		r.unexpected(wanted)
		return false
	}
	r.moveTo(r.offset + 1)
	r.space()
	return true
}
