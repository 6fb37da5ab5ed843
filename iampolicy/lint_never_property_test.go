package iampolicy

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	unclearIssuer = "oidc.example.com/id/4F1C"
	clusterIssuer = "oidc.eks.eu-west-1.amazonaws.com/id/4F1C"
	gitHub        = "token.actions.githubusercontent.com"
	trustedUser   = "arn:aws:iam::123456789012:user/u"
	trustedPods   = "pods.eks.amazonaws.com"
)

// trustCase is a random trust policy of one statement.
type trustCase struct {
	issuers       []string
	user, service bool
	conditions    map[string]map[string][]string
	keys          map[string]bool
}

var (
	textOperators = []string{"StringEquals", "StringLike", "StringLike", "StringEqualsIgnoreCase", "StringNotEquals", "StringNotLike", "StringNotEqualsIgnoreCase"}
	// subjectWords are such that a subject of subjects fits what any subject fits.
	subjectWords = []string{
		"system:serviceaccount:a:b", "system:serviceaccount:a:*", "system:serviceaccount:*:a", "system:serviceaccount:?:?", "system:serviceaccount:*b:*",
		"system:serviceaccount:ab*", "system:serviceaccount:??:*.b", "*:a", "*a*", "system:*", "*", "*a:*b", "SYSTEM:serviceaccount:A:B", "system:serviceaccount:a:A",
		"system:serviceaccount:A_b:*", "system:serviceaccount:a:-*", "system:serviceaccount:a", "system:serviceaccount:a:b:*", "system:serviceacount:a:b",
		"System:ServiceAccount:a:*", "repo:a/b:*", "repo:*", "0oa", "sts.amazonaws.com", "${aws:PrincipalTag/T}",
	}
	freeWords    = []string{"a", "v*", "*", "b", "??", "A", "v"}
	sessionWords = []string{"ab", "a*", "a:b", "x", "*", "?b", "*-?", "AB"}
)

// newTrustCase makes a trust policy. Some keys come more often together.
func (g generator) newTrustCase() *trustCase {
	c := &trustCase{conditions: map[string]map[string][]string{}, keys: map[string]bool{}}
	switch n := g.IntN(20); {
	case n < 8:
		c.issuers = []string{unclearIssuer}
	case n < 13:
		c.issuers = []string{clusterIssuer}
	case n < 15:
		c.issuers = []string{gitHub}
	case n < 16:
		c.issuers = []string{unclearIssuer, clusterIssuer}
	case n < 17:
		c.issuers, c.user = []string{unclearIssuer}, true
	default:
		c.user = n < 19
		c.service = !c.user
	}
	issuer := unclearIssuer
	if len(c.issuers) > 0 {
		issuer = g.one(c.issuers...)
	}
	for range 1 + g.IntN(4) {
		switch n := g.IntN(20); {
		case n < 10:
			c.add(g, issuer+":sub", subjectWords)
		case n < 13:
			c.add(g, issuer+":"+g.one("aud", "aud", "amr", "subject", "iss", "AUD"), freeWords)
		case n < 14:
			c.add(g, "sts:RoleSessionName", sessionWords)
		case n < 15:
			c.add(g, g.one("other.example.com:amr", unclearIssuer+":sub", clusterIssuer+":aud"), freeWords)
		case n < 16:
			c.add(g, g.one("aws:ViaAWSService", "aws:MultiFactorAuthPresent"), []string{"true", "false"})
		default:
			c.add(g, g.one("sts:ExternalId", "aws:PrincipalTag/T", "aws:RequestTag/T", "aws:SourceVpce", "aws:TagKeys", "saml:sub_type", "aws:PrincipalArn"), freeWords)
		}
	}
	return c
}

