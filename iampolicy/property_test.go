package iampolicy

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
)

// documents are the policies that bear on a request as JSON; "" for none.
type documents struct {
	Identity, Session  []string
	Boundary, Resource string
	Restricted         bool // the resource policy is public and RestrictPublicBuckets is on
}

func TestTheNaiveEvaluatorDecidesTheCaseTable(t *testing.T) {
	for _, c := range readCases(t) {
		request, _ := c.build(t)
		// The table's only bucket policies with the switch on are public.
		world := documents{Boundary: string(c.Boundary), Resource: string(c.ResourcePolicy), Restricted: c.RestrictPublic}
		for _, document := range c.IdentityPolicies {
			world.Identity = append(world.Identity, string(document))
		}
		if c.SessionPolicy != nil {
			world.Session = []string{string(c.SessionPolicy)}
		}
		if got := naiveDecide(request, world); got != c.Expect {
			t.Errorf("%s %s: naiveDecide() = %s, want %s", c.ID, c.Title, got, c.Expect)
		}
	}
}

var (
	pairs = flag.Int("pairs", 20_000, "how many pairs of policies and requests the two evaluators decide")
	seed  = flag.Uint64("seed", 1, "the seed of these pairs")
)

// TestEvaluateAgreesWithTheNaiveEvaluator compares the evaluators; a million
// pairs are decided by
//
//	go test -run TheNaiveEvaluator . -pairs 1000000 -seed 2
func TestEvaluateAgreesWithTheNaiveEvaluator(t *testing.T) {
	g := newGenerator(*seed)
	seen := map[Effect]int{}
	for range *pairs {
		w, r := g.pair()
		got, want := Evaluate(r, w.policies(t)).Effect, naiveDecide(r, w.documents())
		if got != want {
			w, r = shrink(t, w, r)
			t.Fatalf("Evaluate() = %s, naively %s for\n%s", Evaluate(r, w.policies(t)).Effect, naiveDecide(r, w.documents()), describe(w, r))
		}
		seen[got]++
	}
	for _, effect := range []Effect{Allow, ImplicitDeny, ExplicitDeny} {
		share := 100 * seen[effect] / *pairs
		t.Logf("%d%% %s", share, effect)
		if share < 5 {
			t.Errorf("%d%% of the decisions are %s: the test says little of it", share, effect)
		}
	}
}

// scenario is what two evaluators decide, as it is written in a failure.
type scenario struct {
	Request *Request
	world
}

