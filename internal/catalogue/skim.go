package catalogue

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The functions here go over JSON that is known to be valid, without making anything of what
// nobody asks for: most bytes of a catalogue are descriptions, examples and icons.

// eachField calls do with each key and value of an object, in order. It does nothing with any
// other value.
func eachField(object []byte, do func(key, value []byte)) {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return
	}
	for i = space(object, i+1); object[i] != '}'; {
		end := after(object, i)
		key := object[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			text, _ := text(object[i:end])
			key = []byte(text)
		}
		i = space(object, space(object, end)+1) // The colon is between both.
		end = after(object, i)
		do(key, object[i:end])
		if i = space(object, end); object[i] == ',' {
			i = space(object, i+1)
		}
	}
}

// eachItem calls do with each value of a list, in order. It does nothing with any other value.
func eachItem(list []byte, do func(value []byte)) {
	i := space(list, 0)
	if i >= len(list) || list[i] != '[' {
		return
	}
	for i = space(list, i+1); list[i] != ']'; {
		end := after(list, i)
		do(list[i:end])
		if i = space(list, end); list[i] == ',' {
			i = space(list, i+1)
		}
	}
}

// space is where the next byte that is no space is, from i on.
func space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// after is where the value that begins at i has ended.
func after(data []byte, i int) int {
	switch data[i] {
	case '"':
		return afterText(data, i)
	case '{', '[':
		depth := 0
		for ; ; i++ {
			switch data[i] {
			case '"':
				i = afterText(data, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(data) && bytes.IndexByte([]byte(",]} \n\t\r"), data[i]) < 0 {
		i++
	}
	return i
}

// afterText is where the text whose opening quote is at i has ended.
func afterText(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// text is a JSON value as a text of its own. It is false for any other value but null, which is
// the empty text.
func text(value []byte) (string, bool) {
	if len(value) >= 2 && value[0] == '"' {
		if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
			return string(inner), true
		}
	}
	var decoded string
	err := json.Unmarshal(value, &decoded)
	return decoded, err == nil
}
