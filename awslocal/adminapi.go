package awslocal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/clock"
)

const (
	adminPath = "/_awslocal/"
	// maxAdminBody is plenty for the few fields that the admin API takes.
	maxAdminBody = 4 << 10
)

// route puts the admin API in front of the services. No bucket can have its
// name: buckets' names have no underscore.
func (s *Server) route(services http.Handler) http.Handler {
	admin := http.NewServeMux()
	admin.HandleFunc("GET "+adminPath+"health", s.serveHealth)
	admin.HandleFunc("GET "+adminPath+"journal", s.serveJournal)
	admin.HandleFunc("DELETE "+adminPath+"journal", s.serveClearJournal)
	admin.HandleFunc("POST "+adminPath+"reset", s.serveReset)
	admin.HandleFunc("GET "+adminPath+"state", s.serveState)
	admin.HandleFunc("POST "+adminPath+"state", s.serveLoad)
	admin.HandleFunc("GET "+adminPath+"clock", s.serveClock)
	admin.HandleFunc("POST "+adminPath+"clock", s.serveSetClock)
	admin.HandleFunc("GET "+adminPath+"faults", s.serveFaults)
	admin.HandleFunc("POST "+adminPath+"faults", s.serveInject)
	admin.HandleFunc("DELETE "+adminPath+"faults", s.serveClearFaults)
	admin.HandleFunc("GET "+adminPath+"clusters", s.serveClusters)
	admin.HandleFunc("POST "+adminPath+"clusters", s.serveAddCluster)
	admin.HandleFunc("GET "+adminPath+"regions", s.serveRegions)
	admin.HandleFunc("POST "+adminPath+"regions", s.serveSetRegion)
	admin.HandleFunc("GET "+adminPath+"consistency", s.serveConsistency)
	admin.HandleFunc("POST "+adminPath+"consistency", s.serveSetConsistency)
	admin.HandleFunc("GET "+adminPath+"short-pages", s.serveShortPages)
	admin.HandleFunc("POST "+adminPath+"short-pages", s.serveSetShortPages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasPrefix(r.URL.Path, adminPath):
			services.ServeHTTP(w, r)
		case !isLocal(r):
			http.Error(w, "The admin API answers only programs on its own machine, and no web pages.", http.StatusForbidden)
		case !s.mayAdminister(r):
			refuseStranger(w)
		default:
			admin.ServeHTTP(w, r)
		}
	})
}

// isLocal keeps out other machines, and web pages that a browser on this one
// shows. Who calls from the address that is called is on this machine, whatever
// the address. A page by a name that is not this machine's has been rebound.
func isLocal(r *http.Request) bool {
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || isOfPage(r) {
		return false
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		name = host
	}
	local := name == "localhost" || net.ParseIP(strings.Trim(name, "[]")) != nil
	address := net.ParseIP(peer)
	return local && address != nil && (address.IsLoopback() || address.Equal(called(r)))
}

// isOfPage says that a page made a browser ask. Not every such request has an
// Origin: images, and reads of a page that is in one of the server's own buckets,
// have none. Of what a person asks for, a browser says "none".
func isOfPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Header.Get("Origin") != "" || site != "" && site != "none"
}

// called is the address of this machine that a request came in by; nil if nobody
// listens, as in tests.
func called(r *http.Request) net.IP {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return at.IP
	}
	return nil
}

func (s *Server) serveHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]string{"status": "ok"})
}

func (s *Server) serveJournal(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, s.Admin().since(r.URL.Query().Get("since")))
}

func (s *Server) serveClearJournal(w http.ResponseWriter, _ *http.Request) {
	s.Admin().ClearJournal()
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) serveReset(w http.ResponseWriter, _ *http.Request) {
	s.Admin().Reset()
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) serveClock(w http.ResponseWriter, _ *http.Request) {
	offsets := s.clock.Offsets()
	writeJSON(w, map[string]string{
		"now":              s.clock.Now().Format(time.RFC3339),
		"tokenOffset":      offsets.Tokens.String(),
		"credentialOffset": offsets.Credentials.String(),
		"signatureOffset":  offsets.Signatures.String(),
	})
}

// clockChange is what POST clock takes; absent fields change nothing.
type clockChange struct {
	Advance          *string    `json:"advance"`
	TokenOffset      *string    `json:"tokenOffset"`
	CredentialOffset *string    `json:"credentialOffset"`
	SignatureOffset  *string    `json:"signatureOffset"`
	Set              *time.Time `json:"set"`
}

// apply makes the change, all of it or nothing.
func (change clockChange) apply(c *clock.Clock) error {
	var advance time.Duration
	offsets := c.Offsets()
	for _, field := range []struct {
		name string
		text *string
		into *time.Duration
	}{
		{"advance", change.Advance, &advance},
		{"tokenOffset", change.TokenOffset, &offsets.Tokens},
		{"credentialOffset", change.CredentialOffset, &offsets.Credentials},
		{"signatureOffset", change.SignatureOffset, &offsets.Signatures},
	} {
		if field.text == nil {
			continue
		}
		d, err := duration(field.name, *field.text)
		if err != nil {
			return err
		}
		*field.into = d
	}
	if change.Set != nil {
		c.Set(*change.Set)
	}
	c.Advance(advance)
	c.ChangeOffsets(func(o *clock.Offsets) { *o = offsets })
	return nil
}

func (s *Server) serveSetClock(w http.ResponseWriter, r *http.Request) {
	var change clockChange
	if err := decodeJSON(r, &change); err != nil {
		http.Error(w, fmt.Sprintf("The body must be a JSON object with advance, set, tokenOffset, credentialOffset or signatureOffset: %v", err), http.StatusBadRequest)
		return
	}
	if err := change.apply(s.clock); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.changed()
	s.serveClock(w, r)
}

// faultText is a fault with its latency as people write it.
type faultText struct {
	Fault
	Latency string `json:"latency,omitempty"`
}

func (s *Server) serveFaults(w http.ResponseWriter, _ *http.Request) {
	out := []faultText{}
	for _, f := range s.Admin().Faults() {
		text := faultText{Fault: f}
		if f.Latency != 0 {
			text.Latency = f.Latency.String()
		}
		out = append(out, text)
	}
	writeJSON(w, out)
}

func (s *Server) serveInject(w http.ResponseWriter, r *http.Request) {
	var wanted faultText
	err := decodeJSON(r, &wanted)
	if err == nil && wanted.Latency != "" {
		wanted.Fault.Latency, err = duration("latency", wanted.Latency)
	}
	switch f := wanted.Fault; {
	case err != nil:
	case f.Code == "" && f.Latency == 0:
		err = errors.New("neither code nor latency is given")
	case f.Code == "" && f.RetryAfter != 0:
		err = errors.New("retryAfter goes with an error, and no code is given")
	case f.Count < 0 || f.Every < 0 || f.Latency < 0 || f.RetryAfter < 0 || f.Status != 0 && (f.Status < 400 || f.Status > 599):
		err = errors.New("count, every, latency and retryAfter must not be negative, and status is one of 400 to 599")
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("The body must be a JSON object with service, operation, region, code, message, status, retryAfter, count, every and latency: %v", err), http.StatusBadRequest)
		return
	}
	s.Admin().Inject(wanted.Fault)
	s.serveFaults(w, r)
}

func (s *Server) serveClearFaults(w http.ResponseWriter, _ *http.Request) {
	s.Admin().ClearFaults()
	w.WriteHeader(http.StatusNoContent)
}

func duration(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, a duration such as \"6m\" or \"-1h30m\" was expected", field, text)
	}
	return d, nil
}

func writeJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // a client that has gone is nothing to report
}