func describe(w world, r *Request) string {
	raw, err := json.Marshal(scenario{r, w})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// readScenario reads what describe wrote.
func readScenario(text []byte) (world, *Request, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var s scenario
	err := decoder.Decode(&s)
	return s.world, s.Request, err
}

// disagreements are scenarios that the two evaluators once decided differently,
// with the decision that both came to.
var disagreements = []struct {
	name, scenario string
	want           Effect
}{
	{"a root user of another account needs no policies of its own", `{
		"Request": {"Principal": {"Kind": 3, "ARN": "arn:aws:iam::111122223333:root", "AccountID": "111122223333"},
			"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/k", "ResourceAccountID": "123456789012"},
		"Resource": {"Statement": [{"Effect": "Allow", "Principal": {"AWS": "111122223333"}, "Action": "s3:*", "Resource": "*"}]}}`, Allow},
	{"a session policy does not limit a root user", `{
		"Request": {"Principal": {"Kind": 3, "ARN": "arn:aws:iam::123456789012:root", "AccountID": "123456789012"},
			"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/k", "ResourceAccountID": "123456789012"},
		"Session": [{"Statement": [{"Effect": "Deny", "Action": "s3:*", "Resource": "*"}]}]}`, Allow},
	{"a root user assumes no role that does not trust it", `{
		"Request": {"Principal": {"Kind": 3, "ARN": "arn:aws:iam::123456789012:root", "AccountID": "123456789012"},
			"Action": "sts:AssumeRole", "Resource": "arn:aws:iam::123456789012:role/app", "ResourceAccountID": "123456789012"}}`, ImplicitDeny},
	{"NotPrincipal spares the root user that it lists", `{
		"Request": {"Principal": {"Kind": 3, "ARN": "arn:aws:iam::123456789012:root", "AccountID": "123456789012"},
			"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/k", "ResourceAccountID": "123456789012"},
		"Resource": {"Statement": [{"Effect": "Deny", "NotPrincipal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "s3:*", "Resource": "*"}]}}`, Allow},
	{"session tags need the role's trust policy", `{
		"Request": {"Principal": {"Kind": 1, "ARN": "arn:aws:iam::123456789012:user/alice", "AccountID": "123456789012"},
			"Action": "sts:TagSession", "Resource": "arn:aws:iam::123456789012:role/app", "ResourceAccountID": "123456789012"},
		"Identity": [{"Statement": [{"Effect": "Allow", "Action": "sts:*", "Resource": "*"}]}]}`, ImplicitDeny},
	{"a Deny for everybody means federated callers too", `{
		"Request": {"Principal": {"Kind": 5, "ARN": "arn:aws:iam::123456789012:oidc-provider/idp.example", "AccountID": "123456789012"},
			"Action": "sts:AssumeRoleWithWebIdentity", "Resource": "arn:aws:iam::123456789012:role/app", "ResourceAccountID": "123456789012"},
		"Resource": {"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "sts:*"}]}}`, ExplicitDeny},
	{"who signs nothing cannot ask who it is", `{
		"Request": {"Action": "sts:GetCallerIdentity", "Resource": "*", "ResourceAccountID": "123456789012"}}`, ImplicitDeny},
	{"a bucket policy's statement needs a Resource", `{
		"Request": {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/k", "ResourceAccountID": "123456789012"},
		"Resource": {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:*"}]}}`, ImplicitDeny},
	{"a colon of a variable's value does not part a resource's segments", `{
		"Request": {"Principal": {"Kind": 1, "ARN": "arn:aws:iam::123456789012:user/alice", "AccountID": "123456789012"},
			"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/k", "ResourceAccountID": "123456789012", "Context": {"k": ["aws:s3"]}},
		"Identity": [{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "arn:${k}:::b/*"}]}]}`, ImplicitDeny},
	{"an account of another partition is another account", `{
		"Request": {"Principal": {"Kind": 1, "ARN": "arn:aws-cn:iam::123456789012:user/alice", "AccountID": "123456789012"},
			"Action": "sts:AssumeRole", "Resource": "arn:aws-cn:iam::123456789012:role/app", "ResourceAccountID": "123456789012"},
		"Identity": [{"Statement": [{"Effect": "Allow", "Action": "sts:*", "Resource": "*"}]}],
		"Resource": {"Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}]}}`, ImplicitDeny},
	{"a pattern of few segments ends in a star as it is written", `{
		"Request": {"Principal": {"Kind": 1, "ARN": "arn:aws:iam::123456789012:user/alice", "AccountID": "123456789012"},
			"Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/k", "ResourceAccountID": "123456789012", "Context": {"k": [""]}},
		"Identity": [{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:*${k}"}]}]}`, ImplicitDeny},
}

func TestTheDisagreementsAreSettled(t *testing.T) {
	for _, test := range disagreements {
		t.Run(test.name, func(t *testing.T) {
			w, r, err := readScenario([]byte(test.scenario))
			if err != nil {
				t.Fatal(err)
			}
			if got := Evaluate(r, w.policies(t)).Effect; got != test.want {
				t.Errorf("Evaluate() = %s, want %s", got, test.want)
			}
			if got := naiveDecide(r, w.documents()); got != test.want {
				t.Errorf("naiveDecide() = %s, want %s", got, test.want)
			}
		})
	}
}

func disagree(t *testing.T, w world, r *Request) bool {
	t.Helper()
	return Evaluate(r, w.policies(t)).Effect != naiveDecide(r, w.documents())
}

// shrink drops every part of the policies and the context without which the
// evaluators still disagree.
func shrink(t *testing.T, w world, r *Request) (world, *Request) {
	t.Helper()
	for smaller := true; smaller; {
		smaller = false
		var whole any
		decoder := json.NewDecoder(strings.NewReader(describe(w, r)))
		decoder.UseNumber()
		if err := decoder.Decode(&whole); err != nil {
			t.Fatal(err)
		}
		for _, candidate := range withoutOne(whole) {
			raw, err := json.Marshal(candidate)
			if err != nil {
				t.Fatal(err)
			}
			lessW, lessR, err := readScenario(raw)
			if err != nil || lessR == nil {
				continue
			}
			lessR = &Request{Principal: r.Principal, Action: r.Action, Resource: r.Resource, ResourceAccountID: r.ResourceAccountID, Context: lessR.Context}
			less := describe(lessW, lessR)
			_, err = lessW.parse()
			if err == nil && len(less) < len(describe(w, r)) && !strings.Contains(less, `"Statement":null`) && disagree(t, lessW, lessR) {
				w, r, smaller = lessW, lessR, true
				break
			}
		}
	}
	return w, r
}

// withoutOne returns copies of a JSON value that each lack one member or
// element, however deep; the only one there is stays.
func withoutOne(value any) []any {
	var out []any
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			less := maps.Clone(value)
			if delete(less, key); len(less) > 0 {
				out = append(out, less)
			}
			for _, inner := range withoutOne(value[key]) {
				less := maps.Clone(value)
				less[key] = inner
				out = append(out, less)
			}
		}
	case []any:
		for i := range value {
			if less := slices.Delete(slices.Clone(value), i, i+1); len(less) > 0 {
				out = append(out, less)
			}
			for _, inner := range withoutOne(value[i]) {
				less := slices.Clone(value)
				less[i] = inner
				out = append(out, less)
			}
		}
	}
	return out
}

