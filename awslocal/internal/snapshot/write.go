package snapshot

import (
	"bytes"
	"encoding/json"
	"io"
)

// newEncoder writes values without the escapes that only web pages need, and a
// line end behind each.
func newEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// Write writes one value as JSON.
func Write(w io.Writer, value any) error { return newEncoder(w).Encode(value) }

// WriteMember writes an object of JSON with one more member at its end, whose
// value write writes. So a large value need not be in memory as text.
func WriteMember(w io.Writer, object any, member string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := Write(&text, object); err != nil {
		return err
	}
	head := bytes.TrimSuffix(text.Bytes(), []byte("}\n"))
	if len(head) > len("{") {
		head = append(head, ',')
	}
	if _, err := w.Write(append(head, `"`+member+`":`...)); err != nil {
		return err
	}
	if err := write(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "}\n")
	return err
}

// WriteList writes a list of JSON, item by item.
func WriteList[T any](w io.Writer, items []T, write func(io.Writer, T) error) error {
	separator := "["
	for _, one := range items {
		if _, err := io.WriteString(w, separator); err != nil {
			return err
		}
		if err := write(w, one); err != nil {
			return err
		}
		separator = ","
	}
	end := "]"
	if len(items) == 0 {
		end = "[]"
	}
	_, err := io.WriteString(w, end)
	return err
}
