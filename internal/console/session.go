package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How long a code and a session are good for.
const (
	codeGoodFor    = time.Minute
	sessionIdle    = 30 * time.Minute
	sessionAtMost  = 8 * time.Hour
	mostSessions   = 100
	requestsPerSec = 20
	requestsBurst  = 60
)

// Sessions are those of a server. They are in memory only, and end with it. Its methods may be
// called by several goroutines.
type Sessions struct {
	// now is the clock.
	now func() time.Time

	mu sync.Mutex
	// code is the digest of the one that was made last; nil once it is used.
	code     []byte
	codeMade time.Time
	// sessions are by the digest of their cookie: whoever reads this memory has no cookie.
	sessions map[[sha256.Size]byte]*session
}

// session is one browser.
type session struct {
	// token is the digest of what each request has to bring in a header beside its cookie.
	token      [sha256.Size]byte
	begun      time.Time
	used       time.Time
	mayRequest *rate.Limiter
}

// NewSessions makes an empty set.
func NewSessions(now func() time.Time) *Sessions {
	return &Sessions{now: now, sessions: map[[sha256.Size]byte]*session{}}
}

// secret is 256 random bits as text.
func secret() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never returns an error
	return base64.RawURLEncoding.EncodeToString(bits[:])
}

// NewCode makes the code that one browser exchanges for a session, once, within a minute. The code
// before is no longer good.
func (s *Sessions) NewCode() string {
	code := secret()
	digest := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.codeMade = digest[:], s.now()
	return code
}

// begin exchanges a code for the two secrets of a session: that of the cookie and that of the header.
// A code that is not good gives none.
func (s *Sessions) begin(code string) (cookie, token string, ok bool) {
	digest := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.code == nil || subtle.ConstantTimeCompare(digest[:], s.code) != 1 || now.Sub(s.codeMade) > codeGoodFor {
		return "", "", false
	}
	s.code = nil
	s.forget(now)
	cookie, token = secret(), secret()
	s.sessions[sha256.Sum256([]byte(cookie))] = &session{
		token: sha256.Sum256([]byte(token)), begun: now, used: now, mayRequest: rate.NewLimiter(requestsPerSec, requestsBurst),
	}
	return cookie, token, true
}

// forget drops the sessions that are over, and the one that was not used for longest where there are
// too many.
func (s *Sessions) forget(now time.Time) {
	var oldest [sha256.Size]byte
	var since time.Time
	for id, one := range s.sessions {
		if one.isOver(now) {
			delete(s.sessions, id)
		} else if since.IsZero() || one.used.Before(since) {
			oldest, since = id, one.used
		}
	}
	if len(s.sessions) >= mostSessions {
		delete(s.sessions, oldest)
	}
}

func (s *session) isOver(now time.Time) bool {
	return now.Sub(s.used) > sessionIdle || now.Sub(s.begun) > sessionAtMost
}

// verdict is what is said of a request.
type verdict int

const (
	welcome verdict = iota
	noSession
	wrongToken
	tooMany
)

// admit looks up the session of a request by its two secrets.
func (s *Sessions) admit(cookie, token string) verdict {
	id, digest := sha256.Sum256([]byte(cookie)), sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	one, ok := s.sessions[id]
	switch {
	case !ok || one.isOver(now):
		delete(s.sessions, id)
		return noSession
	case subtle.ConstantTimeCompare(digest[:], one.token[:]) != 1:
		return wrongToken
	case !one.mayRequest.AllowN(now, 1):
		return tooMany
	}
	one.used = now
	return welcome
}

// isOpen says whether the session of a cookie has not ended. It does not count as use.
func (s *Sessions) isOpen(cookie string) bool {
	id := sha256.Sum256([]byte(cookie))
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.sessions[id]
	return ok && !one.isOver(s.now())
}
