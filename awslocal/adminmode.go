package awslocal

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Consistency is how long changes in IAM take until authorisation and STS see
// them. IAM's own answers show them at once.
type Consistency struct {
	// Delay is the longest; each change takes between nothing and that, by the
	// server's clock. Zero: changes are seen at once.
	Delay time.Duration
	// Seed makes the same changes take the same times.
	Seed uint64
}

// SetConsistency delays the changes that come from now on. Those that are not
// seen yet are seen at once if the delay is zero.
func (a *Admin) SetConsistency(c Consistency) {
	a.server.dial.Set(c.Delay, c.Seed)
	if c.Delay <= 0 {
		a.server.iam.ForgetPast()
	}
}

// Consistency is what SetConsistency set; zero at first.
func (a *Admin) Consistency() Consistency {
	delay, seed := a.server.dial.Get()
	return Consistency{Delay: delay, Seed: seed}
}

// ShortPages makes IAM's lists end their pages early, which AWS may do at any
// time: with fewer items than MaxItems, sometimes with none, and more to come.
type ShortPages struct {
	On bool `json:"on"`
	// Seed makes the same lists end at the same items.
	Seed uint64 `json:"seed"`
}

// SetShortPages switches short pages on or off.
func (a *Admin) SetShortPages(s ShortPages) { a.server.shortPages.Set(s.On, s.Seed) }

// ShortPages is what SetShortPages set; off at first.
func (a *Admin) ShortPages() ShortPages {
	on, seed := a.server.shortPages.Get()
	return ShortPages{On: on, Seed: seed}
}

func (s *Server) resetModes() {
	s.Admin().SetConsistency(Consistency{})
	s.Admin().SetShortPages(ShortPages{})
}

// consistencyText is a Consistency with its delay as people write it.
type consistencyText struct {
	Delay string `json:"delay"`
	Seed  uint64 `json:"seed"`
}

func (s *Server) serveConsistency(w http.ResponseWriter, _ *http.Request) {
	c := s.Admin().Consistency()
	writeJSON(w, consistencyText{Delay: c.Delay.String(), Seed: c.Seed})
}

func (s *Server) serveSetConsistency(w http.ResponseWriter, r *http.Request) {
	var wanted consistencyText
	err := decodeJSON(r, &wanted)
	var delay time.Duration
	if err == nil {
		delay, err = duration("delay", wanted.Delay)
	}
	if err != nil || delay < 0 {
		if err == nil {
			err = fmt.Errorf("delay is %q and must not be negative", wanted.Delay)
		}
		http.Error(w, fmt.Sprintf("The body must be a JSON object with delay and seed: %v", err), http.StatusBadRequest)
		return
	}
	s.Admin().SetConsistency(Consistency{Delay: delay, Seed: wanted.Seed})
	s.serveConsistency(w, r)
}

func (s *Server) serveShortPages(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, s.Admin().ShortPages())
}

func (s *Server) serveSetShortPages(w http.ResponseWriter, r *http.Request) {
	var wanted ShortPages
	if err := decodeJSON(r, &wanted); err != nil {
		http.Error(w, fmt.Sprintf("The body must be a JSON object with on and seed: %v", err), http.StatusBadRequest)
		return
	}
	s.Admin().SetShortPages(wanted)
	s.serveShortPages(w, r)
}

// decodeJSON reads the body of a call to the admin API. Unknown fields are
// refused: a slip in a name must not pass as the default.
func decodeJSON(r *http.Request, into any) error {
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxAdminBody))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
