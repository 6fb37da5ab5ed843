package iampolicy

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The naive evaluator says once more, from the decoded JSON and without any
// preparation, what a policy means. It shares no code with the real one, so that
// a mistake has to be made twice to go unseen.

// naiveStatement is a statement as encoding/json sees it; lists only.
type naiveStatement struct {
	Effect                  string
	Principal, NotPrincipal map[string][]string
	Action, NotAction       []string
	Resource, NotResource   []string
	Condition               map[string]map[string][]string
	variables               bool
}

// naivePolicy is a document; nil stands for none.
type naivePolicy struct {
	Version   string
	Statement []naiveStatement
}

// variable finds variables with and without a default.
var variable = regexp.MustCompile(`\$\{([^},]+)(?:, *'([^']*)' *)?\}`)

// naivePattern turns a text into a regular expression; false if a variable has
// no single value.
func naivePattern(s string, r *Request, variables, wild bool) (*regexp.Regexp, bool) {
	plain := func(s string) string {
		s = regexp.QuoteMeta(s)
		if wild {
			s = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(s)
		}
		return s
	}
	if !variables {
		return regexp.MustCompile(`^(?s:` + plain(s) + `)$`), true
	}
	out, at := "", 0
	for _, m := range variable.FindAllStringSubmatchIndex(s, -1) {
		out += plain(s[at:m[0]])
		at = m[1]
		name := s[m[2]:m[3]]
		if name == "*" || name == "?" || name == "$" {
			out += regexp.QuoteMeta(name)
			continue
		}
		values, _ := r.Context.Get(name)
		switch {
		case len(values) == 1:
			out += regexp.QuoteMeta(values[0])
		case len(values) == 0 && m[4] >= 0:
			out += regexp.QuoteMeta(s[m[4]:m[5]])
		default:
			return nil, false
		}
	}
	return regexp.MustCompile(`^(?s:` + out + plain(s[at:]) + `)$`), true
}

// naiveARN compares the six parts of an ARN. The tests' variables have no
// colons in their names.
func naiveARN(pattern, arn string, r *Request, variables bool) (matched, ok bool) {
	patterns, parts := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(patterns) < 6 || len(parts) < 6 {
		return false, false
	}
	matched = true
	for i := range patterns {
		expression, ok := naivePattern(patterns[i], r, variables, true)
		if !ok {
			return false, false
		}
		matched = matched && expression.MatchString(parts[i])
	}
	return matched, true
}

// naiveDate reads the two forms that the tests use.
func naiveDate(s string) (*big.Rat, bool) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return big.NewRat(at.Unix(), 1), true
	}
	return naiveNumber(s)
}

