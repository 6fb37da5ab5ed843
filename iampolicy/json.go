package iampolicy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a document. A real policy needs six levels; a
// bound keeps a hostile one from exhausting the stack.
const maxDepth = 32

// shape is the JSON type of a node.
type shape int

const (
	shapeObject shape = iota
	shapeArray
	shapeString
	shapeNumber
	shapeBool
	shapeNull
)

// String names the type in a sentence.
func (s shape) String() string {
	return [...]string{"an object", "a list", "a string", "a number", "a boolean", "null"}[s]
}

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
	shape shape
	// members are those of an object or, without keys, of a list.
	members []member
	// endLine and endColumn are the place behind an object or a list.
	endLine, endColumn int
}

// member is one key of an object, or one entry of a list.
type member struct {
	key   text
	value node
}

// reader reads one JSON document.
type reader struct {
	input        string
	offset       int
	line, column int
	// unclosed holds the members of the objects and lists that have not ended
	// yet, so that each is given its own once and in one piece.
	unclosed []member
	errs     Errors
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
	root, ok := r.value(1)
	if !ok {
		return nil, r.errs
	}
	r.space()
	if r.offset < len(r.input) {
		r.fail(CodeInvalidJSON, "found more text after the end of the document; remove it")
		return nil, r.errs
	}
	return &root, r.errs
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

// value reads any JSON value; false after a mistake.
func (r *reader) value(depth int) (node, bool) {
	n := node{text: text{line: r.line, column: r.column}}
	if depth > maxDepth {
		r.fail(CodeTooDeep, "the document is nested deeper than %d levels; no policy needs that", maxDepth)
		return n, false
	}
	var ok bool
	switch b := r.peek(); {
	case b == '{':
		n.shape = shapeObject
		n.members, ok = r.members(depth, '}', `"," or "}"`)
	case b == '[':
		n.shape = shapeArray
		n.members, ok = r.members(depth, ']', `"," or "]"`)
	case b == '"':
		n.shape = shapeString
		n.value, ok = r.quoted()
	case b == '-' || b >= '0' && b <= '9':
		n.shape = shapeNumber
		n.value, ok = r.number()
	default:
		n.value, n.shape, ok = r.word()
	}
	n.endLine, n.endColumn = r.line, r.column
	return n, ok
}

// members reads an object or a list up to the byte that closes it.
func (r *reader) members(depth int, closing byte, wanted string) ([]member, bool) {
	r.moveTo(r.offset + 1)
	start := len(r.unclosed)
	seen := map[string]bool{}
	for r.space(); r.peek() != closing; r.space() {
		if len(r.unclosed) > start && !r.expect(',', wanted) {
			return nil, false
		}
		var m member
		var ok bool
		if closing == '}' && !r.key(&m, seen) {
			return nil, false
		}
		if m.value, ok = r.value(depth + 1); !ok {
			return nil, false
		}
		r.unclosed = append(r.unclosed, m)
	}
	r.moveTo(r.offset + 1)
	members := slices.Clone(r.unclosed[start:])
	r.unclosed = r.unclosed[:start]
	return members, true
}

// key reads the key of a member of an object, and the colon.
func (r *reader) key(m *member, seen map[string]bool) bool {
	m.key = text{line: r.line, column: r.column}
	var ok bool
	if m.key.value, ok = r.quoted(); !ok {
		return false
	}
	if seen[m.key.value] {
		r.errs = append(r.errs, &Error{Line: m.key.line, Column: m.key.column, Code: CodeDuplicateKey,
			Message: fmt.Sprintf("the key %q is given twice in one object; keep one", m.key.value), subject: m.key.value})
	}
	seen[m.key.value] = true
	r.space()
	return r.expect(':', `":"`)
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
