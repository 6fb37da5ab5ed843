package podpatch

import "encoding/json"

// Room for what a common pod takes, so that it is not moved while it grows.
const (
	patchSize     = 2048
	elementsSize  = 512
	elementsCount = 8
)

// document is an RFC 6902 document in the making.
type document struct{ text []byte }

// finished is the document, nil if it has no operation.
func (d *document) finished() []byte {
	if d.text == nil {
		return nil
	}
	return append(d.text, ']')
}

// begin starts an operation up to the text of its path. The rest of it must follow:
// value, what that is, and end.
func (d *document) begin(operation string) {
	if d.text == nil {
		d.text = append(make([]byte, 0, patchSize), '[')
	} else {
		d.text = append(d.text, ',')
	}
	d.text = append(append(append(d.text, `{"op":"`...), operation...), `","path":"`...)
}

// value ends a path and starts the value.
func (d *document) value() { d.text = append(d.text, `","value":`...) }

func (d *document) end() { d.text = append(d.text, '}') }

// add starts an addition up to its value; end must follow. The parts of the path
// need no escapes in JSON.
func (d *document) add(path ...string) {
	d.begin("add")
	for _, part := range path {
		d.text = append(d.text, part...)
	}
	d.value()
}

// appendTo writes the variable as the API has it. The same goes for the others of
// the name.
func (v Variable) appendTo(text []byte) []byte {
	text = appendString(append(text, `{"name":`...), v.Name)
	if v.Field != "" {
		text = appendString(append(text, `,"valueFrom":{"fieldRef":{"fieldPath":`...), v.Field)
		return append(text, `}}}`...)
	}
	text = appendString(append(text, `,"value":`...), v.Value)
	return append(text, '}')
}

func (m Mount) appendTo(text []byte) []byte {
	text = appendString(append(text, `{"name":`...), m.Volume)
	if !m.Writable {
		text = append(text, `,"readOnly":true`...)
	}
	text = appendString(append(text, `,"mountPath":`...), m.Path)
	return append(text, '}')
}

// appendString appends a JSON string. Plain text, the usual case, is copied.
func appendString(text []byte, value string) []byte {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(value)
			if err != nil {
				return append(text, `""`...) // not reached: every string can be written
			}
			return append(text, quoted...)
		}
	}
	text = append(text, '"')
	text = append(text, value...)
	return append(text, '"')
}
