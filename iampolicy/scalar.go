package iampolicy

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// quoted reads a JSON string; false after a mistake.
func (r *reader) quoted() (string, bool) {
	if r.peek() != '"' {
		r.unexpected("a string in double quotes")
		return "", false
	}
	r.moveTo(r.offset + 1)
	var out strings.Builder
	for {
		plain := r.plain()
		switch r.peek() {
		case '"':
			r.moveTo(r.offset + 1)
			if out.Len() == 0 {
				return plain, true // without an escape nothing is copied
			}
			out.WriteString(plain)
			return out.String(), true
		case '\\':
			char, ok := r.escape()
			if !ok {
				return "", false
			}
			out.WriteString(plain)
			out.WriteRune(char)
		default:
			r.unexpected("a character of a string")
			return "", false
		}
	}
}

// plain takes the characters of a string up to its end, an escape or what it must
// not hold.
func (r *reader) plain() string {
	start, end := r.offset, r.offset
	for end < len(r.input) && r.input[end] != '"' && r.input[end] != '\\' && r.input[end] >= 0x20 {
		end++
	}
	r.moveTo(end)
	return r.input[start:end]
}

// escapes are the short escapes of JSON.
var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads a backslash and what belongs to it. Half a surrogate pair is a
// mistake: it has no form in UTF-8, so two readers would see two texts.
func (r *reader) escape() (rune, bool) {
	rest := r.input[r.offset:]
	if len(rest) < 2 {
		r.fail(CodeInvalidJSON, "the document ends within an escape")
		return 0, false
	}
	if char, ok := escapes[rest[1]]; ok {
		r.moveTo(r.offset + 2)
		return char, true
	}
	first, ok := unicodeEscape(rest)
	size := 6
	if ok && utf16.IsSurrogate(first) {
		second, okSecond := unicodeEscape(rest[6:])
		size, first = 12, utf16.DecodeRune(first, second)
		ok = okSecond && first != 0xFFFD
	}
	if !ok {
		r.fail(CodeInvalidJSON, `found an escape that JSON does not have; write \\ for a backslash, \uXXXX for a character`)
		return 0, false
	}
	r.moveTo(r.offset + size)
	return first, true
}

// unicodeEscape reads \uXXXX at the start of the text.
func unicodeEscape(rest string) (rune, bool) {
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	for _, digit := range []byte(rest[2:6]) {
		if strings.IndexByte("0123456789abcdefABCDEF", digit) < 0 {
			return 0, false
		}
	}
	value, err := strconv.ParseUint(rest[2:6], 16, 16)
	return rune(value), err == nil
}

// number reads a JSON number and keeps its text, so that no digit is lost.
func (r *reader) number() (string, bool) {
	end := r.offset
	for end < len(r.input) && strings.IndexByte("+-.eE0123456789", r.input[end]) >= 0 {
		end++
	}
	number := r.input[r.offset:end]
	if !isNumber(number) {
		r.fail(CodeInvalidJSON, "found %q, which is not a number of JSON", number)
		return "", false
	}
	r.moveTo(end)
	return number, true
}

// isNumber checks the grammar of JSON numbers, which is narrower than Go's.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if after, ok := strings.CutPrefix(s, "."); ok {
		fraction := digits(after)
		if fraction == 0 {
			return false
		}
		s = after[fraction:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits counts the decimal digits at the start.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// words are the values of JSON that are words.
var words = []struct {
	word  string
	shape shape
}{{"true", shapeBool}, {"false", shapeBool}, {"null", shapeNull}}

// word reads true, false or null.
func (r *reader) word() (string, shape, bool) {
	for _, one := range words {
		if strings.HasPrefix(r.input[r.offset:], one.word) {
			r.moveTo(r.offset + len(one.word))
			return one.word, one.shape, true
		}
	}
	r.unexpected("a JSON value")
	return "", shapeNull, false
}
