package certificate

import (
	"slices"
	"strings"
	"time"
)

// ProbeHook is the name of the hook by which a new authority is proved: its
// clientConfig reaches the webhook by a name of its own, and who asks by that
// name is served the probe certificate, which the newest authority has signed.
const ProbeHook = "probe.tabard.dev"

// ProbeAnnotation is set on the dry-run pods of the controller: empty by the
// controller, to the fingerprint of the certificate that the API server has just
// accepted by the webhook.
const ProbeAnnotation = "tabard.dev/probe"

// Verdict is what one dry run through one API server has shown.
type Verdict string

// The verdicts.
const (
	// Trusted: the API server has called the webhook, and accepted its probe
	// certificate.
	Trusted Verdict = "trusted"
	// Refused: the API server answers, and has not called the hook, or could not.
	Refused Verdict = "refused"
	// Unknown: it could not be asked, or the answer says neither.
	Unknown Verdict = "unknown"
)

// Trust is what is known of one API server.
type Trust struct {
	// Address is HOST:PORT.
	Address string
	Verdict Verdict
	// Detail says what was seen instead of trust.
	Detail string
}

// Proof is what dry runs have shown of one probe certificate.
type Proof struct {
	// Certificate is its fingerprint.
	Certificate string
	// Since is the first of the latest looks in a row that all found trust
	// everywhere; zero if the last one did not.
	Since time.Time
	// Last is when the last look ended.
	Last time.Time
	// Servers is what the last look found.
	Servers []Trust
}

// After adds a look, through every API server, that has ended just now.
func (p Proof) After(certificate string, now time.Time, servers []Trust) Proof {
	since := p.Since
	switch {
	case len(servers) == 0 || slices.ContainsFunc(servers, func(s Trust) bool { return s.Verdict != Trusted }):
		since = time.Time{}
	case since.IsZero() || p.Certificate != certificate:
		since = now
	}
	return Proof{Certificate: certificate, Since: since, Last: now, Servers: servers}
}

// complete says that everybody trusts, and did for long enough that nothing is
// under way that was begun before.
func (p Proof) complete() bool {
	return !p.Since.IsZero() && p.Last.Sub(p.Since) >= longestRequest
}

// refused says that an API server was seen that does not trust.
func (p Proof) refused() bool {
	return slices.ContainsFunc(p.Servers, func(s Trust) bool { return s.Verdict == Refused })
}

// missing says what is missing to a proof.
func (p Proof) missing() string {
	var found []string
	for _, server := range p.Servers {
		if server.Verdict != Trusted {
			found = append(found, server.Address+" ("+string(server.Verdict)+": "+server.Detail+")")
		}
	}
	if len(found) == 0 {
		return "no API server was found"
	}
	return "not shown by " + strings.Join(found, ", ")
}

// Memory is what one process has seen happen. One that starts anew has none: it
// proves anew, and waits its full time.
type Memory struct {
	// Bundle is what every hook was seen to trust at the last look, and Since when
	// that look found it first. Since is zero if they do not all trust the same.
	Bundle string
	Since  time.Time
	// Proof is what was seen since.
	Proof Proof
}

// Seeing is the memory after a look at the hooks.
func (m Memory) Seeing(hooks []Hook, now time.Time) Memory {
	if len(hooks) == 0 || slices.ContainsFunc(hooks, func(h Hook) bool { return string(h.Bundle) != string(hooks[0].Bundle) }) {
		return Memory{}
	}
	if m.Since.IsZero() || m.Bundle != string(hooks[0].Bundle) {
		return Memory{Bundle: string(hooks[0].Bundle), Since: now}
	}
	return m
}
