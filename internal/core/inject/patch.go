package inject

import (
	"encoding/json"
	"strconv"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// patchSize is room for the patch of a common pod, so that it is not moved while
// it grows.
const patchSize = 2048

// patch is an RFC 6902 document in the making. All operations are "add".
type patch struct{ text []byte }

// document is the finished patch, nil for none.
func (p *patch) document() []byte {
	if p.text == nil {
		return nil
	}
	return append(p.text, ']')
}

// open begins an operation; its value and close must follow. The parts of the
// path are ours and need no escapes.
func (p *patch) open(path ...string) {
	if p.text == nil {
		p.text = append(make([]byte, 0, patchSize), '[')
	} else {
		p.text = append(p.text, ',')
	}
	p.text = append(p.text, `{"op":"add","path":"`...)
	for _, part := range path {
		p.text = append(p.text, part...)
	}
	p.text = append(p.text, `","value":`...)
}

// close ends an operation.
func (p *patch) close() { p.text = append(p.text, '}') }

// appendTo appends elements to a list of a container, and makes the list if it
// is not there.
func (p *patch) appendTo(list string, index int, field string, present raw.Value, elements [][]byte) {
	if len(elements) == 0 {
		return
	}
	number := strconv.Itoa(index)
	if !present.Empty() {
		for _, element := range elements {
			p.open("/spec/", list, "/", number, "/", field, "/-")
			p.text = append(p.text, element...)
			p.close()
		}
		return
	}
	p.open("/spec/", list, "/", number, "/", field)
	for i, element := range elements {
		p.text = append(p.text, "[,"[min(i, 1)])
		p.text = append(p.text, element...)
	}
	p.text = append(p.text, ']')
	p.close()
}

// appendVolume is a volume with one token.
func appendVolume(text []byte, name, audience string, expiration int64) []byte {
	text = append(text, `{"name":`...)
	text = appendString(text, name)
	text = append(text, `,"projected":{"sources":[{"serviceAccountToken":{"audience":`...)
	text = appendString(text, audience)
	text = append(text, `,"expirationSeconds":`...)
	text = strconv.AppendInt(text, expiration, 10)
	text = append(text, `,"path":`...)
	text = appendString(text, tokenFile)
	return append(text, `}}]}}`...)
}

// variableJSON is one entry of a container's environment.
func variableJSON(name, value string) []byte {
	text := appendString([]byte(`{"name":`), name)
	text = appendString(append(text, `,"value":`...), value)
	return append(text, '}')
}

// mountJSON is one read-only mount.
func mountJSON(volume, path string) []byte {
	text := appendString([]byte(`{"name":`), volume)
	text = appendString(append(text, `,"readOnly":true,"mountPath":`...), path)
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
