package catalogue

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// longestText is how much of a text of an item is read, in bytes as they arrive: an icon has
	// more, and nobody asked for it. A byte arrives as six at most, as in "\u0041", so an
	// annotation that is cut here is still larger than an API server takes, and counts as unknown.
	longestText = 6*largestAnnotations + 6
	// longestAnswer is how many bytes of an answer are read unless somebody asks for another
	// number.
	longestAnswer = 1 << 30
)

var (
	errEnded  = errors.New("the answer ended in its middle, so the list is not whole; ask again")
	errAnswer = errors.New("the answer is longer than a list may be")
)

// list cuts an answer of an API server into the items of the list, and holds one at a time.
type list struct {
	in *bufio.Reader
	// buffer holds the value that was read last, without the ends of long texts.
	buffer []byte
	// number counts the items.
	number int
	// kind and metadata are those of the list; items says that it had the field.
	kind     string
	metadata []byte
	items    bool
}

func newList(in io.Reader, longest int64) *list {
	return &list{in: bufio.NewReaderSize(&bounded{in, longest}, 256<<10)}
}

// bounded is a reader that fails behind so many bytes.
type bounded struct {
	in   io.Reader
	left int64
}

func (b *bounded) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, errAnswer
	}
	n, err := b.in.Read(into[:min(int64(len(into)), b.left)])
	b.left -= int64(n)
	return n, err
}

// each calls do with each item, which holds until do returns. An item that is too large is nil.
// Items are not known to be valid JSON.
func (l *list) each(do func(item []byte) error) error {
	if c, err := l.peek(); err != nil {
		return err
	} else if c != '{' {
		return l.unexpected(c, "a list of objects in JSON")
	}
	return l.elements('}', func() error {
		if c, err := l.peek(); err != nil {
			return err
		} else if c != '"' {
			return l.unexpected(c, "the name of a field")
		}
		if _, err := l.value(); err != nil {
			return err
		}
		name, _ := text(l.buffer)
		if c, err := l.peek(); err != nil {
			return err
		} else if c != ':' {
			return l.unexpected(c, `":"`)
		}
		l.take()
		return l.field(name, do)
	})
}

// field reads the value of a field of the list.
func (l *list) field(name string, do func([]byte) error) error {
	c, err := l.peek()
	if err != nil {
		return err
	}
	if name == "items" && c == '[' {
		l.items = true
		return l.elements(']', func() error {
			l.number++
			fits, err := l.value()
			if err != nil {
				return err
			}
			if !fits {
				return do(nil)
			}
			return do(l.buffer)
		})
	}
	fits, err := l.value()
	if err != nil || !fits {
		return err
	}
	switch name {
	case "items":
		l.items = string(l.buffer) == "null"
	case "kind":
		l.kind, _ = text(l.buffer)
	case "metadata":
		l.metadata = append([]byte(nil), l.buffer...)
	}
	return nil
}

// elements reads what is between the bracket that comes next and the one that ends it, where
// commas divide it.
func (l *list) elements(end byte, one func() error) error {
	l.take()
	c, err := l.peek()
	if err == nil && c == end {
		l.take()
		return nil
	}
	for err == nil {
		if err = one(); err != nil {
			return err
		}
		if c, err = l.peek(); err != nil {
			return err
		}
		if c != end && c != ',' {
			return l.unexpected(c, fmt.Sprintf("%q or %q", ",", end))
		}
		l.take()
		if c == end {
			return nil
		}
	}
	return err
}

func (l *list) unexpected(c byte, expected string) error {
	return fmt.Errorf("the answer is no list of an API server: behind item %d there is %q, expected %s", l.number, c, expected)
}

// peek is the next byte that is no space. It stays.
func (l *list) peek() (byte, error) {
	for {
		c, err := l.in.ReadByte()
		if err != nil {
			return 0, ended(err)
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, l.in.UnreadByte()
		}
	}
}

func (l *list) take() { _, _ = l.in.Discard(1) } // What was peeked can be discarded.

// ended is what an error of reading means inside a list.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errEnded
	}
	return err
}

