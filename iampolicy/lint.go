package iampolicy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const actionWebIdentity = "sts:assumerolewithwebidentity"

// LintOptions is what Lint cannot see in the document. Each field may be empty.
type LintOptions struct {
	// RoleARN is the role that has the trust policy. Lint compares the account and the partition
	// of the OIDC providers with it.
	RoleARN string
}

// Lint finds mistakes that AWS accepts, beyond Validate. In policies of each kind it finds those of
// Unclear, and ForAllValues that also holds where its key is absent (AWS: multivalued context keys).
// In trust policies it finds, above all, statements that trust an OIDC provider and admit more
// callers than they seem to, or none (AWS: creating a role for OpenID Connect federation). The error
// is of type Errors, in the order of the places. Code.Severity tells warnings from errors.
func (p *Policy) Lint(kind Kind, options LintOptions) error {
	l := linter{role: cutARN(options.RoleARN), errs: p.allUnclear()}
	for i := range p.statements {
		if s := &p.statements[i]; !s.broken && !s.deny {
			l.absentKeys(s)
		}
	}
	if kind == TrustPolicy {
		l.trust(p)
	}
	return l.errs.sorted()
}

// trust judges the statements of a trust policy.
func (l *linter) trust(p *Policy) {
	oidc := false
	for i := range p.statements {
		s := &p.statements[i]
		if s.broken || s.principals == nil || s.principals.not {
			continue
		}
		l.duplicates(s)
		if s.deny {
			continue
		}
		issuers := s.issuers()
		oidc = oidc || len(issuers) > 0
		before := len(l.errs)
		l.callers(s, issuers)
		if len(issuers) > 0 && s.speaksOf(actionWebIdentity) {
			l.statement(s, issuers)
		}
		l.never(s, l.errs[before:])
	}
	if oidc && p.version != newVersion {
		l.add(text{line: p.line, column: p.column}, CodeNoVersion, "the policy's Version is missing or %s, so that policy variables are plain text; write \"Version\": \"%s\"", oldVersion, newVersion)
	}
}

// speaksOf says that a statement's actions include one, given in lower case.
func (s *statement) speaksOf(action string) bool {
	return slices.ContainsFunc(s.actionPatterns, func(g glob) bool { return g.match(action) }) != s.actions.not
}

// demands says that a request whose key is absent, or has just any value, does not fulfil the
// conditions.
func (s *statement) demands(key string) bool {
	return slices.ContainsFunc(s.conditions, func(c condition) bool { return c.key == key && c.demands() })
}

// demands says that the condition wants the key, and not just any value of it.
func (c *condition) demands() bool {
	if c.ifExists || c.set == forAll || c.negated || !strings.HasPrefix(c.base, "String") {
		return false
	}
	return c.isLiteral() || !slices.ContainsFunc(c.values, func(v text) bool { return strings.Trim(v.value, "*?") == "" })
}

// identifies says that the conditions tell the issuer's callers apart: by the subject, by another
// claim of their own, or by a session tag, which is a claim too.
func (s *statement) identifies(issuer string) bool {
	return slices.ContainsFunc(s.conditions, func(c condition) bool {
		claim, own := strings.CutPrefix(c.key, issuer+":")
		own = own && claim != "aud" && claim != "azp" && claim != "amr"
		return (own || strings.HasPrefix(c.key, "aws:requesttag/")) && c.demands()
	})
}

// isLiteral says that the operator compares strings letter by letter.
func (c *condition) isLiteral() bool {
	return strings.HasPrefix(c.base, "StringEquals") || strings.HasPrefix(c.base, "StringNotEquals")
}

// issuers are the OIDC providers that a statement trusts, with the issuers as condition keys
// name them: without the scheme, also where the ARN has one by mistake.
func (s *statement) issuers() map[string]principalEntry {
	out := map[string]principalEntry{}
	for _, entry := range s.principals.entries {
		if _, issuer, ok := strings.Cut(entry.value, ":oidc-provider/"); ok && entry.kind == TypeFederated {
			out[strings.TrimPrefix(strings.ToLower(issuer), "https://")] = entry
		}
	}
	return out
}

// linter collects what is found.
type linter struct {
	role arn
	errs Errors
}

func (l *linter) add(at text, code Code, format string, args ...any) {
	l.errs = append(l.errs, &Error{Line: at.line, Column: at.column, Code: code, Message: fmt.Sprintf(format, args...)})
}

// statement judges one that admits tokens.
func (l *linter) statement(s *statement, issuers map[string]principalEntry) {
	wrong := map[string]bool{}
	for i := range s.conditions {
		c := &s.conditions[i]
		if claim := l.key(s, c, issuers); claim != "" {
			wrong[claim] = true
		}
	}
	for _, issuer := range slices.Sorted(maps.Keys(issuers)) {
		if len(s.conditions) == 0 {
			l.add(s.place(), CodeNoCondition, "the statement has no condition: every ServiceAccount whose tokens %s signs may assume the role; add \"Condition\": {\"StringEquals\": {\"%s:sub\": \"%sNAMESPACE:NAME\", \"%s:aud\": \"sts.amazonaws.com\"}}", issuer, issuer, serviceAccountPrefix, issuer)
			continue
		}
		// A condition on a key that no token has admits no caller, and has a finding of its own.
		claim, shared := sharedIssuers[issuer]
		if !s.identifies(issuer) && !wrong["sub"] && (!shared || claim != "sub") {
			l.add(s.place(), CodeNoSubject, "no condition demands one %s:sub, so that every ServiceAccount of the issuer may assume the role (IfExists and ForAllValues demand nothing of a token without the claim); add it under StringEquals, such as %sNAMESPACE:NAME", issuer, serviceAccountPrefix)
		}
		if !s.demands(issuer+":aud") && !wrong["aud"] && (!shared || claim != "aud") {
			l.add(s.place(), CodeNoAudience, "no condition demands one %s:aud, so that the role accepts tokens for every audience of the provider; add it under StringEquals, such as sts.amazonaws.com", issuer)
		}
	}
}

// key judges one condition, and returns the claim that it was meant for where its key is wrong.
func (l *linter) key(s *statement, c *condition, issuers map[string]principalEntry) (wrong string) {
	at := strings.LastIndex(c.key, ":")
	if at < 0 {
		return ""
	}
	host, claim := c.key[:at], c.key[at+1:]
	if _, own := issuers[host]; own {
		l.values(c, host, claim)
		return ""
	}
	switch {
	case strings.HasPrefix(host, "arn:"):
		l.add(c.name, CodeWrongKey, "the condition key begins with an ARN, and no token has it; write the issuer without https://, a colon and the claim, such as %s:%s", someIssuer(issuers), claim)
	case strings.Contains(host, "://"):
		l.add(c.name, CodeWrongKey, "the condition key has a scheme, and no token has it; leave %s out", host[:strings.Index(host, "://")+len("://")])
	case claim == "sub" || claim == "aud":
		l.add(c.name, CodeWrongKey, "the condition key belongs to the issuer %s, and the statement trusts %s: no token has both; write %s:%s", host, someIssuer(issuers), someIssuer(issuers), claim)
	default:
		return "" // a global key, or one of another kind
	}
	if c.negated || c.ifExists || c.set == forAll || c.presence {
		return "" // which a token without the key fulfils: it demands nothing
	}
	return claim
}

// someIssuer is the first by name.
func someIssuer(issuers map[string]principalEntry) string {
	return slices.Min(slices.Collect(maps.Keys(issuers)))
}
