package catalogue

import (
	"bytes"
	"encoding/json"
)

// JSON is one document as JSON, which may be YAML. It has the bounds of a catalogue's documents: in
// bytes, values, depth, and what aliases make of them.
func JSON(document []byte) ([]byte, error) {
	if len(document) > largest {
		return nil, errTooLarge
	}
	if trimmed := bytes.TrimSpace(document); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(trimmed) {
		return trimmed, nil
	}
	return jsonOf(document)
}
