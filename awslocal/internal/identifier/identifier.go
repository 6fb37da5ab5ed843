// Package identifier makes the opaque names that AWS gives to things: unique
// IDs, access keys, secrets, session tokens and request IDs.
package identifier

import (
	"encoding/base64"
	"fmt"
	"io"
	"sync"
)

// The prefixes of unique IDs. IAM: "IAM identifiers", unique ID prefixes.
const (
	User         = "AIDA"
	Role         = "AROA"
	LongLivedKey = "AKIA"
	TemporaryKey = "ASIA"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// Source makes identifiers from random bytes. It is safe for concurrent use.
type Source struct {
	mu     sync.Mutex
	random io.Reader
}

// New returns a source that reads from random.
func New(random io.Reader) *Source { return &Source{random: random} }

// Unique is the prefix and 17 letters and digits; for access keys, which are 20
// long, 16.
func (s *Source) Unique(prefix string) string {
	length := 17
	if prefix == LongLivedKey || prefix == TemporaryKey {
		length = 16
	}
	out := []byte(prefix)
	for _, b := range s.bytes(length) {
		out = append(out, alphabet[b&31])
	}
	return string(out)
}

// Secret is a secret access key: 40 characters of base64.
func (s *Source) Secret() string { return base64.StdEncoding.EncodeToString(s.bytes(30)) }

// Token is a session token. Its length is like a real one's, so that nobody
// comes to rely on a short one.
func (s *Source) Token() string { return base64.StdEncoding.EncodeToString(s.bytes(510)) }

// Request is a request ID, a random UUID.
func (s *Source) Request() string {
	b := s.bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// bytes panics when the source of randomness is at its end: going on would hand
// out keys that anybody can guess.
func (s *Source) bytes(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := make([]byte, n)
	if _, err := io.ReadFull(s.random, b); err != nil {
		panic(fmt.Sprintf("awslocal: the source of randomness given as Options.Random failed: %v", err))
	}
	return b
}
