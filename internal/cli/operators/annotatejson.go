package operators

import (
	"bytes"
	"encoding/json"

	"github.com/tabard-dev/tabard/internal/core/permission"
)

// annotatedJSON writes the annotation into a document in JSON. All else stays as it is, byte by
// byte. It is nil where metadata or annotations are no objects.
func annotatedJSON(text []byte, value string) []byte {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return nil
	}
	content := string(bytes.TrimSpace(quoted.Bytes()))
	metadata, ok := member(text, span{0, len(text)}, "metadata")
	if !ok || text[metadata.from] != '{' {
		return nil
	}
	annotations, ok := member(text, metadata, "annotations")
	entry := `"` + permission.Annotation + `": ` + content
	switch {
	case !ok:
		return inserted(text, metadata, `"annotations": {`+entry+`}`)
	case text[annotations.from] == '{':
		if old, ok := member(text, annotations, permission.Annotation); ok {
			return spliced(text, old, content)
		}
		return inserted(text, annotations, entry)
	case string(text[annotations.from:annotations.to]) == "null":
		return spliced(text, annotations, "{"+entry+"}")
	}
	return nil
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// member is the value of a key of the object in a span.
func member(text []byte, object span, name string) (span, bool) {
	decoder := json.NewDecoder(bytes.NewReader(text[object.from:object.to]))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return span{}, false
	}
	for decoder.More() {
		key, err := decoder.Token()
		var value json.RawMessage
		if err != nil || decoder.Decode(&value) != nil {
			return span{}, false
		}
		if key == name {
			to := object.from + int(decoder.InputOffset())
			return span{to - len(value), to}, true
		}
	}
	return span{}, false
}

// inserted is a text with a member at the beginning of the object in a span.
func inserted(text []byte, object span, entry string) []byte {
	after := object.from + 1
	rest := bytes.TrimLeft(text[after:object.to], " \t\r\n")
	space := string(text[after : object.to-len(rest)])
	if rest[0] == '}' {
		return spliced(text, span{after, after}, entry)
	}
	return spliced(text, span{after, after}, space+entry+",")
}

func spliced(text []byte, at span, with string) []byte {
	return []byte(string(text[:at.from]) + with + string(text[at.to:]))
}