// naiveNumber reads a decimal number.
func naiveNumber(s string) (*big.Rat, bool) {
	if !regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?$`).MatchString(s) {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// naiveTest compares one value of a request with one of a policy by the
// positive form of an operator.
func naiveTest(operator, want, have string, r *Request, variables bool) (matched, ok bool) {
	parse := naiveNumber
	switch {
	case operator == "Bool":
		return strings.EqualFold(want, have), true
	case operator == "BinaryEquals":
		a, errA := base64.StdEncoding.DecodeString(want)
		b, errB := base64.StdEncoding.DecodeString(have)
		return string(a) == string(b), errA == nil && errB == nil
	case operator == "IpAddress":
		if !strings.Contains(want, "/") {
			want += "/32"
		}
		_, network, err := net.ParseCIDR(want)
		address := net.ParseIP(have)
		return err == nil && address != nil && network.Contains(address), err == nil && address != nil
	case strings.HasPrefix(operator, "String"):
		expression, ok := naivePattern(want, r, variables, operator == "StringLike")
		if ok && operator == "StringEqualsIgnoreCase" {
			expression = regexp.MustCompile("(?i)" + expression.String())
		}
		return ok && expression.MatchString(have), ok
	case strings.HasPrefix(operator, "Arn"):
		return naiveARN(want, have, r, variables)
	case strings.HasPrefix(operator, "Date"):
		parse = naiveDate
	}
	a, okA := parse(want)
	b, okB := parse(have)
	if !okA || !okB {
		return false, false
	}
	order := b.Cmp(a)
	for suffix, accepts := range map[string]bool{
		"cEquals": order == 0, "eEquals": order == 0, "LessThan": order < 0, "LessThanEquals": order <= 0,
		"GreaterThan": order > 0, "GreaterThanEquals": order >= 0,
	} {
		if strings.HasSuffix(operator, suffix) {
			return accepts, true
		}
	}
	return false, true
}

// naiveCondition judges one key of one operator.
func naiveCondition(operator, key string, wants []string, r *Request, variables bool) bool {
	values, _ := r.Context.Get(key)
	if operator == "Null" {
		return slices.Contains(wants, map[bool]string{true: "true", false: "false"}[len(values) == 0])
	}
	forAll, forAny := strings.HasPrefix(operator, "ForAllValues:"), strings.HasPrefix(operator, "ForAnyValue:")
	operator = operator[strings.Index(operator, ":")+1:]
	ifExists := strings.HasSuffix(operator, "IfExists")
	operator = strings.TrimSuffix(operator, "IfExists")
	negated := strings.Contains(operator, "Not")
	operator = strings.Replace(operator, "Not", "", 1)
	if len(values) == 0 {
		return forAll || !forAny && (ifExists || negated)
	}
	if len(values) > 1 && !forAll && !forAny {
		return false
	}
	passed := 0
	for _, value := range values {
		some, broken := false, false
		for _, want := range wants {
			matched, ok := naiveTest(operator, want, value, r, variables)
			some, broken = some || matched && ok, broken || !ok
		}
		if !negated && some || negated && !some && !broken {
			passed++
		}
	}
	return passed == len(values) || forAny && passed > 0
}

// naiveResource compares a resource with one pattern.
func naiveResource(pattern string, r *Request, variables bool) (matched, ok bool) {
	if pattern == "*" {
		return true, true
	}
	if r.Resource == "*" { // no ARN, and no mistake either: it only fits nothing else
		_, ok = naivePattern(pattern, r, variables, true)
		return false, ok
	}
	return naiveARN(pattern, r.Resource, r, variables)
}

// naiveNames says by which words a list of principals names the caller.
func naiveNames(list map[string][]string, p Principal) string {
	switch {
	case p.Kind == Service && slices.Contains(list["Service"], p.ARN),
		p.Kind == Federated && slices.Contains(list["Federated"], p.ARN),
		p.Kind <= Root && p.Kind != Anonymous && slices.Contains(list["AWS"], p.ARN):
		return "exact"
	case p.Kind == RoleSession && slices.Contains(list["AWS"], p.RoleARN):
		return "role"
	case p.Kind != Federated && slices.Contains(list["AWS"], "*"):
		return "wild"
	case p.Kind != Federated && p.AccountID != "" && (slices.Contains(list["AWS"], p.AccountID) || slices.Contains(list["AWS"], "arn:aws:iam::"+p.AccountID+":root")):
		return "account"
	}
	return ""
}

// naiveApplies judges all but the principal.
func (s *naiveStatement) applies(r *Request) bool {
	some := false
	for _, action := range slices.Concat(s.Action, s.NotAction) {
		some = some || globByRegexp(strings.ToLower(action), strings.ToLower(r.Action))
	}
	if some == (s.NotAction != nil) {
		return false
	}
	some, broken := false, false
	for _, resource := range slices.Concat(s.Resource, s.NotResource) {
		matched, ok := naiveResource(resource, r, s.variables)
		some, broken = some || matched, broken || !ok
	}
	if s.NotResource != nil && (some || broken) || s.NotResource == nil && !some {
		return false
	}
	for operator, keys := range s.Condition {
		for key, values := range keys {
			if !naiveCondition(operator, key, values, r, s.variables) {
				return false
			}
		}
	}
	return true
}

// naiveAsk collects the effects of the statements that apply; for a resource's
// policy an Allow comes with how it names the caller.
func naiveAsk(p *naivePolicy, r *Request, resource, bounded bool) map[string]bool {
	said := map[string]bool{}
	if p == nil {
		return said
	}
	for _, s := range p.Statement {
		s.variables = p.Version == "2012-10-17"
		if !s.applies(r) {
			continue
		}
		name := naiveNames(s.Principal, r.Principal)
		if resource && s.NotPrincipal != nil {
			name = naiveNames(s.NotPrincipal, r.Principal)
			if s.Effect == "Allow" || !bounded && (name == "exact" || name == "role" || name == "wild") {
				continue
			}
			name = "other"
		}
		if s.Effect == "Deny" && slices.Contains(s.Principal["AWS"], "*") {
			name = "wild"
		}
		switch {
		case !resource:
			said[s.Effect] = true
		case name != "" && s.Effect == "Deny":
			said["Deny"] = true
		case name != "":
			said[name] = true
		}
	}
	return said
}

// naiveDecide puts the policies together in the words of AWS's flow chart.
func naiveDecide(r *Request, identity, boundary, session, resource *naivePolicy) Effect {
	id, bd, sp := naiveAsk(identity, r, false, false), naiveAsk(boundary, r, false, false), naiveAsk(session, r, false, false)
	rp := naiveAsk(resource, r, true, boundary != nil)
	root, user := r.Principal.Kind == Root, r.Principal.Kind == User
	if rp["Deny"] || !root && (id["Deny"] || bd["Deny"] || sp["Deny"]) {
		return ExplicitDeny
	}
	limits := (boundary == nil || bd["Allow"]) && (session == nil || sp["Allow"])
	own := root || id["Allow"] && limits
	granted := len(rp) > 0
	allow := false
	switch {
	case r.Principal.Kind == Anonymous:
		allow = rp["wild"]
	case r.Principal.Kind == Service || r.Principal.Kind == Federated:
		allow = granted
	case r.Principal.AccountID != r.ResourceAccountID:
		allow = own && granted
	default:
		allow = own || rp["exact"] || rp["role"] && limits || rp["wild"] && (user || limits)
	}
	if allow {
		return Allow
	}
	return ImplicitDeny
}

// naiveParse reads a document in the form that the generator writes.
func naiveParse(t *testing.T, document string) *naivePolicy {
	t.Helper()
	if document == "" {
		return nil
	}
	p := &naivePolicy{}
	if err := json.Unmarshal([]byte(document), p); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return p
}
