package console

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The header that a request has beside its cookie, and the largest body.
const (
	tokenHeader = "X-Tabard-CSRF"
	mostBody    = 1 << 20
)

// headers are those of every answer. A page has no script, style, picture or font but ours, is in no
// frame, and talks to nobody else (https://www.w3.org/TR/CSP3/).
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// isLocal says that a request was made to this server by a name of this machine. A page of another
// site whose name somebody made to lead here (DNS rebinding) has that name in its requests.
func (s *Server) isLocal(r *http.Request) bool { return slices.Contains(s.hosts(), r.Host) }

func (s *Server) hosts() []string {
	port := strconv.Itoa(s.port)
	return []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port}
}

// isForeign says why a request to the API is not by a page of this server; empty if it may be.
func (s *Server) isForeign(r *http.Request) string {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return fmt.Sprintf("the browser says that the request comes from %.40q", site)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return ""
		}
		return "the request has no Origin"
	}
	from, err := url.Parse(origin)
	if err != nil || from.Scheme != "http" || from.Host != r.Host || from.Path != "" {
		return fmt.Sprintf("the request comes from %.200q", origin)
	}
	return ""
}

// isJSON says that the body of a request is JSON.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// guard lets requests through that a page of this server makes in a session.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		switch isAPI := strings.HasPrefix(r.URL.Path, apiPrefix); {
		case !s.isLocal(r):
			s.refuse(w, r, &Problem{Status: http.StatusForbidden, Code: "host", Title: "This is not the console's address",
				Detail: fmt.Sprintf("the request is for the host %.200q, expected one of %s", r.Host, strings.Join(s.hosts(), ", "))})
		case r.Method != http.MethodGet && r.Method != http.MethodHead && (!isAPI || r.Method != http.MethodPost):
			w.Header().Set("Allow", "GET, HEAD, POST")
			s.refuse(w, r, &Problem{Status: http.StatusMethodNotAllowed, Code: "method", Title: "This address has no such method", Detail: "it is " + strconv.Quote(r.Method)})
		case isAPI:
			s.guardAPI(w, r, next)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// guardAPI asks of a request to the API that it is by our own page, and in a session.
func (s *Server) guardAPI(w http.ResponseWriter, r *http.Request, next http.Handler) {
	w.Header().Set("Cache-Control", "no-store")
	if why := s.isForeign(r); why != "" {
		s.refuse(w, r, &Problem{Status: http.StatusForbidden, Code: "origin", Title: "The request is not by a page of the console", Detail: why})
		return
	}
	if r.Method == http.MethodPost {
		if !isJSON(r) {
			s.refuse(w, r, &Problem{Status: http.StatusUnsupportedMediaType, Code: "contentType", Title: "The body is not JSON",
				Detail: fmt.Sprintf("its Content-Type is %.100q, expected application/json", r.Header.Get("Content-Type"))})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	}
	if r.URL.Path == apiPrefix+"session" && r.Method == http.MethodPost {
		next.ServeHTTP(w, r)
		return
	}
	if p := s.admit(r); p != nil {
		if p.Status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		s.refuse(w, r, p)
		return
	}
	next.ServeHTTP(w, r)
}

// cookieOf is the session's secret in a request; empty without one. Another server of this machine can
// set a cookie of the same name beside it, which is passed over.
func (s *Server) cookieOf(r *http.Request) string {
	for _, one := range r.CookiesNamed(s.cookie()) {
		if s.sessions.isOpen(one.Value) {
			return one.Value
		}
	}
	return ""
}

// admit is nil for a request in a session. The cookie alone is not enough to read either: a browser
// sends it to every port of this machine, so that another server here may learn it. The header is
// known to our pages alone.
func (s *Server) admit(r *http.Request) *Problem {
	switch s.sessions.admit(s.cookieOf(r), r.Header.Get(tokenHeader)) {
	case welcome:
		return nil
	case wrongToken:
		return &Problem{Status: http.StatusForbidden, Code: "token", Title: "The request is not by a page of the console", Detail: "it has no " + tokenHeader + " of its session"}
	case tooMany:
		return &Problem{Status: http.StatusTooManyRequests, Code: "rate", Title: "Too many requests", Detail: fmt.Sprintf("a browser may make %d requests a second", requestsPerSec)}
	case noSession:
	}
	return &Problem{Status: http.StatusUnauthorized, Code: "session", Title: "There is no session",
		Detail: "A session ends half an hour after its last request, after eight hours, and with the program. An address from the terminal begins one, once.",
		Next:   []string{"press Enter where tabard console runs, or type it again: tabard console"}}
}
