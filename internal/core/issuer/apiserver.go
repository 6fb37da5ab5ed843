package issuer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

// maxNamed is how many of a list a message names: a list of addresses, say, may be
// as long as whoever writes it likes, a condition's message may not.
const maxNamed = 5

// those are the API servers of which something is true.
func (c Cluster) those(is func(APIServer) bool) []APIServer {
	var out []APIServer
	for _, server := range c.APIServers {
		if is(server) {
			out = append(out, server)
		}
	}
	return out
}

// signs says that an API server signs tokens with a key now.
func (c Cluster) signs(id string) bool {
	return slices.ContainsFunc(c.APIServers, func(s APIServer) bool { return s.Token.Error == "" && s.Token.KeyID == id })
}

// isDated says that every API server gave a token that confirms the time.
func (c Cluster) isDated(now time.Time) bool {
	silent := c.those(func(s APIServer) bool { return s.Token.Error != "" || s.Token.IssuedAt.IsZero() })
	return len(c.APIServers) > 0 && len(silent) == 0 && len(c.apart(now)) == 0
}

// apart are the API servers whose clocks contradict this one: a token requested just
// now was issued long ago, or in the future.
func (c Cluster) apart(now time.Time) []APIServer {
	return c.those(func(s APIServer) bool {
		return s.Token.Error == "" && !s.Token.IssuedAt.IsZero() && now.Sub(s.Token.IssuedAt).Abs() > clockSkew
	})
}

// name names API servers in a message; all of them are the cluster.
func (c Cluster) name(servers []APIServer) string {
	if len(servers) == len(c.APIServers) {
		return "the cluster"
	}
	addresses := make([]string, 0, len(servers))
	for _, server := range servers {
		addresses = append(addresses, server.Address)
	}
	return "API server " + someOf(addresses)
}

// like tells how to make those API servers of which something bad is said equal to
// the others; nothing where there are no others.
func (c Cluster) like(servers []APIServer, flags string) string {
	if len(servers) == len(c.APIServers) {
		return ""
	}
	return "; start it with the " + flags + " of the others"
}

// someOf joins the first of a list.
func someOf(list []string) string { return some(list, maxNamed, ", ") }

func some(list []string, most int, by string) string {
	if len(list) <= most {
		return strings.Join(list, by)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], by), len(list)-most)
}

// unlike finds API servers whose tokens name another issuer; nil for none.
func (c Cluster) unlike(url string) *condition.Verdict {
	servers := c.those(func(s APIServer) bool { return s.Token.Error == "" && s.Token.Issuer != url })
	if len(servers) == 0 {
		return nil
	}
	out := condition.No(ReasonIssuerMismatch,
		"the tokens of %s name the issuer %q, spec.url is %q: both must be equal byte for byte; set kube-apiserver's --service-account-issuer to spec.url, or create an OIDCIssuer for the other URL",
		c.name(servers), servers[0].Token.Issuer, url)
	return &out
}

// proof judges the tokens that were requested just now, one at each API server: one
// that signs with another key than the rest is not to be hidden by them.
func (c Cluster) proof(url string) condition.Verdict {
	if refused := c.those(func(s APIServer) bool { return s.Token.PublicError != "" }); len(refused) > 0 {
		return condition.No(ReasonTokenNotVerified, "a token requested just now from %s does not verify against the documents at %s: %s%s",
			c.name(refused), url, refused[0].Token.PublicError, c.like(refused, "--service-account-signing-key-file and --service-account-key-file"))
	}
	silent := c.those(func(s APIServer) bool { return s.Token.Error != "" })
	switch {
	case len(c.APIServers) == 0:
		return condition.Unknown(ReasonTokenUnavailable, "no API server was asked for a token to try")
	case len(silent) > 0:
		return condition.Unknown(ReasonTokenUnavailable,
			"no token of the operator's own ServiceAccount could be had from %s to try (%s): bring it back, or grant create on serviceaccounts/token for the ServiceAccount if that is what it lacks",
			c.name(silent), condition.Steady(silent[0].Token.Error))
	case len(c.APIServers) == 1:
		return condition.Yes(ReasonVerified, "a token requested just now verifies against the documents at %s", url)
	}
	return condition.Yes(ReasonVerified, "a token requested just now from each of %d API servers verifies against the documents at %s", len(c.APIServers), url)
}

// strangeSigners finds API servers that sign with a key that the source does not
// show; nil for none. One that did not tell its keys may well have it.
func (r ring) strangeSigners(c Cluster) *condition.Verdict {
	servers := c.those(func(s APIServer) bool {
		id := s.Token.KeyID
		return s.Error == "" && s.Token.Error == "" && id != "" && !hasKey(r.read, id) && !r.isActive(id) && !r.isNamedRevoked(id)
	})
	if len(servers) == 0 {
		return nil
	}
	out := condition.No(ReasonSigningKeyUnknown,
		"%s signs tokens with key %s, which the key source does not show: no cloud can verify these tokens; give the key to every API server (--service-account-key-file), or add it to the ConfigMap%s",
		c.name(servers), servers[0].Token.KeyID, c.like(servers, "--service-account-signing-key-file"))
	return &out
}
