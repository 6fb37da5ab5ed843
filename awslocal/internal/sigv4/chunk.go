package sigv4

import (
	"bytes"
	"crypto/hmac"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The values of x-amz-content-sha256 that are no hash. AWS: "Signature
// calculations for the Authorization header: transferring payload in chunks".
const (
	UnsignedPayload      = "UNSIGNED-PAYLOAD"
	UnsignedTrailer      = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
	SignedChunks         = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	SignedChunksTrailer  = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
	trailerSignatureName = "X-Amz-Trailer-Signature"
)

// minChunk is the least that every chunk but the last must hold.
const minChunk = 8 << 10

// Chunks describes a body in the encoding "aws-chunked".
type Chunks struct {
	// Mode is one of the STREAMING constants.
	Mode string
	// DecodedLength is x-amz-decoded-content-length, negative when absent.
	DecodedLength int64
	// Signature and Secret verify the chunks where Mode signs them.
	Signature *Signature
	Secret    string
}

// IsStreaming says whether a payload hash stands for a chunked body.
func IsStreaming(hash string) bool {
	return hash == UnsignedTrailer || hash == SignedChunks || hash == SignedChunksTrailer
}

// Decode takes the payload and the trailing headers out of a chunked body. It
// verifies every chunk's signature, the trailer's, and the decoded length. The
// payload is moved together inside the body, which is lost.
func (c *Chunks) Decode(body []byte) ([]byte, http.Header, error) {
	if c.DecodedLength < 0 {
		return nil, nil, &Error{Kind: LengthMissing, Detail: "A chunked upload needs the header x-amz-decoded-content-length."}
	}
	d := &decoder{chunks: c, rest: body, signed: c.Mode != UnsignedTrailer}
	if d.signed {
		d.previous = c.Signature.Sum
	}
	// A chunk always stands behind its own place in the payload.
	payload, small := body[:0], false
	for {
		chunk, err := d.next()
		if err != nil {
			return nil, nil, err
		}
		if len(chunk) == 0 {
			break
		}
		if small {
			return nil, nil, &Error{Kind: ChunkTooSmall, Detail: fmt.Sprintf("Only the last chunk is allowed to have a size less than %d bytes", minChunk)}
		}
		small = len(chunk) < minChunk
		payload = append(payload, chunk...)
	}
	if int64(len(payload)) != c.DecodedLength {
		return nil, nil, incomplete(fmt.Sprintf("the chunks hold %d bytes, x-amz-decoded-content-length says %d", len(payload), c.DecodedLength))
	}
	trailer, err := d.trailer()
	return payload, trailer, err
}

type decoder struct {
	chunks *Chunks
	rest   []byte
	signed bool
	// previous is the signature that the next one is chained to.
	previous string
}

// next returns the next chunk; an empty one is the last.
func (d *decoder) next() ([]byte, error) {
	line, rest, ok := bytes.Cut(d.rest, []byte("\r\n"))
	if !ok {
		return nil, incomplete("a chunk's header line does not end")
	}
	digits, extension, _ := strings.Cut(string(line), ";")
	size, err := strconv.ParseUint(strings.TrimSpace(digits), 16, 31)
	if err != nil {
		return nil, incomplete("a chunk's size is no hexadecimal number")
	}
	if uint64(len(rest)) < size {
		return nil, incomplete("a chunk is shorter than its size")
	}
	chunk := rest[:size]
	d.rest = rest[size:]
	if size > 0 {
		if !bytes.HasPrefix(d.rest, []byte("\r\n")) {
			return nil, incomplete("a chunk is longer than its size")
		}
		d.rest = d.rest[2:]
	}
	if !d.signed {
		return chunk, nil
	}
	sum, _ := strings.CutPrefix(extension, "chunk-signature=")
	text := strings.Join([]string{"AWS4-HMAC-SHA256-PAYLOAD", d.chunks.Signature.Time.Format(timeLayout), d.chunks.Signature.Scope(), d.previous, Hash(nil), Hash(chunk)}, "\n")
	return chunk, d.chain(sum, text)
}

// chain verifies one signature and makes it the one to go on from.
func (d *decoder) chain(sum, text string) error {
	want := d.chunks.Signature.sum(d.chunks.Secret, text)
	if !hmac.Equal([]byte(want), []byte(sum)) {
		return &Error{Kind: Mismatch, Detail: "The signature of a chunk does not match."}
	}
	d.previous = want
	return nil
}

// trailer reads the headers after the last chunk.
func (d *decoder) trailer() (http.Header, error) {
	trailer := http.Header{}
	var signed strings.Builder
	for line := range strings.SplitSeq(string(d.rest), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, incomplete("a trailing header is not NAME:VALUE")
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		trailer.Add(name, value)
		if !strings.EqualFold(name, trailerSignatureName) {
			signed.WriteString(name + ":" + value + "\n")
		}
	}
	if d.chunks.Mode == SignedChunksTrailer {
		text := strings.Join([]string{"AWS4-HMAC-SHA256-TRAILER", d.chunks.Signature.Time.Format(timeLayout), d.chunks.Signature.Scope(), d.previous, Hash([]byte(signed.String()))}, "\n")
		if err := d.chain(trailer.Get(trailerSignatureName), text); err != nil {
			return nil, err
		}
	}
	trailer.Del(trailerSignatureName)
	if d.chunks.Mode == SignedChunks && len(trailer) > 0 {
		return nil, incomplete("there are trailing headers that x-amz-content-sha256 does not announce")
	}
	return trailer, nil
}

func incomplete(detail string) *Error {
	return &Error{Kind: BodyIncomplete, Detail: "The request's chunked body is malformed: " + detail + "."}
}
