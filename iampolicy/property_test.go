package iampolicy

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// generator makes random policies and requests out of few words, so that they
// often meet.
type generator struct{ *rand.Rand }

// newGenerator always makes the same sequence.
func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 7))} }

func (g generator) one(words ...string) string { return words[g.IntN(len(words))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g generator) some(words ...string) []string {
	out := []string{g.one(words...)}
	for g.chance(30) {
		out = append(out, g.one(words...))
	}
	return out
}

var (
	callers = []string{alice, bob, session, rootARN, issuer, "anonymous", "logs.amazonaws.com", "arn:aws:iam::111122223333:root",
		"arn:aws:sts::111122223333:assumed-role/app/s1"}
	principalWords = []string{"*", alice, bob, session, rootARN, account, "111122223333", "arn:aws:iam::123456789012:role/app",
		"arn:aws:iam::111122223333:role/app", "arn:aws:sts::111122223333:assumed-role/app/s1"}
	actionWords   = []string{"*", "s3:*", "s3:GetObject", "S3:getobject", "s3:Get?bject", "iam:*", "s3:Put*"}
	resourceWords = []string{"*", "arn:aws:s3:::b/*", "arn:aws:s3:::b/k", "arn:aws:s3:::b/${v}", "arn:aws:s3:::b/${w, 'k'}", "arn:aws:s3:::?/*", "arn:aws:*:::b/k",
		"arn:aws:s3:::b/${*}"}
	values = map[string][]string{
		"String":  {"a", "A", "ab", "a*", "?b", "${v}", "${w, 'a'}", "${v}*", "a${*}", ""},
		"Numeric": {"1", "1.0", "2", "-1", "-1.5", "x", "10"},
		"Date":    {"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "1767225600", "x"},
		"Bool":    {"true", "false", "TRUE"},
		"Binary":  {"AQ==", "AQI=", "!"},
		"Ip":      {"10.0.0.0/8", "10.0.0.1", "::/0", "2001:db8::/32", "x"},
		"Arn":     {"arn:aws:iam::1:role/a", "arn:aws:iam::*:role/*", "arn:aws:*:role/a", "arn:aws:iam::1:role/${v}", "x"},
		"Null":    {"true", "false"},
	}
	present = map[string][]string{
		"String": {"a", "A", "ab", "a*", "b", ""}, "Numeric": {"1", "1.00", "-2", "3", "y"}, "Date": {"2026-01-01T00:00:00Z", "1767225600", "y"},
		"Bool": {"true", "False"}, "Binary": {"AQ==", "AQI=", "?"}, "Ip": {"10.0.0.1", "192.0.2.1", "2001:db8::1", "y"},
		"Arn": {"arn:aws:iam::1:role/a", "arn:aws:iam::2:role/a:b", "y"}, "Null": {"x"},
	}
)

// families returns the operators' families in a fixed order.
func families() []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// condition makes one operator with one key.
func (g generator) condition() map[string]map[string][]string {
	names := make([]string, 0, len(operators))
	for name := range operators {
		names = append(names, name)
	}
	slices.Sort(names)
	name := g.one(names...)
	family := ""
	for _, f := range families() {
		if strings.HasPrefix(strings.TrimPrefix(name, "Not"), f) {
			family = f
		}
	}
	key := "k" + family
	if name != "Null" {
		name = g.one("", "", "ForAllValues:", "ForAnyValue:") + name + g.one("", "IfExists")
	}
	return map[string]map[string][]string{name: {key: g.some(values[family]...)}}
}

// statement makes a statement, with a principal for a resource's policy.
func (g generator) statement(resource bool) map[string]any {
	s := map[string]any{"Effect": g.one("Allow", "Allow", "Allow", "Deny")}
	s[g.one("Action", "Action", "Action", "NotAction")] = g.some(actionWords...)
	s[g.one("Resource", "Resource", "Resource", "NotResource")] = g.some(resourceWords...)
	if g.chance(60) {
		s["Condition"] = g.condition()
	}
	if resource {
		list := map[string][]string{"AWS": g.some(principalWords...)}
		if g.chance(30) {
			list["Federated"], list["Service"] = []string{issuer}, []string{"logs.amazonaws.com"}
		}
		s[g.one("Principal", "Principal", "Principal", "NotPrincipal")] = list
	}
	return s
}

// policy makes a document of some statements.
func (g generator) policy(resource bool) string {
	statements := []map[string]any{g.statement(resource)}
	for g.chance(50) {
		statements = append(statements, g.statement(resource))
	}
	return documentOf(g.one("2012-10-17", "2012-10-17", "2008-10-17"), statements)
}

// documentOf writes a policy.
func documentOf(version string, statements []map[string]any) string {
	raw, err := json.Marshal(map[string]any{"Version": version, "Statement": statements})
	if err != nil {
		panic(err) // the generator makes strings and lists only
	}
	return string(raw)
}

// request makes a request.
func (g generator) request() *Request {
	context := NewContext()
	for _, family := range families() {
		if g.chance(80) {
			context.Set("K"+family, g.some(present[family]...)...)
		}
	}
	if g.chance(70) {
		context.Set("V", g.some("a", "k", "*")...)
	}
	return &Request{Principal: principalOf(g.one(callers...)), Action: g.one("s3:GetObject", "s3:PutObject", "iam:GetRole"),
		Resource: g.one("arn:aws:s3:::b/k", "arn:aws:s3:::b/a", "arn:aws:s3:::b/x/y", "*"), ResourceAccountID: account, Context: context}
}

// world is a set of documents, empty for none.
type world struct{ identity, boundary, session, resource string }

// world makes documents.
func (g generator) world() world {
	w := world{identity: g.policy(false)}
	if g.chance(30) {
		w.boundary = g.policy(false)
	}
	if g.chance(30) {
		w.session = g.policy(false)
	}
	if g.chance(70) {
		w.resource = g.policy(true)
	}
	return w
}

// policies parses the documents.
func (w world) policies(t *testing.T) *Policies {
	t.Helper()
	p := &Policies{Identity: []*Policy{mustParse(t, w.identity)}}
	if w.boundary != "" {
		p.Boundary = mustParse(t, w.boundary)
	}
	if w.session != "" {
		p.Session = []*Policy{mustParse(t, w.session)}
	}
	if w.resource != "" {
		p.Resource = mustParse(t, w.resource)
	}
	return p
}

func TestEvaluateAgreesWithTheNaiveEvaluator(t *testing.T) {
	g := newGenerator(1)
	seen := map[Effect]int{}
	for range 6_000 {
		w, r := g.world(), g.request()
		got := Evaluate(r, w.policies(t)).Effect
		want := naiveDecide(r, naiveParse(t, w.identity), naiveParse(t, w.boundary), naiveParse(t, w.session), naiveParse(t, w.resource))
		if got != want {
			t.Fatalf("Evaluate() = %s, naively %s\nrequest %+v\npolicies %+v", got, want, r, w)
		}
		seen[got]++
	}
	for _, effect := range []Effect{Allow, ImplicitDeny, ExplicitDeny} {
		if seen[effect] < 300 {
			t.Errorf("%d of 6000 decisions are %s: the test says little of it", seen[effect], effect)
		}
	}
}

func TestAddingADenyNeverAllowsMore(t *testing.T) {
	g := newGenerator(2)
	for range 2000 {
		w, r := g.world(), g.request()
		before := w.policies(t)
		before.RestrictPublicBuckets = g.chance(30)
		kind := g.one("identity", "boundary", "session", "resource")
		deny := g.statement(kind == "resource")
		deny["Effect"] = "Deny"
		after := before.with(kind, mustParse(t, documentOf(newVersion, []map[string]any{deny})).statements[0])
		if Evaluate(r, after).Allowed() && !Evaluate(r, before).Allowed() {
			t.Fatalf("a Deny allowed a request\nrequest %+v\npolicies %+v\ndeny %v", r, w, deny)
		}
	}
}

// with adds a statement to the policies of one kind, if there are any.
func (p *Policies) with(kind string, added statement) *Policies {
	return p.changed(kind, func(all []statement) []statement { return append(slices.Clone(all), added) })
}

// changed changes the statements of the first policy of one kind, if there is
// one.
func (p *Policies) changed(kind string, change func([]statement) []statement) *Policies {
	after := *p
	changed := func(policy *Policy) *Policy {
		if policy == nil {
			return nil
		}
		return &Policy{version: policy.version, statements: change(policy.statements)}
	}
	switch {
	case kind == "identity":
		after.Identity = []*Policy{changed(p.Identity[0])}
	case kind == "boundary":
		after.Boundary = changed(p.Boundary)
	case kind == "resource":
		after.Resource = changed(p.Resource)
	case len(p.Session) > 0:
		after.Session = []*Policy{changed(p.Session[0])}
	}
	return &after
}

// RestrictPublicBuckets is left out here: a policy that loses its public
// statement is no longer public, and its other grants count again.
func TestRemovingAnAllowNeverAllowsMore(t *testing.T) {
	g := newGenerator(6)
	removed := 0
	for range 4000 {
		w, r := g.world(), g.request()
		before := w.policies(t)
		kind := g.one("identity", "boundary", "session", "resource")
		after := before.changed(kind, func(all []statement) []statement {
			for i := range all {
				if !all[i].deny {
					removed++
					return slices.Concat(all[:i], all[i+1:])
				}
			}
			return all
		})
		if Evaluate(r, after).Allowed() && !Evaluate(r, before).Allowed() {
			t.Fatalf("without an Allow of the %s policy a request is allowed\nrequest %+v\npolicies %+v", kind, r, w)
		}
	}
	if removed < 1000 {
		t.Errorf("only %d statements were removed: the test says little", removed)
	}
}

func TestADenyWithNotPrincipalHitsWhoeverHasABoundary(t *testing.T) {
	g := newGenerator(8)
	for range 1000 {
		w, r := g.world(), g.request()
		w.boundary = g.policy(false)
		deny := map[string]any{"Effect": "Deny", "Action": "*", "Resource": "*", "NotPrincipal": map[string]any{"AWS": g.some(principalWords...)}}
		w.resource = documentOf(newVersion, []map[string]any{deny, g.statement(true)})
		if got := Evaluate(r, w.policies(t)); got.Effect != ExplicitDeny {
			t.Fatalf("%+v in spite of NotPrincipal and a boundary\nrequest %+v\npolicies %+v", got, r, w)
		}
	}
}

func TestTheOrderOfStatementsChangesNothing(t *testing.T) {
	g := newGenerator(3)
	for range 2000 {
		r := g.request()
		version := g.one(oldVersion, newVersion)
		identity := []map[string]any{g.statement(false), g.statement(false), g.statement(false)}
		resource := []map[string]any{g.statement(true), g.statement(true), g.statement(true)}
		decide := func() Effect {
			return Evaluate(r, world{identity: documentOf(version, identity), resource: documentOf(version, resource)}.policies(t)).Effect
		}
		before := decide()
		slices.Reverse(identity)
		g.Shuffle(len(resource), func(i, j int) { resource[i], resource[j] = resource[j], resource[i] })
		if after := decide(); after != before {
			t.Fatalf("%s became %s\nrequest %+v\nidentity %v\nresource %v", before, after, r, identity, resource)
		}
	}
}

func TestABoundaryAndASessionPolicyNeverAdd(t *testing.T) {
	g := newGenerator(4)
	for range 2000 {
		w, r := g.world(), g.request()
		w.boundary, w.session = "", ""
		free := Evaluate(r, w.policies(t))
		w.boundary = g.policy(false)
		bounded := Evaluate(r, w.policies(t))
		w.boundary, w.session = "", g.policy(false)
		scoped := Evaluate(r, w.policies(t))
		if !free.Allowed() && (bounded.Allowed() || scoped.Allowed()) {
			t.Fatalf("a limit allowed a request: %+v, bounded %+v, scoped %+v\nrequest %+v\npolicies %+v", free, bounded, scoped, r, w)
		}
	}
}
