package credentials

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// The audiences of tokens: that of the webhook's tokens, and the one that OpenShift's
// operators ask for besides.
const (
	audienceSTS       = "sts.amazonaws.com"
	audienceOpenShift = "openshift"
)

// retireAfter is how long an issuer that is gone without a word is trusted: its tokens
// live for a day at most, and keys are published as long.
const retireAfter = 25 * time.Hour

// trusted is an issuer of a trust policy, with the audiences of its tokens.
type trusted struct {
	v1alpha1.TrustedIssuer
	audiences []string
}

// trust is whom a role trusts.
type trust struct {
	issuers []trusted
	// next is how long until an issuer leaves the trust; 0 for none.
	next time.Duration
}

// record is what the grant remembers of the trust.
func (t trust) record() []v1alpha1.TrustedIssuer {
	var out []v1alpha1.TrustedIssuer
	for _, i := range t.issuers {
		out = append(out, i.TrustedIssuer)
	}
	return out
}

// trustOf says which issuers a role trusts: all that are in use, and those that leave
// and that the role trusted, until the last of their tokens has expired. Without any in
// use nothing is changed, and the verdict says what is missing. The same holds without the
// one that the cluster issues tokens of, whatever others there are: no pod could become the
// role.
func trustOf(w World, target Target) (trust, condition.Verdict) {
	var out trust
	audiences := Audiences(target)
	var problems []string
	reason := ReasonNoIssuer
	for _, i := range w.Issuers {
		have := common(audiences, i.Audiences)
		switch {
		case i.Deleting || i.Retired:
		case !i.Registered:
			reason = ReasonIssuerNotRegistered
			problems = append(problems, fmt.Sprintf("the issuer %s has no provider in IAM of account %s, expected %s: set spec.providers of its OIDCIssuer, or register it with the audience %s", i.URL, w.Account, i.ProviderARN, audienceSTS))
		case len(have) == 0:
			reason = ReasonAudienceMissing
			problems = append(problems, fmt.Sprintf("the provider %s knows the audiences %q, expected %s: add it: %s", i.ProviderARN, i.Audiences, strings.Join(audiences, " or "), addition(i, toAdd(w, target, i))))
		default:
			out.issuers = append(out.issuers, trusted{v1alpha1.TrustedIssuer{URL: i.URL, ProviderARN: i.ProviderARN}, have})
		}
	}
	own := func(i trusted) bool { return i.URL == w.Platform.Issuer }
	if len(out.issuers) == 0 || w.lacksOwn() && !slices.ContainsFunc(out.issuers, own) {
		text := strings.Join(problems, "; ")
		if text == "" {
			text = "there is no issuer whose tokens a role could trust: make an OIDCIssuer (tabard issuer init)"
		}
		return trust{}, condition.No(reason, "%s", text)
	}
	out.leaving(w, audiences)
	return out, condition.Yes(ReasonAccepted, "")
}

// lacksOwn says that it is known which issuer the cluster's tokens are of, and that nobody has
// marked it as one that leaves.
func (w World) lacksOwn() bool {
	return w.Platform.Issuer != "" && !slices.ContainsFunc(w.Issuers, func(i Issuer) bool { return i.URL == w.Platform.Issuer && (i.Deleting || i.Retired) })
}

// leaving adds the issuers that leave, and notes when the next one is out.
func (t *trust) leaving(w World, audiences []string) {
	if w.Grant == nil {
		return
	}
	for _, was := range w.Grant.Status.Issuers {
		if slices.ContainsFunc(t.issuers, func(i trusted) bool { return i.ProviderARN == was.ProviderARN }) {
			continue
		}
		at := slices.IndexFunc(w.Issuers, func(i Issuer) bool { return i.ProviderARN == was.ProviderARN })
		after, have := retireAfter, audiences
		if at >= 0 {
			after = w.Issuers[at].RetireAfter
			if known := common(audiences, w.Issuers[at].Audiences); len(known) > 0 {
				have = known
			}
		}
		if was.RetireAfter == nil {
			until := condition.Instant(w.Now.Add(after))
			was.RetireAfter = &until
		}
		if left := was.RetireAfter.Sub(w.Now); left > 0 {
			t.issuers = append(t.issuers, trusted{was, have})
			t.next = soonest(t.next, left)
		}
	}
}

// soonest is the shorter of two times, of which 0 is never.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// common are the elements of a that b has too.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(e string) bool { return !slices.Contains(b, e) })
}

// without are the elements of a that b lacks.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(e string) bool { return slices.Contains(b, e) })
}
