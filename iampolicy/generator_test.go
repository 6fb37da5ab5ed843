package iampolicy

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// generator makes random requests, and policies that are close to them: most
// elements are the request's own values, a little changed.
type generator struct{ *rand.Rand }

// newGenerator always makes the same sequence.
func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 7))} }

func (g generator) one(words ...string) string { return words[g.IntN(len(words))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// some repeats a maker once or more.
func (g generator) some(makeOne func() string) []string {
	out := []string{makeOne()}
	for g.chance(30) {
		out = append(out, makeOne())
	}
	return out
}

// document is a policy; a single statement is written without a list.
type document struct {
	Version   string `json:",omitempty"`
	Statement []map[string]any
}

func (d *document) text() string {
	var statements any = d.Statement
	if len(d.Statement) == 1 {
		statements = d.Statement[0]
	}
	fields := map[string]any{"Statement": statements}
	if d.Version != "" {
		fields["Version"] = d.Version
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err) // the generator makes strings, numbers, lists and objects only
	}
	return string(raw)
}

// world is every policy that bears on a request; nil for none.
type world struct {
	Identity, Session  []*document
	Boundary, Resource *document
}

func (w world) String() string {
	raw, err := json.Marshal(w)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// documents writes the policies.
func (w world) documents() documents {
	texts := func(all ...*document) (out []string) {
		for _, d := range all {
			if d != nil {
				out = append(out, d.text())
			}
		}
		return out
	}
	return documents{Identity: texts(w.Identity...), Session: texts(w.Session...),
		Boundary: strings.Join(texts(w.Boundary), ""), Resource: strings.Join(texts(w.Resource), "")}
}

// parse parses the documents.
func (w world) parse() (*Policies, error) {
	var mistakes []error
	parse := func(text string) *Policy {
		policy, err := Parse([]byte(text))
		mistakes = append(mistakes, err)
		return policy
	}
	texts, p := w.documents(), &Policies{}
	for _, text := range texts.Identity {
		p.Identity = append(p.Identity, parse(text))
	}
	for _, text := range texts.Session {
		p.Session = append(p.Session, parse(text))
	}
	if texts.Boundary != "" {
		p.Boundary = parse(texts.Boundary)
	}
	if texts.Resource != "" {
		p.Resource = parse(texts.Resource)
	}
	return p, errors.Join(mistakes...)
}

// policies parses documents that have no mistake.
func (w world) policies(t *testing.T) *Policies {
	t.Helper()
	p, err := w.parse()
	if err != nil {
		t.Fatalf("%v in %s", err, w)
	}
	return p
}

const (
	strange = "111122223333"
	chinese = "222233334444" // of another partition
	pathed  = "arn:aws:iam::123456789012:role/team/app"
)

var (
	callers = []Principal{
		{Kind: User, ARN: alice, AccountID: account},
		{Kind: User, ARN: "arn:aws:iam::123456789012:user/team/carol", AccountID: account},
		{Kind: User, ARN: "arn:aws-cn:iam::222233334444:user/alice", AccountID: chinese},
		{Kind: User, ARN: bob, AccountID: strange},
		{Kind: RoleSession, ARN: session, RoleARN: "arn:aws:iam::123456789012:role/app", AccountID: account},
		{Kind: RoleSession, ARN: "arn:aws:sts::123456789012:assumed-role/app/s2", RoleARN: pathed, AccountID: account},
		{Kind: RoleSession, ARN: "arn:aws-cn:sts::222233334444:assumed-role/app/s1", RoleARN: "arn:aws-cn:iam::222233334444:role/app", AccountID: chinese},
		{Kind: RoleSession, ARN: "arn:aws:sts::111122223333:assumed-role/ext/s1", RoleARN: "arn:aws:iam::111122223333:role/ext", AccountID: strange},
		{Kind: Root, ARN: rootARN, AccountID: account},
		{Kind: Root, ARN: "arn:aws:iam::111122223333:root", AccountID: strange},
		{Kind: Service, ARN: "logs.amazonaws.com"},
		{Kind: Federated, ARN: issuer, AccountID: account},
		{Kind: Anonymous},
	}
	// targets are actions and what they act on.
	targets = [][2]string{
		{"s3:GetObject", "arn:aws:s3:::b/k"}, {"s3:GetObject", "arn:aws:s3:::home/alice/f"}, {"s3:PutObject", "arn:aws-cn:s3:::b/a*"},
		{"s3:GetObject", "b/k"}, {"logs:GetLogEvents", "arn:aws:logs:us-east-1:123456789012:log-group:/a/b:log-stream:s"},
		{"ec2:DescribeInstanceTypes", "*"}, {"iam:GetRole", pathed}, {"sts:AssumeRole", pathed}, {"sts:TagSession", pathed},
		{"sts:AssumeRoleWithWebIdentity", pathed}, {"sts:GetCallerIdentity", "*"},
	}
	operatorWords = map[string][]string{
		"String": {"StringEquals", "StringNotEquals", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "StringLike", "StringNotLike"},
		"Numeric": {"NumericEquals", "NumericNotEquals", "NumericLessThan", "NumericLessThanEquals", "NumericGreaterThan",
			"NumericGreaterThanEquals"},
		"Date": {"DateEquals", "DateNotEquals", "DateLessThan", "DateLessThanEquals", "DateGreaterThan", "DateGreaterThanEquals"},
		"Bool": {"Bool"}, "Binary": {"BinaryEquals"}, "Ip": {"IpAddress", "NotIpAddress"},
		"Arn":  {"ArnEquals", "ArnNotEquals", "ArnLike", "ArnNotLike"},
		"Null": {"Null"},
	}
	valueWords = map[string][]string{
		"String":  {"a", "A", "ab", "a*", "b", "", "alice", "blue", "a:b", "é", "É"},
		"Numeric": {"1", "1.0", "01", "-1", "-1.50", "10", "0", "-0.0", "0.1", "0.10", "0.10000000000000001", "x", "1e1", "", "0x1"},
		"Date": {"2026-01-01T00:00:00Z", "1767225600", "2026-01-01", "2026-01-01T01:00:00+01:00", "2026-01-01T01:00:00+0100", "2026-01", "1767225600.5", "2026-01-01T00:00:00.5Z", "2027-06-01T12:30:00Z",
			"1767225601", "0", "2026-13-01", "x", ""},
		"Bool": {"true", "false", "TRUE", "False", "yes", ""}, "Binary": {"AQ==", "AQI=", "AQ", "!", ""},
		"Ip":   {"10.0.0.1", "192.0.2.1", "2001:db8::1", "10.0.0.256", "x", ""},
		"Arn":  {"arn:aws:iam::123456789012:role/a", "arn:aws:iam::1:role/a:b", "arn:aws-cn:sns:eu-west-1:1:t", "arn:aws:s3", "", "x"},
		"Null": {"x"},
	}
	// wantWords stand in policies only, beside the values that requests have.
	wantWords = map[string][]string{
		"Ip":  {"10.0.0.0/8", "10.9.9.9/8", "0.0.0.0/0", "::/0", "2001:db8::/32", "10.0.0.0/33", "10.0.0.1/32", "::ffff:10.0.0.0/104"},
		"Arn": {"*", "arn:*:*:*:*:*", "arn:aws:*", "arn:aws:iam::*:role/*", "arn:aws:iam:::role/a"},
	}
)

func (g generator) target() (action, resource string) {
	target := targets[g.IntN(len(targets))]
	if target[0] == "sts:GetCallerIdentity" && g.chance(80) {
		target = targets[0]
	}
	return target[0], target[1]
}

// request makes a request. Keys are named after the operators that suit them.
func (g generator) request() *Request {
	context := NewContext()
	for _, family := range slices.Sorted(maps.Keys(valueWords)) {
		value := func() string { return g.one(valueWords[family]...) }
		switch n := g.IntN(100); {
		case n < 55:
			context.Set("Key"+family, value())
		case n < 75:
			context.Set("Key"+family, g.some(value)...)
		case n < 80:
			context.Set("Key" + family)
		}
	}
	for _, key := range []string{"aws:username", "aws:PrincipalTag/Team", "aws:TagKeys", "idp.example:amr"} {
		if g.chance(60) {
			context.Set(key, g.some(func() string { return g.one("alice", "k", "a", "*", "b/k", "1", "", "x:y") })...)
		}
	}
	action, resource := g.target()
	r := &Request{Principal: callers[g.IntN(len(callers))], Action: action, Resource: resource, ResourceAccountID: account, Context: context}
	if r.Principal.AccountID != "" && g.chance(50) {
		r.ResourceAccountID = r.Principal.AccountID
	}
	return r
}

// near makes a pattern out of a text, which often matches it.
func (g generator) near(text string, context Context) string {
	runes := []rune(text)
	i := g.IntN(len(runes) + 1)
	j := i + g.IntN(len(runes)+1-i)
	before, middle, after := string(runes[:i]), string(runes[i:j]), string(runes[j:])
	switch n := g.IntN(20); {
	case n < 6:
		return text
	case n < 8:
		return before + "*"
	case n < 9:
		return before + strings.Repeat("?", j-i) + after
	case n < 11:
		return before + "*" + after
	case n < 12:
		return strings.ToUpper(text)
	case n < 13:
		return g.one("*", "*:*", "", text+"?", text+"*", text+":*", before, text+"x")
	case n < 14:
		return before + g.one("${*}", "${?}", "${$}", "${KEYSTRING}", "${aws:Username, 'k'}", "${no:Key}") + after
	case n < 17 && !strings.ContainsAny(middle, "'}"):
		return before + g.one("${", "${", "${*}${") + g.one("no:Key", "aws:username", "keyString", "aws:tagkeys") + ", '" + middle + "'}" + after
	}
	for _, key := range slices.Sorted(maps.Keys(context)) {
		if values, _ := context.Get(key); len(values) == 1 && values[0] != "" && strings.Contains(text, values[0]) && g.chance(60) {
			return strings.Replace(text, values[0], "${"+key+g.one("", "", ", 'z'")+"}", 1)
		}
	}
	return text
}

// wants makes a condition's values: a list, or one of them alone, which may be
// a JSON number or boolean.
func (g generator) wants(family string, values []string, context Context) any {
	wants := g.some(func() string {
		switch {
		case len(values) > 0 && g.chance(60):
			return g.near(g.one(values...), context)
		case len(wantWords[family]) > 0 && g.chance(60):
			return g.one(wantWords[family]...)
		}
		return g.one(valueWords[family]...)
	})
	if strings.HasPrefix(family, "Bool") || family == "Numeric" {
		if raw := json.RawMessage(wants[0]); json.Valid(raw) && g.chance(30) {
			return raw
		}
	}
	switch n := g.IntN(100); {
	case n < 50 && len(wants) == 1:
		return wants[0]
	case n > 97:
		return []string{}
	}
	return wants
}

// condition adds an operator with a key or two.
func (g generator) condition(conditions map[string]any, context Context) {
	family := g.one(append(slices.Sorted(maps.Keys(operatorWords)), "String", "String", "Arn")...)
	keys := map[string]any{}
	for range 1 + g.IntN(8)/7 {
		of := family
		if g.chance(5) {
			of = g.one(slices.Sorted(maps.Keys(operatorWords))...)
		}
		key := g.one("Key", "key", "KEY") + of
		values, _ := context.Get(key)
		keys[key] = g.wants(family, values, context)
		if family == "Null" {
			keys[g.one("Key", "key")+g.one("String", "Ip", "Arn", "Null")] = g.one("true", "false", "False", "x")
		}
	}
	name := g.one(operatorWords[family]...)
	if family != "Null" {
		name = g.one("", "", "ForAllValues:", "ForAnyValue:") + name + g.one("", "IfExists")
	}
	conditions[name] = keys
}

func rootOf(caller Principal) string {
	if caller.AccountID == chinese {
		return "arn:aws-cn:iam::" + chinese + ":root"
	}
	return "arn:aws:iam::" + caller.AccountID + ":root"
}

// principals makes a Principal element, mostly the caller's names.
func (g generator) principals(caller Principal) any {
	if g.chance(8) {
		return "*"
	}
	element := map[string][]string{}
	for _, name := range g.some(func() string {
		if g.chance(75) {
			return g.one(caller.ARN, caller.ARN, caller.RoleARN, caller.AccountID, rootOf(caller), "*")
		}
		other := callers[g.IntN(len(callers))]
		return g.one(other.ARN, other.RoleARN, "arn:aws:iam::123456789012:user/*", rootOf(other), other.AccountID, strings.ToUpper(caller.ARN))
	}) {
		kind := "AWS"
		switch {
		case strings.HasSuffix(name, ".amazonaws.com"):
			kind = "Service"
		case name == issuer:
			kind = "Federated"
		}
		if g.chance(4) {
			kind = g.one("AWS", "Service", "Federated")
		}
		if name != "" {
			element[kind] = append(element[kind], name)
		}
	}
	if len(element) == 0 {
		return map[string]string{"AWS": g.one("*", account)}
	}
	return element
}

// statement makes a statement, with a principal for a resource's policy.
func (g generator) statement(kind Kind, r *Request) map[string]any {
	s := map[string]any{"Effect": g.one("Allow", "Allow", "Allow", "Deny")}
	near := func(text string) string {
		if g.chance(30) {
			return "*"
		}
		return g.near(text, r.Context)
	}
	action := func() string {
		return strings.ReplaceAll(near(r.Action), "$", "")
	}
	other := func() string {
		_, resource := g.target()
		return g.near(resource, r.Context)
	}
	if g.chance(85) {
		s["Action"] = g.some(action)
	} else {
		s["NotAction"] = g.one("iam:*", "s3:Put*", action())
	}
	switch n := g.IntN(100); {
	case kind == ResourcePolicy && n < 20:
	case n < 85:
		s["Resource"] = g.some(func() string { return near(r.Resource) })
	default:
		s["NotResource"] = g.some(other)
	}
	if g.chance(55) {
		conditions := map[string]any{}
		for range 1 + g.IntN(4)/3 {
			g.condition(conditions, r.Context)
		}
		s["Condition"] = conditions
	}
	if kind == ResourcePolicy {
		s["Principal"] = g.principals(r.Principal)
		if s["Effect"] == "Deny" && g.chance(40) {
			s["NotPrincipal"] = s["Principal"]
			delete(s, "Principal")
		}
	}
	return s
}

// document makes a policy of some statements.
func (g generator) document(kind Kind, r *Request) *document {
	d := &document{Version: g.one("2012-10-17", "2012-10-17", "2012-10-17", "2008-10-17", "")}
	for len(d.Statement) == 0 || g.chance(35) {
		d.Statement = append(d.Statement, g.statement(kind, r))
	}
	return d
}

// pair makes a request and policies that bear on it.
func (g generator) pair() (world, *Request) {
	r := g.request()
	var w world
	for range g.IntN(3) {
		w.Identity = append(w.Identity, g.document(IdentityPolicy, r))
	}
	for g.chance(15) {
		w.Session = append(w.Session, g.document(SessionPolicy, r))
	}
	if g.chance(25) {
		w.Boundary = g.document(BoundaryPolicy, r)
	}
	if g.chance(75) {
		w.Resource = g.document(ResourcePolicy, r)
	}
	return w, r
}