// add adds a condition whose meaning is not open.
func (c *trustCase) add(g generator, key string, words []string) {
	operator := g.one(textOperators...)
	switch n := g.IntN(20); {
	case n == 0:
		operator, words = "Null", []string{"true", "false"}
	case n == 1 && key == clusterIssuer+":sub":
		operator = g.one("NumericLessThan", "DateGreaterThan", "IpAddress", "ArnLike")
	case words[0] == "true":
		operator = "Bool"
	}
	if operator != "Null" {
		operator = g.one("", "", "", "ForAllValues:", "ForAnyValue:") + operator + g.one("", "", "", "IfExists")
	}
	if strings.Contains(operator, "Not") { // AWS does not state what a negated operator does where a variable has no value
		words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.Contains(word, "${") })
	}
	if c.conditions[operator] == nil {
		c.conditions[operator] = map[string][]string{}
	}
	for known := range c.conditions[operator] {
		if known != key && strings.EqualFold(known, key) {
			return
		}
	}
	c.conditions[operator][key] = g.some(func() string { return g.one(words...) })
	c.keys[strings.ToLower(key)] = true
}

// text is the policy, with the conditions on one key only, or with all where the key is empty.
func (c *trustCase) text(t *testing.T, only string) string {
	t.Helper()
	conditions := map[string]map[string][]string{}
	for operator, keys := range c.conditions {
		for key, values := range keys {
			if only == "" || strings.EqualFold(key, only) {
				if conditions[operator] == nil {
					conditions[operator] = map[string][]string{}
				}
				conditions[operator][key] = values
			}
		}
	}
	principal, actions := map[string][]string{}, []string{}
	for _, issuer := range c.issuers {
		principal["Federated"] = append(principal["Federated"], "arn:aws:iam::123456789012:oidc-provider/"+issuer)
	}
	if len(c.issuers) > 0 {
		actions = append(actions, "sts:AssumeRoleWithWebIdentity")
	}
	if c.user {
		principal["AWS"] = []string{trustedUser}
	}
	if c.service {
		principal["Service"] = []string{trustedPods}
	}
	if c.user || c.service {
		actions = append(actions, "sts:AssumeRole")
	}
	raw, err := json.Marshal(map[string]any{"Version": newVersion, "Statement": map[string]any{"Effect": "Allow", "Principal": principal, "Action": actions, "Condition": conditions}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// spelled are all texts of some letters that pass, up to a length.
func spelled(letters string, longest int, passes func(string) bool) (all []string) {
	last := []string{""}
	for range longest {
		var next []string
		for _, begun := range last {
			for _, letter := range letters {
				next = append(next, begun+string(letter))
			}
		}
		for _, one := range next {
			if passes(one) {
				all = append(all, one)
			}
		}
		last = next
	}
	return all
}

// accountSubjects are subjects of ServiceAccounts, strangers those of other callers, freeTexts values of
// keys whose values nothing limits.
var (
	accountSubjects = func() (all []string) {
		isLabel := func(s string) bool { return strings.Trim(s, "-.") == s }
		for _, namespace := range spelled("abz-", 2, isLabel) {
			for _, name := range spelled("abz-.", 3, isLabel) {
				if !strings.Contains(name, "..") && !strings.Contains(name, "-.") && !strings.Contains(name, ".-") {
					all = append(all, serviceAccountPrefix+namespace+":"+name)
				}
			}
		}
		return all
	}()
	strangers = slices.Concat(spelled("abx:", 4, func(string) bool { return true }), cased(slices.DeleteFunc(slices.Clone(subjectWords), func(word string) bool {
		return strings.HasPrefix(strings.ToLower(word), "system:service")
	})), []string{"", "repo:a/b:x", "repo:a/b:a", "repo:a/b:b", "repo:a/b:", "repo:a/b:x:a", "repo:x", "repo:a:b", "repo:b", "system:", "system:b", "system:x:a", "system:a:b", "system:xa:"}, freeTexts)
	anySubjects = slices.Concat(strangers, accountSubjects, cased(subjectWords), []string{
		"system:serviceaccount:A_b:x", "system:serviceaccount:A_b:a", "system:serviceaccount:A_b:a:b", "system:serviceaccount:A_b:a:a", "system:serviceaccount:A_b:",
		"system:serviceaccount:a:-", "system:serviceaccount:a:-b", "system:serviceaccount:a:-b:", "system:serviceaccount:a:-b:a", "system:serviceaccount:a:-a:b", "system:serviceaccount:a:-b:b",
		"system:serviceaccount:a:b:", "system:serviceaccount:a:b:a", "system:serviceaccount:a:b:b", "system:serviceaccount:a:",
		"System:ServiceAccount:a:", "System:ServiceAccount:a:x", "System:ServiceAccount:a:a", "System:ServiceAccount:a:b", "System:ServiceAccount:a:a:b", "System:ServiceAccount:a:b:a", "system:serviceaccount:b:",
	})
	freeTexts = []string{"a", "v", "b", "vx", "zz", "z", "A", "B", "V", "v*", "V*", "*", "??"}
)

// cased are the texts in several cases.
func cased(texts []string) (all []string) {
	for _, one := range texts {
		all = append(all, one, strings.ToLower(one), strings.ToUpper(one))
	}
	return all
}

// lists are the texts alone, and two or three together where several are asked for.
func lists(texts []string, several bool) (all [][]string) {
	for i, one := range texts {
		all = append(all, []string{one})
		for k := 0; several && k < i; k++ {
			all = append(all, []string{one, texts[k]})
			for l := range k {
				all = append(all, []string{one, texts[k], texts[l]})
			}
		}
	}
	return all
}

// valuesOf are the values that a key may have in the requests of a caller; nil is the key's absence.
// It is written down from AWS's reference once more, not asked of the linter.
func valuesOf(key, issuer string, account, several bool) [][]string {
	absent := [][]string{nil}
	claim, own := strings.CutPrefix(key, strings.ToLower(issuer)+":")
	signed := issuer == ""
	host, _, _ := strings.Cut(key, ":")
	switch {
	case signed && strings.Contains(host, "."):
		return absent
	case key == "sts:rolesessionname":
		return append(lists([]string{"ab", "aB", "Ab", "AB", "aa", "ba", "bb", "zz", "abb", "a-b", "z-z", "z-b", "zb", "cab", "x-"}, false), nil)
	case signed && (key == "aws:viaawsservice" || key == "aws:multifactorauthpresent"):
		return append(lists([]string{"true", "false"}, true), nil)
	case signed:
		return append(lists(freeTexts, several), nil)
	case own && claim == "sub" && account:
		return lists(accountSubjects, false)
	case own && claim == "sub" && issuer == gitHub:
		return lists(anySubjects, false)
	case own && claim == "sub":
		return lists(strangers, false)
	case own && claim == "aud":
		return lists(freeTexts, several)
	case own && (account || claim == "subject" || claim == "iss"):
		return absent
	case own, key == "aws:sourcevpce", !account && (key == "aws:requesttag/t" || key == "aws:tagkeys"):
		return append(lists(freeTexts, several), nil)
	case key == "aws:viaawsservice":
		return [][]string{nil, {"false"}}
	default:
		return absent
	}
}

// admitsAny says whether the evaluator admits a request of a caller, out of all that have the values of
// valuesOf for the keys of the policy. The conditions on one key hold whatever the others are, so that
// the values of each key are tried with these alone, and one of each all together.
func (c *trustCase) admitsAny(t *testing.T, caller Principal, issuer string, ofAccount bool) bool {
	t.Helper()
	request := &Request{Principal: caller, Action: "sts:AssumeRole", Resource: "arn:aws:iam::123456789012:role/r", ResourceAccountID: account}
	if issuer != "" {
		request.Action = "sts:AssumeRoleWithWebIdentity"
	}
	admits := func(context Context, policy *Policy) bool {
		request.Context = context
		return Evaluate(request, &Policies{Resource: policy}).Allowed()
	}
	whole := NewContext()
	for key := range c.keys {
		policy, found := trustPolicy(t, c.text(t, key)), false
		for _, values := range valuesOf(key, issuer, ofAccount, c.several(key)) {
			context := NewContext()
			if values != nil {
				context.Set(key, values...)
			}
			if found = admits(context, policy); found {
				maps.Copy(whole, context)
				break
			}
		}
		if !found {
			return false
		}
	}
	if !admits(whole, trustPolicy(t, c.text(t, ""))) {
		t.Fatalf("the conditions on each key hold, and together they do not for %v: %s", whole, c.text(t, ""))
	}
	return true
}

func trustPolicy(t *testing.T, document string) *Policy {
	t.Helper()
	policy, err := Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

// several says that a condition asks for several values of a key.
func (c *trustCase) several(key string) bool {
	for operator, keys := range c.conditions {
		for name := range keys {
			if strings.EqualFold(name, key) && strings.HasPrefix(operator, "ForA") {
				return true
			}
		}
	}
	return false
}

// admits says whether any request of those whom the policy names is admitted.
func (c *trustCase) admits(t *testing.T) bool {
	t.Helper()
	for _, issuer := range c.issuers {
		provider := Principal{Kind: Federated, ARN: "arn:aws:iam::123456789012:oidc-provider/" + issuer, AccountID: account}
		if issuer != gitHub && c.admitsAny(t, provider, issuer, true) || issuer != clusterIssuer && c.admitsAny(t, provider, issuer, false) {
			return true
		}
	}
	return c.user && c.admitsAny(t, Principal{Kind: User, ARN: trustedUser, AccountID: account}, "", false) ||
		c.service && c.admitsAny(t, Principal{Kind: Service, ARN: trustedPods}, "", false)
}

var trustPolicies = flag.Int("trusts", 4_000, "how many random trust policies NeverMatches is compared with the evaluator on")

// TestNeverMatchesIsWhatTheEvaluatorRefuses: the linter says of exactly those random trust policies
// that no request meets them for which the evaluator refuses every request of a large set. Where
// another rule explains a condition, NeverMatches may be silent, and is not wrong.
func TestNeverMatchesIsWhatTheEvaluatorRefuses(t *testing.T) {
	g := newGenerator(*seed)
	counts := map[string]int{}
	for range *trustPolicies {
		c := g.newTrustCase()
		document := c.text(t, "")
		policy := trustPolicy(t, document)
		refused := !c.admits(t)
		found, explained := false, false
		var list Errors
		errors.As(policy.Lint(TrustPolicy, LintOptions{}), &list)
		for _, one := range list {
			found = found || one.Code == CodeNeverMatches
			explained = explained || ownFindings[one.Code]
		}
		if decided := decidesNever(&policy.statements[0]); decided != refused {
			t.Fatalf("the decision that no request meets it is %t, and the evaluator refuses all: %t\n%s", decided, refused, document)
		}
		if found && !refused || refused && !found && !explained {
			t.Fatalf("NeverMatches is found: %t, the evaluator refuses all: %t, others: %v\n%s", found, refused, list, document)
		}
		switch {
		case found:
			counts["found"]++
		case refused:
			counts["explained"]++
		default:
			counts["met"]++
		}
	}
	t.Log(counts)
	if counts["found"] < *trustPolicies/10 || counts["met"] < *trustPolicies/10 {
		t.Errorf("too few of a kind: %v", counts)
	}
}

// decidesNever is the decision about all conditions, whatever other rules say.
func decidesNever(s *statement) bool {
	callers, certain := s.callers()
	var all []*condition
	for i := range s.conditions {
		all = append(all, &s.conditions[i])
	}
	return certain && !slices.ContainsFunc(callers, func(c caller) bool { return c.hindrance(all) == nil })
}

// TestTheWorkOfNeverMatchesIsBounded for patterns that are made to take long: it gives up, and finds nothing.
func TestTheWorkOfNeverMatchesIsBounded(t *testing.T) {
	c := &trustCase{issuers: []string{unclearIssuer}, conditions: map[string]map[string][]string{}}
	for i := range 40 {
		pattern := "*a" + strings.Repeat("?", i+10) + "b*" + string(rune('a'+i%26)) + "c*"
		for _, operator := range []string{"StringLike", "StringNotLike"} {
			if c.conditions[operator] == nil {
				c.conditions[operator] = map[string][]string{unclearIssuer + ":sub": {"*a*"}}
			}
			c.conditions[operator][unclearIssuer+":sub"] = append(c.conditions[operator][unclearIssuer+":sub"], pattern)
		}
	}
	s := &trustPolicy(t, c.text(t, "")).statements[0]
	callers, _ := s.callers()
	for i := range callers {
		callers[i].hindrance([]*condition{&s.conditions[0], &s.conditions[1]})
	}
	if left := *callers[0].left; left < -mostEffort/10 {
		t.Errorf("it went on for %d steps", mostEffort-left)
	}
}
