package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
)

const (
	// MaxPayload is the largest payload of Amazon S3, which is held in memory.
	MaxPayload = 64 << 20
	// framing is room for the headers of chunks.
	framing = 1 << 20
	// maxForm is the largest body of every other service; policies are a few
	// kilobytes.
	maxForm = 4 << 20
	// free is what every body may take without asking the budget.
	free = 64 << 10
	// maxBodies is how much all bodies together may take while their calls are
	// under way.
	maxBodies = 256 << 20
)

// budget is the memory that the bodies of all calls share.
type budget struct{ used atomic.Int64 }

// take wants n bytes more, and says whether there are as many.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= maxBodies {
		return true
	}
	b.used.Add(-n)
	return false
}

// body is a request's body on its way into memory. It never takes much more
// than has arrived: a Content-Length is only what the client says.
type body struct {
	budget *budget
	taken  int64
	bytes  []byte
}

// limitOf is how large a request's body may be.
func limitOf(r *http.Request, signature *sigv4.Signature) int64 {
	form := r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	if signature == nil && form || signature != nil && signature.Service != "s3" {
		return maxForm
	}
	return MaxPayload + framing
}

// read reads the body, and nothing of one that says it is larger than the limit.
func (b *body) read(r *http.Request, limit int64) *sigv4.Error {
	if r.ContentLength > limit {
		return tooLarge(limit)
	}
	most := limit + 1
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	for int64(len(b.bytes)) < most {
		if len(b.bytes) == cap(b.bytes) && !b.grow(most) {
			return &sigv4.Error{Kind: sigv4.Busy, Detail: "The server has too many large requests under way."}
		}
		n, err := r.Body.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return incomplete()
		}
	}
	switch length := int64(len(b.bytes)); {
	case length > limit:
		return tooLarge(limit)
	case length < r.ContentLength:
		return incomplete()
	}
	if spare := cap(b.bytes) - len(b.bytes); spare > len(b.bytes)/8 {
		b.bytes = bytes.Clone(b.bytes)
	}
	return nil
}

// grow makes room for as much again as has arrived, but for no more than most.
func (b *body) grow(most int64) bool {
	size := min(most, max(free, 2*int64(cap(b.bytes))))
	if size > free {
		if !b.budget.take(size - b.taken) {
			return false
		}
		b.taken = size
	}
	larger := make([]byte, len(b.bytes), size)
	copy(larger, b.bytes)
	b.bytes = larger
	return true
}

// release gives back what the budget lent. The bytes may live on.
func (b *body) release() { b.budget.used.Add(-b.taken) }

func incomplete() *sigv4.Error {
	return &sigv4.Error{Kind: sigv4.BodyIncomplete, Detail: "The request's body ended early."}
}
