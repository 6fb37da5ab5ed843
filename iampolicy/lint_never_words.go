package iampolicy

import (
	"fmt"
	"slices"
	"strings"
)

// ownFindings are the codes of findings after which a statement, or one of its conditions, is not
// judged by NeverMatches as well: they say already that no caller meets it.
var ownFindings = map[Code]bool{
	CodeWrongAction: true, CodeWrongProvider: true, CodeWrongKey: true, CodeWrongSubject: true, CodeSwappedClaims: true, CodeLiteralWildcard: true,
}

// never finds a statement whose conditions no request meets. found is what other rules say about the
// statement.
func (l *linter) never(s *statement, found Errors) {
	callers, certain := s.callers()
	whole := func(e *Error) bool { return e.Code == CodeWrongAction || e.Code == CodeWrongProvider }
	if !certain || len(s.unclear) > 0 || slices.ContainsFunc(found, whole) {
		return
	}
	var judged []*condition
	for i := range s.conditions {
		if c := &s.conditions[i]; !slices.ContainsFunc(found, c.isAbout) {
			judged = append(judged, c)
		}
	}
	var hindrances []*hindrance
	for i := range callers {
		h := callers[i].hindrance(judged)
		if h == nil {
			return
		}
		hindrances = append(hindrances, h)
	}
	h := clearest(hindrances)
	l.add(h.last().name, CodeNeverMatches, "%s", h.explain(s))
}

// isAbout says that a finding is one of ownFindings about the condition.
func (c *condition) isAbout(e *Error) bool {
	at := func(t text) bool { return t.line == e.Line && t.column == e.Column }
	return ownFindings[e.Code] && (at(c.name) || slices.ContainsFunc(c.values, at))
}

// clearest is the hindrance of the caller that was probably meant: a ServiceAccount, unless the
// subject is what it lacks and another caller lacks something else.
func clearest(all []*hindrance) *hindrance {
	first := all[0]
	if len(all) > 1 && all[1].caller.issuer == first.caller.issuer && first.isOfSubject() && !all[1].isOfSubject() {
		return all[1]
	}
	return first
}

func (h *hindrance) last() *condition { return h.on[len(h.on)-1] }

func (h *hindrance) isOfSubject() bool { return h.last().key == h.caller.issuer+":sub" }

// explain says what was seen, why no request meets it, and what to write.
func (h *hindrance) explain(s *statement) string {
	c, one := h.caller, h.last()
	name, d := one.name.value, c.domain(one.key)
	switch {
	case len(h.on) > 1:
		return fmt.Sprintf("no request meets all conditions on %s: they contradict each other; keep those that are meant, with all values that may be in one list", name)
	case !d.present:
		return c.lacks(s, one)
	case one.presence:
		return fmt.Sprintf("every token has %s, so that no request meets Null with this value; remove the condition", name)
	case c.resolvesNone(one):
		return fmt.Sprintf("no variable of %q has a value in a request of this statement's callers, so that %s on %s never holds; write the value that is meant", one.values[0].value, one.fullName(), name)
	case h.isOfSubject() && !one.negated && strings.HasPrefix(one.base, "String"):
		return wrongSubject(one, name)
	case one.key == "sts:rolesessionname":
		return fmt.Sprintf("no session has a name that meets %s on %s: AWS allows 2 to %d letters, digits and characters of _+=,.@-; write such a name", one.fullName(), name, longestSessionName)
	case d.words != nil:
		return fmt.Sprintf("%s is %s in every request that comes with a token; remove the condition", name, strings.Join(d.words, " or "))
	default:
		return fmt.Sprintf("no request has a value of %s that meets %s with these values; write the values that are meant", name, one.fullName())
	}
}

// resolvesNone says that each value has a variable to which no request of the caller gives one.
func (c *caller) resolvesNone(one *condition) bool {
	return !slices.ContainsFunc(one.operands, func(o operand) bool {
		t := templateOf(o)
		return t == nil || !c.unresolved(t)
	})
}

// wrongSubject speaks of values that no subject fits.
func wrongSubject(one *condition, name string) string {
	value := one.values[0].value
	meant := strings.ReplaceAll(strings.ToLower(value), "_", "-")
	if near := corrected(meant); near != "" {
		meant = near
	}
	if left := mostEffort; !left.meets(serviceAccounts{}, []want{{condition: one, plain: []string{activate.Replace(meant)}}}) {
		meant = serviceAccountPrefix + "NAMESPACE:NAME"
	}
	return fmt.Sprintf("no token has a subject that fits %q: the %s of a ServiceAccount is %sNAMESPACE:NAME, of lower-case letters, digits and hyphens, and dots in the name; write %s",
		value, name, serviceAccountPrefix, meant)
}

// lacks speaks of a key that no request of the caller has.
func (c *caller) lacks(s *statement, one *condition) string {
	name := one.name.value
	host := name[:max(0, strings.LastIndex(name, ":"))]
	if c.issuer == "" {
		return fmt.Sprintf("only a request with a token has the condition key %s, and the principal of this statement signs its requests; trust the token's provider instead, by \"Principal\": {\"Federated\": \"arn:aws:iam::ACCOUNT:oidc-provider/%s\"} and \"Action\": \"sts:AssumeRoleWithWebIdentity\", or remove the condition", name, host)
	}
	subject := c.issuer + ":sub"
	claim, own := strings.CutPrefix(one.key, c.issuer+":")
	if strings.HasPrefix(claim, "kubernetes.io/") {
		claim = "kubernetes.io"
	}
	_, another := s.issuers()[strings.ToLower(host)]
	switch {
	case own && noClaims[claim] != "":
		return fmt.Sprintf("no token has the condition key %s; write %s:%s", name, host, noClaims[claim])
	case own:
		return fmt.Sprintf("no token of a ServiceAccount has the condition key %s: AWS reads its sub and aud only; remove the condition, and demand %s", name, subject)
	case another:
		return fmt.Sprintf("no token has condition keys of two issuers, and the conditions demand %s of a token of %s; write a statement for each provider", name, c.issuer)
	case ofToken(one.key):
		return fmt.Sprintf("no token of %s has the condition key %s of another issuer; write %s:%s, or remove the condition", c.issuer, name, c.issuer, one.key[len(host)+1:])
	}
	return fmt.Sprintf("%s; remove the condition, and name the caller by %s", whyAbsent(one.key, name), subject)
}

// whyAbsent says which requests have a key that none with a token has.
func whyAbsent(key, name string) string {
	switch {
	case key == "sts:externalid":
		return name + " belongs to sts:AssumeRole by AWS principals, and a request with a token cannot have it"
	case strings.HasPrefix(key, "aws:requesttag/"), key == "aws:tagkeys", key == "sts:transitivetagkeys":
		return "the token of a ServiceAccount has no session tags, so that no request has " + name + " (EKS Pod Identity has them: its principal is the service pods.eks.amazonaws.com)"
	case tagClaims(key):
		return "the token of a ServiceAccount has no source identity, so that no request has " + name
	case strings.HasPrefix(key, "saml:"):
		return "only a request with an assertion of SAML has " + name
	case strings.HasPrefix(key, "aws:multifactorauth"):
		return "a request with a token has no second factor, and no " + name
	case strings.HasPrefix(key, "aws:source"), strings.HasPrefix(key, "aws:calledvia"):
		return "only a request that an AWS service makes has " + name
	default:
		return name + " is about the AWS principal that signs a request, and a request with a token is not signed"
	}
}
