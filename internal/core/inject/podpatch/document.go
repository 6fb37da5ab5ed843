package podpatch

import "encoding/json"

// Room for what a common pod takes, so that it is not moved while it grows.
const (
	patchSize     = 2048
	elementsSize  = 512
	elementsCount = 8
)

// copyCosts is by how much a copy is longer than the addition of a value, the
// path that it copies from and the value aside.
const copyCosts = len(`{"op":"copy","from":"","path":""}`) - len(`{"op":"add","path":"","value":}`)

// document is an RFC 6902 document in the making.
type document struct{ text []byte }

// finished is the document, nil if it has no operation.
func (d *document) finished() []byte {
	if d.text == nil {
		return nil
	}
	return append(d.text, ']')
}

// begin starts an operation up to the text of its first member, a path. The rest
// of it must follow, and then end or endString.
func (d *document) begin(operation, member string) {
	if d.text == nil {
		d.text = append(make([]byte, 0, patchSize), '[')
	} else {
		d.text = append(d.text, ',')
	}
	d.text = append(append(d.text, `{"op":"`...), operation...)
	d.member(member)
}

// member ends a string and starts the next member, a string too.
func (d *document) member(name string) {
	d.text = append(append(append(d.text, `","`...), name...), `":"`...)
}

// value ends a path and starts the value.
func (d *document) value() { d.text = append(d.text, `","value":`...) }

func (d *document) end() { d.text = append(d.text, '}') }

func (d *document) endString() { d.text = append(d.text, `"}`...) }

// add starts an addition up to its value; end must follow. The parts of the path
// need no escapes in JSON.
func (d *document) add(path ...string) {
	d.begin("add", "path")
	for _, part := range path {
		d.text = append(d.text, part...)
	}
	d.value()
}

func (d *document) move(from, to string) {
	d.begin("move", "from")
	d.text = append(d.text, from...)
	d.member("path")
	d.text = append(d.text, to...)
	d.endString()
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
