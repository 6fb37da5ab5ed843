package iampolicy

import (
	"maps"
	"slices"
	"strings"
)

// This file decides whether any request can meet the whole of a statement of a trust policy.
// Where that is not certain it says that one can.

// caller is a kind of request to assume a role.
type caller struct {
	// issuer signed the token of a web identity, empty for a request that an AWS principal or a
	// service signs.
	issuer string
	// serviceAccount says that the token is a ServiceAccount's.
	serviceAccount bool
	// subjects are those that the token may have.
	subjects universe
	// left is what all callers of a statement have for finding values.
	left *endurance
}

// domain is what a condition key may be in the requests of a caller.
type domain struct {
	// absent and present say that it may be so.
	absent, present bool
	// many says that there may be several values.
	many bool
	// in are the values, unless words lists them.
	in    universe
	words []string
	// meant says that a value that was meant for the subject of a ServiceAccount is no other's.
	meant bool
}

var (
	free  = domain{absent: true, present: true, many: true, in: everyText{}}
	never = domain{absent: true}
)

// federations are the providers of web identities that AWS has built in (AWS: OIDC federation).
var federations = set("accounts.google.com", "cognito-identity.amazonaws.com", "graph.facebook.com", "www.amazon.com")

// isClusters says that all tokens of an issuer are ServiceAccounts': EKS, AKS and GKE.
func isClusters(issuer string) bool {
	host, path, _ := strings.Cut(issuer, "/")
	return strings.HasPrefix(host, "oidc.eks.") || strings.HasPrefix(host, "oidc-eks.") || strings.Contains(host, ".oic.prod-aks.azure.") ||
		host == "container.googleapis.com" && strings.HasPrefix(path, "v1/projects/")
}

// callers are those whom the statement names and whose action it has. certain says that there are no
// others.
func (s *statement) callers() (all []caller, certain bool) {
	web, plain := s.speaksOf(actionWebIdentity), s.speaksOf("sts:assumerole")
	issuers := s.issuers()
	signed := false
	for _, entry := range s.principals.entries {
		switch _, _, oidc := strings.Cut(entry.value, ":oidc-provider/"); {
		case entry.kind == TypeFederated && federations[strings.ToLower(entry.value)]:
			issuers[strings.ToLower(entry.value)] = entry
		case entry.kind == TypeFederated && oidc:
		case (entry.kind == TypeAWS || entry.kind == TypeService) && plain && (entry.value != "*" || !web):
			signed = true
		default:
			return nil, false // SAML, "*", and a statement of sts:TagSession, which goes with another
		}
	}
	for _, issuer := range slices.Sorted(maps.Keys(issuers)) {
		if web {
			all = append(all, tokensOf(issuer)...)
		}
	}
	if signed {
		all = append(all, caller{})
	}
	left := mostEffort
	for i := range all {
		all[i].left = &left
	}
	return all, len(all) > 0
}

// tokensOf are the kinds of tokens that an issuer may sign. What is not known to be a cluster's may
// be one, or sign for callers of its own, whose subjects do not begin as a ServiceAccount's.
func tokensOf(issuer string) []caller {
	own := caller{issuer: issuer, serviceAccount: true, subjects: serviceAccounts{}}
	_, shared := sharedIssuers[issuer]
	switch {
	case isClusters(issuer):
		return []caller{own}
	case shared || federations[issuer]:
		return []caller{{issuer: issuer, subjects: everyText{}}}
	default:
		return []caller{own, {issuer: issuer, subjects: otherSubjects{}}}
	}
}

// signedOnly are the keys of requests that are signed with AWS credentials, which a request with a
// token is not (AWS: AWS global condition context keys; keys for AWS STS).
var signedOnly = set(
	"sts:externalid", "aws:principalarn", "aws:principalaccount", "aws:principalorgid", "aws:principalorgpaths",
	"aws:principalservicename", "aws:principalservicenameslist", "aws:username", "aws:userid",
	"aws:multifactorauthpresent", "aws:multifactorauthage", "aws:sourcearn", "aws:sourceaccount", "aws:sourceorgid", "aws:sourceorgpaths",
	"aws:calledvia", "aws:calledviafirst", "aws:calledvialast", "aws:ec2instancesourcevpc", "aws:ec2instancesourceprivateipv4",
)

// noClaims are the names of claims that no condition key has, with the name of the key that is
// meant: empty where there is none (AWS: keys for OIDC federation).
var noClaims = map[string]string{
	"subject": "sub", "subjects": "sub", "subs": "sub", "serviceaccount": "sub", "audience": "aud", "audiences": "aud", "auds": "aud",
	"iss": "", "issuer": "", "exp": "", "iat": "", "nbf": "", "jti": "", "kubernetes.io": "sub",
}

// tagClaims are keys that a token gives by claims that no ServiceAccount's token has (AWS: passing
// session tags; source identity).
func tagClaims(key string) bool {
	return strings.HasPrefix(key, "aws:requesttag/") || key == "aws:tagkeys" || key == "sts:transitivetagkeys" ||
		key == "aws:sourceidentity" || key == "sts:sourceidentity"
}

// ofToken says that the key is a claim of some issuer's: it begins with a host's name.
func ofToken(key string) bool {
	vendor, _, _ := strings.Cut(key, ":")
	return strings.Contains(vendor, ".")
}

