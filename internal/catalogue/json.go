package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
)

// deepest is how deep a JSON document may be: real ones are below twenty. It also bounds how
// often the lines after a document that never ends are read again.
const deepest = 100

// nextJSON is the next value of a stream of JSON values.
//
// A broken value hides nothing after it: reading goes on at the next line that begins with "{".
// Of a value that was written as one line or indented, only the first line begins so.
func (d *documents) nextJSON() ([]byte, error) {
	if err := d.toValue(); err != nil {
		return nil, err
	}
	d.number++
	d.buffer = d.buffer[:0]
	var frame frame
	for {
		text, err := d.chunk()
		if atEnd(err) {
			return nil, d.giveUp(brokenf("the document ends too early: brackets or quotes are open"), false)
		}
		if err != nil {
			return nil, err
		}
		n, state := frame.scan(text)
		if len(d.buffer)+n > largest {
			return nil, d.tooLarge(&frame, n, state)
		}
		d.buffer = append(d.buffer, text[:n]...)
		d.take(n)
		switch state {
		case whole:
			return d.valid()
		case torn:
			return nil, d.giveUp(brokenf("the document is no JSON: %s", frame.why), frame.newline)
		}
	}
}

// toValue goes to the next "{". Anything else between two values is a finding, but spaces and
// the line "---".
func (d *documents) toValue() error {
	for {
		text, err := d.chunk()
		if err != nil {
			return err
		}
		if n := len(text) - len(bytes.TrimLeft(text, " \t\r\n")); n > 0 {
			d.take(n)
			continue
		}
		if text[0] == '{' {
			return nil
		}
		first, err := d.skipLine()
		if err != nil && !atEnd(err) {
			return err
		}
		if string(bytes.TrimSpace(first)) == "---" {
			continue
		}
		d.number++
		return d.toLine(brokenf(`the document begins with %q, expected "{"; the lines up to the next one that begins so were passed over`, first), true)
	}
}

// toLine goes to the next line that begins with "{". It returns why, or what is wrong with the
// file.
func (d *documents) toLine(why *broken, atLine bool) error {
	for {
		if text, err := d.chunk(); err == nil && atLine && text[0] == '{' {
			return why
		}
		if _, err := d.skipLine(); atEnd(err) {
			return why
		} else if err != nil {
			return err
		}
		atLine = true
	}
}

// giveUp goes on after a broken document: at its second line or later, or after it. atLine says
// that what comes next is the beginning of a line.
func (d *documents) giveUp(why *broken, atLine bool) error {
	if next := bytes.Index(d.buffer, []byte("\n{")); next >= 0 {
		d.again(d.buffer[next+1:])
		return why
	}
	return d.toLine(why, atLine)
}

// tooLarge passes over a document that is too large: to its end, or, if another line of it
// begins with "{", to that: then it may be that the document was cut off long before. The frame
// has seen n bytes of the chunk, after which it was in this state.
func (d *documents) tooLarge(frame *frame, n int, state state) error {
	if bytes.Contains(d.buffer, []byte("\n{")) {
		return d.giveUp(errTooLarge, false)
	}
	d.buffer = nil
	for {
		d.take(n)
		switch state {
		case whole:
			return errTooLarge
		case torn:
			return d.toLine(errTooLarge, frame.newline)
		}
		text, err := d.chunk()
		if atEnd(err) {
			return errTooLarge
		}
		if err != nil {
			return err
		}
		n, state = frame.scan(text)
	}
}

// valid checks a value whose brackets are closed.
func (d *documents) valid() ([]byte, error) {
	if json.Valid(d.buffer) {
		return d.buffer, nil
	}
	why := brokenf("the document is no JSON")
	var syntax *json.SyntaxError
	if err := json.Unmarshal(d.buffer, &struct{}{}); errors.As(err, &syntax) {
		why = brokenf("the document is no JSON: %s, at byte %d", syntax.Error(), syntax.Offset)
	}
	// What follows is looked at by itself, and so are lines that the value swallowed.
	if next := bytes.Index(d.buffer, []byte("\n{")); next >= 0 {
		d.again(d.buffer[next+1:])
	}
	return nil, why
}

// frame finds the end of a JSON value. It does not say whether the value is right.
type frame struct {
	// kinds are the brackets that are open.
	kinds [deepest]byte
	depth int
	// quoted and escaped are within a string.
	quoted, escaped bool
	// newline says that the byte before was one; last is the last byte that was no space.
	newline bool
	last    byte
	why     string
}

type state int

const (
	more state = iota
	whole
	torn
)

// scan goes over text, and returns after how many bytes it stopped, and why.
func (f *frame) scan(text []byte) (int, state) {
	for i, c := range text {
		if f.quoted {
			switch {
			case c == '\n':
				f.why = "a text has no closing quote on its line"
				return i, torn
			case f.escaped:
				f.escaped = false
			case c == '\\':
				f.escaped = true
			case c == '"':
				f.quoted = false
			}
			continue
		}
		switch c {
		case '\n':
			f.newline = true
			continue
		case ' ', '\t', '\r':
			f.newline = false
			continue
		case '"':
			f.quoted = true
		case '{', '[':
			if !f.push(c) {
				return i, torn
			}
		case '}', ']':
			if f.depth--; f.depth == 0 {
				return i + 1, whole
			}
		}
		f.last, f.newline = c, false
	}
	return len(text), more
}

// push opens a bracket, unless no value can be there, or too many are open.
func (f *frame) push(c byte) bool {
	if f.depth == deepest {
		f.why = "it is deeper than 100 brackets"
		return false
	}
	if f.newline && c == '{' && f.depth > 0 {
		value := f.last == ':' || f.last == '[' || f.last == ',' && f.kinds[f.depth-1] == '['
		if !value {
			f.why = `the next line begins with "{", and brackets are open`
			return false
		}
	}
	f.kinds[f.depth] = c
	f.depth++
	return true
}