// all are the documents that a world has.
func (w world) all() []*document {
	return slices.DeleteFunc(slices.Concat(w.Identity, w.Session, []*document{w.Boundary, w.Resource}),
		func(d *document) bool { return d == nil })
}

// eachChange compares the decisions on random worlds before and after a change
// to their policies.
func eachChange(t *testing.T, seed uint64, change func(generator, *world, *Request), sound func(before, after Effect) bool) {
	t.Helper()
	const tried = 3000
	g := newGenerator(seed)
	changed := 0
	for range tried {
		w, r := g.pair()
		next, _, err := readScenario([]byte(describe(w, r)))
		if err != nil {
			t.Fatal(err)
		}
		change(g, &next, r)
		before, after := Evaluate(r, w.policies(t)).Effect, Evaluate(r, next.policies(t)).Effect
		if !sound(before, after) {
			t.Fatalf("%s became %s\nbefore %s\nafter %s", before, after, describe(w, r), next)
		}
		if w.String() != next.String() {
			changed++
		}
	}
	if changed < tried/3 {
		t.Errorf("only %d of %d worlds changed: the test says little", changed, tried)
	}
}

func allowsNoMore(before, after Effect) bool { return before == Allow || after != Allow }

func same(before, after Effect) bool { return before == after }

func TestAddingADenyNeverAllowsMore(t *testing.T) {
	eachChange(t, 21, func(g generator, w *world, r *Request) {
		if len(w.all()) == 0 {
			return
		}
		d, kind := w.all()[g.IntN(len(w.all()))], IdentityPolicy
		if d == w.Resource {
			kind = ResourcePolicy
		}
		deny := g.statement(kind, r)
		deny["Effect"] = "Deny"
		d.Statement = append(d.Statement, deny)
	}, allowsNoMore)
}

func TestRemovingAnAllowNeverAllowsMore(t *testing.T) {
	eachChange(t, 22, func(g generator, w *world, _ *Request) {
		for _, d := range w.all() {
			isAllow := func(s map[string]any) bool { return s["Effect"] == "Allow" }
			if i := slices.IndexFunc(d.Statement, isAllow); i >= 0 && len(d.Statement) > 1 && g.chance(80) {
				d.Statement = slices.Delete(d.Statement, i, i+1)
			}
		}
		if len(w.Identity) > 0 && g.chance(40) {
			w.Identity = slices.DeleteFunc(w.Identity, func(d *document) bool {
				return len(d.Statement) == 1 && d.Statement[0]["Effect"] == "Allow"
			})
		}
	}, allowsNoMore)
}

func TestTheOrderOfStatementsChangesNothing(t *testing.T) {
	eachChange(t, 23, func(g generator, w *world, _ *Request) {
		for _, d := range append(w.all(), w.all()...) {
			g.Shuffle(len(d.Statement), func(i, j int) { d.Statement[i], d.Statement[j] = d.Statement[j], d.Statement[i] })
		}
		slices.Reverse(w.Identity)
		slices.Reverse(w.Session)
	}, same)
}

func TestSplittingAPolicyChangesNothing(t *testing.T) {
	split := func(all []*document) (out []*document) {
		for _, d := range all {
			for _, s := range d.Statement {
				out = append(out, &document{Version: d.Version, Statement: []map[string]any{s}})
			}
		}
		return out
	}
	eachChange(t, 24, func(_ generator, w *world, _ *Request) {
		w.Identity, w.Session = split(w.Identity), split(w.Session)
	}, same)
}

func TestABoundaryNeverAdds(t *testing.T) {
	eachChange(t, 25, func(g generator, w *world, r *Request) {
		if w.Boundary == nil {
			w.Boundary = g.document(BoundaryPolicy, r)
		}
	}, allowsNoMore)
}

func TestASessionPolicyNeverAdds(t *testing.T) {
	eachChange(t, 26, func(g generator, w *world, r *Request) {
		if w.Session == nil {
			w.Session = []*document{g.document(SessionPolicy, r)}
		}
	}, allowsNoMore)
}

func TestADenyWithNotPrincipalHitsWhoeverHasABoundary(t *testing.T) {
	g := newGenerator(27)
	for range 1000 {
		w, r := g.pair()
		deny := map[string]any{"Effect": "Deny", "Action": "*", "Resource": "*", "NotPrincipal": g.principals(r.Principal)}
		w.Boundary = g.document(BoundaryPolicy, r)
		w.Resource = &document{Version: newVersion, Statement: []map[string]any{deny, g.statement(ResourcePolicy, r)}}
		if got := Evaluate(r, w.policies(t)); got.Effect != ExplicitDeny && !isExempt(r) {
			t.Fatalf("%+v in spite of NotPrincipal and a boundary: %s", got, describe(w, r))
		}
	}
}
