package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
)

// How often an install is looked at, how long nothing is said at most, how long an event may take to
// be sent, and how many streams there are at most. One of a page is enough: a browser has six
// connections to a server.
const (
	glance      = time.Second
	heartbeat   = 15 * time.Second
	sentWithin  = 10 * time.Second
	mostStreams = 2 * mostSessions
)

// topic is what a page follows: how often it is looked at, and what is sent when it differs from what was
// sent last.
type topic struct {
	every time.Duration
	look  func(ctx context.Context) (kind string, document any)
}

// topicOf is what a request follows.
func (s *Server) topicOf(r *http.Request) (topic, error) {
	q := queryOf(r, "install", "of")
	install, of := q.text("install"), q.text("of")
	namespace, name, ok := strings.Cut(install, "/")
	switch {
	case of != "" && install == "":
		if about := s.changesOf(of); about.look != nil {
			return about, q.err()
		}
		q.refuse("the parameter of is %.300q, expected one of overview, workloads, pods/NAMESPACE/NAME, serviceaccounts/NAMESPACE/NAME", of)
	case of != "" || !ok || namespace == "" || name == "":
		q.refuse("the parameter install is %.300q, expected NAMESPACE/NAME, or the parameter of in its place", install)
	}
	return topic{every: glance, look: func(ctx context.Context) (string, any) { return s.glance(ctx, namespace, name) }}, q.err()
}

// events sends what a page follows whenever it changes, as server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). It ends with the browser, or with
// the session.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.refuse(w, r, &Problem{Status: http.StatusMethodNotAllowed, Code: "method", Title: "This address has no such method", Detail: "it is read by GET"})
		return
	}
	about, err := s.topicOf(r)
	if err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		s.refuse(w, r, &Problem{Status: http.StatusTooManyRequests, Code: "streams", Title: "Too many pages are open", Detail: fmt.Sprintf("The console follows %d pages at a time: close some.", mostStreams)})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := &stream{to: w, control: http.NewResponseController(w), last: r.Header.Get("Last-Event-ID")}
	for out.look(s.lookAt(r.Context(), about)) && s.sessions.isOpen(s.cookieOf(r)) {
		select {
		case <-r.Context().Done():
			return
		case <-s.ending:
			return
		case <-time.After(about.every):
		}
	}
}

// lookAt is what is seen of a topic in the time of an answer. A panic is a problem like another one, and the
// stream goes on.
func (s *Server) lookAt(ctx context.Context, about topic) (kind string, document any) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := s.safely(func() { kind, document = about.look(ctx) }); err != nil {
		return "problem", api.Problem(*problemOf(err))
	}
	return kind, document
}

// glance is an install, or why it is not seen.
func (s *Server) glance(ctx context.Context, namespace, name string) (kind string, document any) {
	seen, err := s.installOf(ctx, namespace, name)
	if err != nil {
		return "problem", api.Problem(*problemOf(err))
	}
	return "install", seen
}

// stream is an answer that goes on.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
	// last is the identity of the event that was sent last, and at is when something was.
	last string
	at   time.Time
}

// look sends what was seen, if it is not what was sent last. It says whether the browser is there.
func (s *stream) look(kind string, document any) bool {
	id, text, err := event(document)
	if err != nil {
		return false
	}
	switch now := time.Now(); {
	case id != s.last:
		s.last, s.at = id, now
		return s.send(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", id, kind, text))
	case now.Sub(s.at) >= heartbeat:
		s.at = now
		return s.send(": nothing new\n\n")
	}
	return true
}

// event is a document as the data of an event, and its identity, which does not count when it was read.
func event(document any) (id string, text []byte, err error) {
	counts := document
	if seen, ok := document.(*api.InstallDetail); ok {
		without := *seen
		without.ReadAt = time.Time{}
		counts = without
	}
	if text, err = written(document); err != nil {
		return "", nil, err
	}
	plain, err := written(counts)
	digest := sha256.Sum256(plain)
	return versionBy(digest[:]), bytes.ReplaceAll(text, []byte("\n"), []byte(" ")), err
}

func (s *stream) send(text string) bool {
	if s.control.SetWriteDeadline(time.Now().Add(sentWithin)) != nil {
		return false
	}
	if _, err := s.to.Write([]byte(text)); err != nil {
		return false
	}
	return s.control.Flush() == nil
}
