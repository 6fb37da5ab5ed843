package iampolicy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Codes of Lint: AWS takes a document with these, and it does other than it looks.
const (
	// CodeNoCondition is a statement that trusts an OIDC provider without any condition.
	CodeNoCondition Code = "NoCondition"
	// CodeNoSubject is one that does not say whose tokens it means.
	CodeNoSubject Code = "NoSubject"
	// CodeNoAudience is one that takes tokens for every recipient.
	CodeNoAudience Code = "NoAudience"
	// CodeWideSubject is a subject that stands for ServiceAccounts of every namespace.
	CodeWideSubject Code = "WideSubject"
	// CodeLiteralWildcard is * or ? under an operator that compares letter by letter.
	CodeLiteralWildcard Code = "LiteralWildcard"
	// CodeWrongSubject is a subject that no ServiceAccount has.
	CodeWrongSubject Code = "WrongSubject"
	// CodeWrongKey is a condition key that no token has: with the provider's ARN, with
	// https://, or of another issuer than the statement trusts.
	CodeWrongKey Code = "WrongKey"
	// CodeOtherPartition is a provider whose issuer is in another partition than its ARN.
	CodeOtherPartition Code = "OtherPartition"
)

const serviceAccountPrefix = "system:serviceaccount:"

// Lint finds what is valid and not meant, beyond Validate: today in trust policies, statements
// that trust an OIDC provider and let in more than they look, or nobody at all (AWS: creating a
// role for OpenID Connect federation). The error is of type Errors, in the order of the places.
func (p *Policy) Lint(kind Kind) error {
	if kind != TrustPolicy {
		return nil
	}
	var l linter
	for i := range p.statements {
		s := &p.statements[i]
		if s.deny || s.broken || s.principals == nil || s.principals.not || !s.speaksOf("sts:assumerolewithwebidentity") {
			continue
		}
		if issuers := s.issuers(); len(issuers) > 0 {
			l.statement(s, issuers)
		}
	}
	return l.errs.sorted()
}

// speaksOf says that a statement's actions include one, given in lower case.
func (s *statement) speaksOf(action string) bool {
	return slices.ContainsFunc(s.actionPatterns, func(g glob) bool { return g.match(action) }) != s.actions.not
}

// demands says that a request whose key is absent, or has just any value, does not fulfil the
// conditions.
func (s *statement) demands(key string) bool {
	return slices.ContainsFunc(s.conditions, func(c condition) bool {
		if c.key != key || c.ifExists || c.set == forAll || c.negated || !strings.HasPrefix(c.base, "String") {
			return false
		}
		return c.isLiteral() || !slices.ContainsFunc(c.values, func(v text) bool { return strings.Trim(v.value, "*?") == "" })
	})
}

// isLiteral says that the operator compares strings letter by letter.
func (c *condition) isLiteral() bool {
	return strings.HasPrefix(c.base, "StringEquals") || strings.HasPrefix(c.base, "StringNotEquals")
}

// issuers are the OIDC providers that a statement trusts, with the issuers as condition keys
// name them: without the scheme.
func (s *statement) issuers() map[string]principalEntry {
	out := map[string]principalEntry{}
	for _, entry := range s.principals.entries {
		if _, issuer, ok := strings.Cut(entry.value, ":oidc-provider/"); ok && entry.kind == TypeFederated {
			out[strings.ToLower(issuer)] = entry
		}
	}
	return out
}

// linter collects what is found.
type linter struct{ errs Errors }