// value reads the next value into the buffer. It does not fit if it is larger than a document
// may be; then the buffer is empty.
func (l *list) value() (fits bool, err error) {
	l.buffer = l.buffer[:0]
	if _, err := l.peek(); err != nil {
		return false, err
	}
	var s scan
	for {
		if _, err := l.in.Peek(1); err != nil {
			return false, ended(err)
		}
		chunk, err := l.in.Peek(l.in.Buffered())
		if err != nil {
			return false, err
		}
		n, done := s.over(chunk, &l.buffer)
		_, _ = l.in.Discard(n) // What was peeked can be discarded.
		if !done {
			continue
		}
		if s.large {
			l.buffer = l.buffer[:0]
		} else if len(l.buffer) == 0 {
			return false, l.unexpected(chunk[n], "a value")
		}
		return !s.large, nil
	}
}

// scan goes over one value, and finds its end by its brackets and quotes.
type scan struct {
	begun, large, quoted bool
	depth                int
	text                 textScan
}

// over goes over a chunk of the value, which it adds to the buffer. It returns how many bytes
// are of the value, and whether that ended.
func (s *scan) over(chunk []byte, buffer *[]byte) (n int, done bool) {
	for n < len(chunk) {
		if s.quoted {
			length, last := s.text.over(chunk[n:], s.keep(buffer))
			n += length
			s.quoted = !last
			if last && s.depth == 0 {
				return n, true
			}
			continue
		}
		c := chunk[n]
		opens := c == '"' || c == '{' || c == '['
		if s.depth == 0 && (s.begun && opens || !opens && bytes.IndexByte([]byte(",}]: \t\r\n"), c) >= 0) {
			return n, true
		}
		switch c {
		case '"':
			s.quoted, s.text = true, textScan{}
		case '{', '[':
			s.depth++
		case '}', ']':
			s.depth--
		}
		s.begun = true
		s.keep(buffer)(chunk[n : n+1])
		n++
		if s.depth == 0 && (c == '}' || c == ']') {
			return n, true
		}
	}
	return n, false
}

// keep adds bytes to the buffer, until they are too many.
func (s *scan) keep(buffer *[]byte) func([]byte) {
	return func(part []byte) {
		if !s.large {
			*buffer = append(*buffer, part...)
			s.large = len(*buffer) > largest
		}
	}
}

// textScan goes over a text behind its first quote.
type textScan struct {
	length int
	// escaped says that the byte before was a backslash; digits are those of "\u" that come.
	escaped bool
	digits  int
	// cut says that the rest of the text is not kept.
	cut bool
}

// over goes over a chunk of the text, and keeps what is within its bounds. It returns how many
// bytes are of the text, and whether the last one is the quote that ends it. A text is never cut
// inside of an escape.
func (t *textScan) over(chunk []byte, keep func([]byte)) (n int, last bool) {
	for n < len(chunk) {
		if run := t.plain(chunk[n:]); run > 0 {
			room := max(min(longestText-t.length, run), 0)
			if !t.cut {
				keep(chunk[n : n+room])
				t.cut = room < run
			}
			t.length += run
			n += run
			continue
		}
		c := chunk[n]
		last = c == '"' && !t.escaped
		if t.step(c) || last {
			keep(chunk[n : n+1])
		}
		n++
		if last {
			return n, true
		}
	}
	return n, false
}

// plain is how many bytes come before the next quote or backslash, where no escape is open.
func (t *textScan) plain(chunk []byte) int {
	if t.escaped || t.digits > 0 {
		return 0
	}
	for i, c := range chunk {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return len(chunk)
}

// step takes a byte that is a backslash or belongs to an escape, and says whether to keep it.
func (t *textScan) step(c byte) bool {
	t.length++
	t.cut = t.cut || t.length > longestText && !t.escaped && t.digits == 0
	switch {
	case t.escaped:
		t.escaped = false
		if c == 'u' {
			t.digits = 4
		}
	case c == '\\':
		t.escaped, t.digits = true, 0
	case t.digits > 0:
		t.digits--
	}
	return !t.cut
}