// domain is what a key may be.
func (c *caller) domain(key string) domain {
	if key == "sts:rolesessionname" {
		return domain{absent: true, present: true, in: sessionNames{}}
	}
	if c.issuer == "" {
		if ofToken(key) {
			return never
		}
		return free
	}
	claim, own := strings.CutPrefix(key, c.issuer+":")
	_, none := noClaims[claim]
	switch {
	case own && claim == "sub":
		return domain{present: true, in: c.subjects, meant: c.subjects == otherSubjects{}}
	case own && claim == "aud":
		return domain{present: true, many: true, in: everyText{}}
	case own && (c.serviceAccount || none || strings.HasPrefix(claim, "kubernetes.io/")):
		return never
	case own:
		return free
	case ofToken(key), signedOnly[key], strings.HasPrefix(key, "aws:principaltag/"), strings.HasPrefix(key, "saml:"), c.serviceAccount && tagClaims(key):
		return never
	case key == "aws:viaawsservice" || key == "aws:principalisawsservice":
		return domain{absent: true, present: true, words: []string{"false"}}
	default:
		return free
	}
}

// hindrance is why a caller cannot meet the conditions on a key.
type hindrance struct {
	caller *caller
	// on are the conditions that no value meets together, the last one with those before it.
	on []*condition
}

// hindrance is nil where the caller may meet all conditions.
func (c *caller) hindrance(conditions []*condition) *hindrance {
	byKey := map[string][]*condition{}
	for _, one := range conditions {
		byKey[one.key] = append(byKey[one.key], one)
		if on := byKey[one.key]; !c.mayMeet(on) {
			if alone := []*condition{one}; !c.mayMeet(alone) {
				on = alone
			}
			return &hindrance{caller: c, on: on}
		}
	}
	return nil
}

// mayMeet says whether a request may meet conditions that have one key.
func (c *caller) mayMeet(on []*condition) bool {
	d := c.domain(on[0].key)
	without := func(one *condition) bool { return !one.holds(nil) }
	if d.absent && !slices.ContainsFunc(on, without) {
		return true
	}
	if !d.present {
		return false
	}
	var wants []want
	for _, one := range on {
		if one.presence {
			if !one.passes("false", nil) {
				return false
			}
			continue
		}
		if w, decidable := c.want(one, &d); decidable {
			wants = append(wants, w)
		}
	}
	if d.words != nil {
		return slices.ContainsFunc(d.words, func(word string) bool {
			return !slices.ContainsFunc(wants, func(w want) bool { return !w.condition.passes(word, nil) })
		})
	}
	return c.left.meets(d.in, wants) || d.many && c.left.meetsTogether(d.in, wants)
}

// meetsTogether says whether several values of a key meet what is wanted of all and of any of them.
func (e *endurance) meetsTogether(in universe, wants []want) bool {
	var ofAll, ofAny []want
	for _, w := range wants {
		switch w.condition.set {
		case forAll:
			ofAll = append(ofAll, w)
		case forAny:
			ofAny = append(ofAny, w)
		default:
			return false
		}
	}
	for _, w := range ofAny {
		if !e.meets(in, append(slices.Clone(ofAll), w)) {
			return false
		}
	}
	return e.meets(in, ofAll)
}

// want makes a condition ready for meets. A condition that is not decidable may be met.
func (c *caller) want(one *condition, d *domain) (w want, decidable bool) {
	w = want{condition: one}
	if one.base == "Bool" {
		for _, value := range one.values {
			w.folded = append(w.folded, value.value)
		}
		return w, true
	}
	if !strings.HasPrefix(one.base, "String") {
		return w, !one.negated && d.in == serviceAccounts{} // no subject is a number, a date, an address or an ARN
	}
	for i, o := range one.operands {
		t := templateOf(o)
		switch {
		case c.unresolved(t) && !one.negated:
			continue // it fits nothing
		case t.broken || t.parts != nil:
			return w, false
		case d.meant && !one.negated && isMeantForServiceAccount(one.values[i].value):
			continue
		}
		if _, folded := o.(*foldedOperand); folded {
			w.folded = append(w.folded, t.fixed.pattern)
		} else {
			w.plain = append(w.plain, t.fixed.pattern)
		}
	}
	return w, true
}

// unresolved says that a text has a variable that no request of the caller gives a value.
func (c *caller) unresolved(t *template) bool {
	return t.broken || slices.ContainsFunc(t.parts, func(p part) bool {
		return p.key != "" && (p.many || p.fallback == nil && !c.domain(p.key).present)
	})
}

// isMeantForServiceAccount says that a subject begins almost as a ServiceAccount's does.
func isMeantForServiceAccount(subject string) bool { return corrected(subject) != "" }

// corrected is the subject with the right beginning, empty where it was not meant for that of a
// ServiceAccount. Three slips of the keyboard are near enough.
func corrected(subject string) string {
	const prefix = "system:serviceaccount"
	fixed, _, _ := strings.Cut(subject, "${")
	if at := strings.IndexAny(fixed, "*?"); at >= 0 {
		fixed = fixed[:at]
	}
	parts := strings.SplitN(fixed, ":", 3)
	lengths := []int{len(parts[0])}
	if len(parts) > 2 {
		lengths = append(lengths, len(parts[0])+1+len(parts[1]))
	}
	if len(parts) < 2 {
		return ""
	}
	for _, length := range slices.Backward(lengths) {
		if beginning := strings.ToLower(fixed[:length]); len(beginning) <= len(prefix)+3 && distance(beginning, prefix) <= 3 || beginning == "serviceaccount" && len(parts) > 2 {
			return prefix + subject[length:]
		}
	}
	return ""
}

// distance counts the letters to insert, delete or replace to make one text of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for k := range len(b) {
			change := corner
			if a[i] != b[k] {
				change++
			}
			corner = row[k+1]
			row[k+1] = min(change, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)]
}