func (l *linter) add(at text, code Code, format string, args ...any) {
	l.errs = append(l.errs, &Error{Line: at.line, Column: at.column, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (l *linter) statement(s *statement, issuers map[string]principalEntry) {
	wrong := map[string]bool{}
	for i := range s.conditions {
		c := &s.conditions[i]
		if claim := l.key(c, issuers); claim != "" {
			wrong[claim] = true
		}
	}
	for _, issuer := range slices.Sorted(maps.Keys(issuers)) {
		entry := issuers[issuer]
		l.partition(issuer, entry)
		if len(s.conditions) == 0 {
			l.add(s.place(), CodeNoCondition, "the statement has no condition: every ServiceAccount whose tokens %s signs may assume the role, with a token for any recipient; demand %s:sub and %s:aud under StringEquals", issuer, issuer, issuer)
			continue
		}
		// A condition on a key that no token has lets nobody in: it is told by itself.
		claim, shared := sharedIssuers[issuer]
		if !s.demands(issuer+":sub") && !wrong["sub"] && (!shared || claim != "sub") {
			l.add(s.place(), CodeNoSubject, "no condition demands one %s:sub, so that every ServiceAccount of the issuer may assume the role (IfExists and ForAllValues demand nothing of a token without the claim); add it under StringEquals, such as %sNAMESPACE:NAME", issuer, serviceAccountPrefix)
		}
		if !s.demands(issuer+":aud") && !wrong["aud"] && (!shared || claim != "aud") {
			l.add(s.place(), CodeNoAudience, "no condition demands one %s:aud, so that a token for another recipient can be used for the role; add it under StringEquals, such as sts.amazonaws.com", issuer)
		}
	}
}

// key judges one condition, and returns the claim that it was meant for where its key is wrong.
func (l *linter) key(c *condition, issuers map[string]principalEntry) (wrong string) {
	at := strings.LastIndex(c.key, ":")
	if at < 0 {
		return ""
	}
	host, claim := c.key[:at], c.key[at+1:]
	if _, own := issuers[host]; own {
		l.values(c, claim)
		return ""
	}
	switch {
	case strings.HasPrefix(host, "arn:"):
		l.add(c.name, CodeWrongKey, "the condition key begins with an ARN, and no token has it: it is the issuer without https://, a colon and the claim, such as %s:%s", someIssuer(issuers), claim)
	case strings.Contains(host, "://"):
		l.add(c.name, CodeWrongKey, "the condition key has a scheme, and no token has it: leave %s out", host[:strings.Index(host, "://")+len("://")])
	case claim == "sub" || claim == "aud":
		l.add(c.name, CodeWrongKey, "the condition key is of the issuer %s, and the statement trusts %s: no token has both", host, someIssuer(issuers))
	default:
		return "" // a global key, or one of another kind
	}
	if c.negated || c.ifExists || c.set == forAll || c.presence {
		return "" // which a token without the key fulfils: it demands nothing
	}
	return claim
}

// values judges the values that a claim is compared with.
func (l *linter) values(c *condition, claim string) {
	literal := c.isLiteral()
	for _, value := range c.values {
		switch {
		case literal && strings.ContainsAny(value.value, "*?"):
			l.add(value, CodeLiteralWildcard, "%s compares letter by letter, so that no token has the %s %q; use StringLike, or write the whole value", c.base, claim, value.value)
		case claim != "sub" || c.negated:
		case literal && isWrongSubject(value.value):
			l.add(value, CodeWrongSubject, "no ServiceAccount has the subject %q: expected %sNAMESPACE:NAME", value.value, serviceAccountPrefix)
		case !literal && isWide(value.value):
			l.add(value, CodeWideSubject, "the subject %q stands for ServiceAccounts of every namespace: name the namespace, such as %sNAMESPACE:*", value.value, serviceAccountPrefix)
		}
	}
}

// isWrongSubject finds slips in the subjects of ServiceAccounts; subjects of other issuers have
// forms of their own.
func isWrongSubject(subject string) bool {
	rest, is := strings.CutPrefix(subject, serviceAccountPrefix)
	if !is {
		return strings.HasPrefix(subject, "system:serviceaccount") || strings.HasPrefix(subject, "serviceaccount:")
	}
	namespace, name, two := strings.Cut(rest, ":")
	return !two || namespace == "" || name == "" || strings.ContainsAny(rest, "/ ") || strings.Contains(name, ":")
}

// isWide says that a pattern with a ServiceAccount's beginning leaves the namespace open.
func isWide(pattern string) bool {
	rest, is := strings.CutPrefix(pattern, serviceAccountPrefix)
	namespace, _, _ := strings.Cut(rest, ":")
	return is && strings.Trim(namespace, "*?") == ""
}

func (l *linter) partition(issuer string, entry principalEntry) {
	_, rest, _ := strings.Cut(entry.value, "arn:")
	partition, _, _ := strings.Cut(rest, ":")
	host, _, _ := strings.Cut(issuer, "/")
	if china := strings.HasSuffix(host, ".amazonaws.com.cn"); strings.Contains(host, ".amazonaws.com") && china != (partition == "aws-cn") {
		l.add(entry.text, CodeOtherPartition, "the provider's ARN is of the partition %s, and its issuer %s is not: no role of that partition can be assumed with its tokens", partition, host)
	}
}

// someIssuer is the first by name.
func someIssuer(issuers map[string]principalEntry) string {
	return slices.Min(slices.Collect(maps.Keys(issuers)))
}
