package iampolicy

import (
	"maps"
	"slices"
	"strings"
)

// audiences are those of AWS STS in its partitions. No token has one as its subject.
var audiences = set("sts.amazonaws.com", "sts.amazonaws.com.cn")

// values judges the values that a claim of the issuer is compared with.
func (l *linter) values(c *condition, issuer, claim string) {
	if !strings.HasPrefix(c.base, "String") {
		return
	}
	for _, value := range c.values {
		v := value.value
		wild := strings.ContainsAny(v, "*?")
		switch {
		case strings.Contains(v, "${"): // a variable, which may be anything
		case c.isLiteral() && wild:
			operator := "StringLike"
			if c.negated {
				operator = "StringNotLike"
			}
			l.add(value, CodeLiteralWildcard, "%s compares letter by letter, so that no token has the %s %q; use %s, or write the whole value", c.base, claim, v, operator)
		case c.negated:
		case claim == "aud" && strings.HasPrefix(v, serviceAccountPrefix):
			l.add(value, CodeSwappedClaims, "%q is the subject of a ServiceAccount, and the key is that of the audience; move it to %s:sub", v, issuer)
		case claim != "sub":
		case audiences[v]:
			l.add(value, CodeSwappedClaims, "%q is an audience, and the key is that of the subject; move it to %s:aud", v, issuer)
		case wild:
			l.pattern(value, issuer)
		case isWrongSubject(v, issuer):
			l.add(value, CodeWrongSubject, "no ServiceAccount has the subject %q; write %sNAMESPACE:NAME", v, serviceAccountPrefix)
		}
	}
}

// anyServiceAccounts are subjects without a letter or a length in common, so that a pattern that
// matches all of them names none.
var anyServiceAccounts = []string{serviceAccountPrefix + "q:q0", serviceAccountPrefix + "zzzzzzzzzz9:zzzzzzzzzzz9", serviceAccountPrefix + "x-xxxxx:xx"}

// pattern judges a pattern for the subject. A pattern of nothing but wildcards demands no subject,
// which is a finding of its own. The callers of a shared issuer are no ServiceAccounts.
func (l *linter) pattern(value text, issuer string) {
	_, shared := sharedIssuers[issuer]
	matches := newGlob(activate.Replace(value.value))
	beginning := value.value[:strings.IndexAny(value.value, "*?")]
	namespace, is := strings.CutPrefix(beginning, serviceAccountPrefix)
	switch {
	case shared || strings.Trim(value.value, "*?") == "":
	case !slices.ContainsFunc(anyServiceAccounts, func(subject string) bool { return !matches.match(subject) }):
		l.add(value, CodeWideSubject, "the subject %q matches every ServiceAccount of the issuer; name the namespace, such as %sNAMESPACE:*", value.value, serviceAccountPrefix)
	case is && !strings.Contains(namespace, ":"), strings.HasPrefix(serviceAccountPrefix, beginning):
		l.add(value, CodeWideNamespace, "the subject %q has a wildcard in the namespace, so that it also matches namespaces that are created later; name the namespace, such as %sNAMESPACE:*", value.value, serviceAccountPrefix)
	}
}

// isWrongSubject finds slips in the subjects of ServiceAccounts. Issuers other than a cluster's have
// subjects of forms of their own, so that only those of EKS demand the form. An ARN is the subject
// of a token that AWS itself signed.
func isWrongSubject(subject, issuer string) bool {
	rest, is := strings.CutPrefix(subject, serviceAccountPrefix)
	if !is {
		return strings.HasPrefix(subject, "system:serviceaccount") || strings.HasPrefix(subject, "serviceaccount:") ||
			strings.HasPrefix(issuer, "oidc.eks.") || strings.HasPrefix(subject, "arn:aws") && !strings.HasSuffix(issuer, ".api.aws")
	}
	namespace, name, two := strings.Cut(rest, ":")
	return !two || namespace == "" || name == "" || strings.ContainsAny(rest, "/ ") || strings.Contains(name, ":")
}

// callers judges the principals, and whether the actions are theirs.
func (l *linter) callers(s *statement, issuers map[string]principalEntry) {
	federated, others := false, false
	for _, entry := range s.principals.entries {
		federated = federated || entry.kind == TypeFederated
		others = others || entry.kind != TypeFederated
		if entry.kind == TypeAWS && entry.value == "*" && len(s.conditions) == 0 {
			l.add(entry.text, CodeEveryAccount, "the principal \"*\" without a condition admits every account of AWS; name the callers, such as arn:aws:iam::ACCOUNT:role/NAME")
		}
	}
	for _, issuer := range slices.Sorted(maps.Keys(issuers)) {
		l.provider(issuer, issuers[issuer])
	}
	l.action(s, len(issuers) > 0 && !others, others && !federated)
}

// action judges the actions of callers that are all tokens of OIDC providers, or all none. A
// statement with sts:TagSession alone goes with another.
func (l *linter) action(s *statement, tokens, others bool) {
	if s.actions.not || len(s.actions.values) == 0 {
		return
	}
	web, plain := s.speaksOf(actionWebIdentity), s.speaksOf("sts:assumerole")
	switch at := s.actions.values[0]; {
	case tokens && !web && (plain || s.speaksOf("sts:assumerolewithsaml")):
		l.add(at, CodeWrongAction, "the statement trusts an OIDC provider, and %s does not admit its tokens; write sts:AssumeRoleWithWebIdentity", at.value)
	case others && web && !plain:
		l.add(at, CodeWrongAction, "sts:AssumeRoleWithWebIdentity admits tokens of a Federated principal only; write sts:AssumeRole, or name the OIDC provider as the Federated principal")
	}
}

// provider compares a provider with its issuer and with the role.
func (l *linter) provider(issuer string, entry principalEntry) {
	provider := cutARN(entry.value)
	if !provider.isOf("iam") {
		return // Validate reports it
	}
	partition, account := provider.part(1), provider.part(4)
	if strings.Contains(provider.part(5), "://") {
		l.add(entry.text, CodeWrongProvider, "no OIDC provider has a scheme in its ARN; write arn:%s:iam::%s:oidc-provider/%s", partition, account, issuer)
	}
	host, _, _ := strings.Cut(issuer, "/")
	if china := strings.HasSuffix(host, ".amazonaws.com.cn"); strings.Contains(host, ".amazonaws.com") && china != (partition == "aws-cn") {
		l.add(entry.text, CodeIssuerPartition, "the provider's ARN is of the partition %s, and its issuer %s is in another; write the partition of the account that has the provider", partition, host)
	}
	if !l.role.isOf("iam") {
		return
	}
	wanted, owner := l.role.part(1), l.role.part(4)
	switch {
	case partition != wanted:
		l.add(entry.text, CodeOtherPartition, "the provider is in the partition %s and the role in %s; create the provider there and write arn:%s:iam::%s:%s", partition, wanted, wanted, owner, provider.part(5))
	case account != owner:
		l.add(entry.text, CodeOtherAccount, "the provider is in the account %s and the role in %s; create the provider there and write arn:%s:iam::%s:%s", account, owner, wanted, owner, provider.part(5))
	}
}

// duplicates finds values that a list has twice.
func (l *linter) duplicates(s *statement) {
	for i := range s.conditions {
		seen := map[string]bool{}
		for _, value := range s.conditions[i].values {
			if seen[value.value] {
				l.add(value, CodeDuplicateValue, "the value %q is in the list twice; keep one", value.value)
			}
			seen[value.value] = true
		}
	}
}
