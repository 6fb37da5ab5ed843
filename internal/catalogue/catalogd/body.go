package catalogd

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// bounds are what is taken of one answer.
type bounds struct {
	// packed is how many bytes of gzip are read at most, unpacked how many of the catalogue. A
	// large vendor's are 15 and 100 MB.
	packed, unpacked int64
	// stall is how long the server may send nothing.
	stall time.Duration
}

var usual = bounds{packed: 1 << 30, unpacked: 8 << 30, stall: time.Minute}

var errStalled = errors.New("the server has sent nothing")

// watch ends a request for which the server sends nothing for a while. It runs only while
// somebody waits for the server.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

func newWatch(ctx context.Context, stall time.Duration) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	return &watch{ctx, cancel, time.AfterFunc(stall, func() { cancel(errStalled) }), stall}
}

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// watched is a body over which a watch is kept.
type watched struct {
	in    io.Reader
	watch *watch
}

func (w watched) Read(into []byte) (int, error) {
	w.watch.timer.Reset(w.watch.stall)
	n, err := w.in.Read(into)
	w.watch.timer.Stop()
	return n, err
}

// bounded is the beginning of a stream, and an error if there is more.
type bounded struct {
	in   io.Reader
	left int64
	what string
	most int64
}

func atMost(in io.Reader, most int64, what string) io.Reader {
	return &bounded{in: in, left: most, most: most, what: what}
}

func (b *bounded) Read(into []byte) (int, error) {
	if int64(len(into)) > b.left+1 {
		into = into[:b.left+1]
	}
	n, err := b.in.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the answer has more than %d MiB%s, expected 100 MiB at most of a large vendor's; ask for one package", b.most>>20, b.what)
	}
	return n, err
}

// unpack is the body as it was before the server packed it.
func (r *Reader) unpack(response *http.Response, watch *watch) (io.Reader, error) {
	in := io.Reader(watched{response.Body, watch})
	switch encoding := response.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		if response.ProtoMajor == 1 && response.ContentLength < 0 && len(response.TransferEncoding) == 0 {
			return nil, errors.New("the answer says neither how long it is nor where it ends, so a part of it would look like the whole; look at what is between here and catalogd, such as an old proxy")
		}
	case "gzip":
		unzipped, err := gzip.NewReader(atMost(in, r.bounds.packed, " of gzip"))
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, cut(fmt.Errorf("unpack the answer: %w", err))
		}
		in = unzipped
	default:
		return nil, fmt.Errorf("the answer is packed as %s, expected gzip, which was asked for", model.Quoted(encoding))
	}
	return atMost(in, r.bounds.unpacked, ""), nil
}

// lines is the body, if it may be a catalogue: a page that something else answers with would be
// a finding in each line.
func (r *Reader) lines(response *http.Response, watch *watch) (io.Reader, error) {
	kind := response.Header.Get("Content-Type")
	if isPage(kind) {
		return nil, errors.New("the answer is an HTML page, expected JSON lines: it is not from catalogd but from something between, such as a proxy or a page to log in; check the URL and HTTPS_PROXY")
	}
	unpacked, err := r.unpack(response, watch)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(unpacked)
	for {
		c, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return in, nil
		case err != nil:
			return nil, cut(err)
		case c == ' ', c == '\t', c == '\r', c == '\n':
			continue
		case c != '{':
			return nil, fmt.Errorf(`the answer of type %s begins with %q, expected JSON lines, which begin with "{"; check the URL`, model.Quoted(kind), c)
		}
		return in, in.UnreadByte()
	}
}

func isPage(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType) // What cannot be parsed is no page.
	return kind == "text/html" || kind == "application/xhtml+xml"
}
