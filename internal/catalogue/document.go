package catalogue

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// largest is the size of a document that is read: one bundle with all its manifests is below
// 2 MB.
const largest = 16 << 20

// documents cuts a stream into documents and holds one at a time. What begins with "{" is a
// stream of JSON values, on one line each or over many; anything else is YAML, cut at the lines
// "---" and "...".
type documents struct {
	in *bufio.Reader
	// back are bytes of a broken document that are read again, from at on, before in.
	back []byte
	at   int
	// buffer holds the document.
	buffer []byte
	// number counts the documents that were returned, broken ones too.
	number int
	format format
	// pending is what stood behind "---" on its line: the next YAML document begins with it.
	pending []byte
	// yaml counts the bytes of YAML documents.
	yaml int64
}

type format int

const (
	undecided format = iota
	jsonStream
	yamlStream
)

func newDocuments(in io.Reader) *documents {
	return &documents{in: bufio.NewReaderSize(in, 256<<10)}
}

// broken is a document that cannot be read. The next one may be good.
type broken struct {
	tooLarge bool
	message  string
}

func (b *broken) Error() string { return b.message }

func brokenf(format string, args ...any) *broken {
	return &broken{message: fmt.Sprintf(format, args...)}
}

var errTooLarge = &broken{tooLarge: true, message: fmt.Sprintf(
	"the document is larger than %d MiB, expected one package, channel or bundle; it was passed over", largest>>20)}

// next is the next document as JSON. It holds until the following call. The error is io.EOF at
// the end, *broken for a document that cannot be read, and anything else ends the stream.
func (d *documents) next() ([]byte, error) {
	if err := d.begin(); err != nil {
		return nil, err
	}
	if cap(d.buffer) > 1<<20 {
		// One large document is no reason to hold its memory for all others.
		d.buffer = nil
	}
	if d.format == jsonStream {
		return d.nextJSON()
	}
	return d.nextYAML()
}

// begin decides which format it is, by the first byte that is no space.
func (d *documents) begin() error {
	if d.format != undecided {
		return nil
	}
	if mark, err := d.in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = d.in.Discard(3) // What was peeked can be discarded.
	}
	for {
		c, err := d.in.ReadByte()
		if err != nil {
			return err
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if c == '{' {
			d.format = jsonStream
		} else {
			d.format = yamlStream
		}
		return d.in.UnreadByte()
	}
}

// chunk is some bytes that come next. They hold until more is read.
func (d *documents) chunk() ([]byte, error) {
	if d.at < len(d.back) {
		return d.back[d.at:], nil
	}
	if _, err := d.in.Peek(1); err != nil {
		return nil, err
	}
	return d.in.Peek(d.in.Buffered())
}

// take goes over n bytes of the chunk.
func (d *documents) take(n int) {
	if d.at < len(d.back) {
		d.at += n
		return
	}
	_, _ = d.in.Discard(n) // What was peeked can be discarded.
}

// again reads the last bytes that were taken, which are the end of the buffer, once more.
func (d *documents) again(text []byte) {
	if d.at < len(d.back) {
		// All of them came from back. Copying them would cost the square of what is broken.
		d.at -= len(text)
		return
	}
	d.back, d.at, d.buffer = text, 0, nil
}

// skipLine goes over the rest of a line, and returns its first bytes.
func (d *documents) skipLine() ([]byte, error) {
	const most = 8
	var first []byte
	for {
		text, err := d.chunk()
		if err != nil {
			return first, err
		}
		n := bytes.IndexByte(text, '\n') + 1
		ended := n > 0
		if !ended {
			n = len(text)
		}
		first = append(first, text[:min(n, most-len(first))]...)
		d.take(n)
		if ended {
			return first, nil
		}
	}
}

// atEnd tells the end of the stream from a fault of the file.
func atEnd(err error) bool { return errors.Is(err, io.EOF) }
