package iampolicy

import (
	"fmt"
	"slices"
	"testing"
)

// allows asks the evaluator about a policy alone.
func allows(p *Policy, r *Request) bool {
	return Evaluate(r, &Policies{Identity: []*Policy{p}}).Allowed()
}

// read parses a document, which may have mistakes that leave a policy.
func read(t *testing.T, d *document) *Policy {
	t.Helper()
	p, _ := Parse([]byte(d.text())) // a statement with a mistake never applies
	if p == nil {
		t.Fatalf("%s is no policy", d.text())
	}
	return p
}

// checkContains says what Contains answered, and fails if a request shows that it is wrong.
func checkContains(t *testing.T, seed, more uint64) Answer {
	t.Helper()
	g := newSmall(seed, more)
	inner := g.document()
	outer := g.near(inner)
	if g.chance(10) {
		outer = g.document()
	}
	o, i := read(t, outer), read(t, inner)
	got := Contains(o, i)
	if got.Answer != Yes {
		if got.Reason == "" || got.Statement < 0 && o.Unclear() == nil {
			t.Fatalf("Contains() = %+v without a reason", got)
		}
		return got.Answer
	}
	for range 40 {
		if r := g.request(inner, outer); allows(i, r) && !allows(o, r) {
			t.Fatalf("Contains() = yes, yet the inner policy alone allows %s on %s with %v\nouter %s\ninner %s", r.Action, r.Resource, r.Context, outer.text(), inner.text())
		}
	}
	return got.Answer
}

// checkMayAllow says what MayAllow answered, and fails if a request shows that it is wrong.
func checkMayAllow(t *testing.T, seed, more uint64) bool {
	t.Helper()
	g := newSmall(seed, more)
	d := g.document()
	p := read(t, d)
	action, resource := g.action(), g.resource()
	asked := &document{Version: oldVersion, Statement: []map[string]any{{"Effect": "Allow", "Action": []string{action}, "Resource": []string{resource}}}}
	if g.chance(60) {
		action, resource = nearTarget(g, d)
		asked.Statement[0]["Action"], asked.Statement[0]["Resource"] = []string{action}, []string{resource}
	}
	may, why := MayAllow(p, action, resource)
	if may {
		if why == "" {
			t.Fatal("no reason")
		}
		return true
	}
	target := read(t, asked)
	for range 40 {
		if r := g.request(d, asked); allows(p, r) && allows(target, r) {
			t.Fatalf("MayAllow(%q, %q) is false, yet the policy allows %s on %s with %v\n%s", action, resource, r.Action, r.Resource, r.Context, d.text())
		}
	}
	return false
}

// nearTarget is an action and a resource like those of a statement.
func nearTarget(g small, d *document) (action, resource string) {
	s := d.Statement[g.IntN(len(d.Statement))]
	action, resource = g.action(), g.resource()
	if texts, ok := s["Action"].([]string); ok {
		action = g.altered(texts[0])
	}
	if texts, ok := s["Resource"].([]string); ok {
		resource = g.altered(texts[0])
	}
	return action, resource
}

func FuzzContains(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed, uint64(0))
	}
	f.Fuzz(func(t *testing.T, seed, more uint64) { checkContains(t, seed, more) })
}

func FuzzMayAllow(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed, uint64(0))
	}
	f.Fuzz(func(t *testing.T, seed, more uint64) { checkMayAllow(t, seed, more) })
}

func TestTheFuzzSeesAllAnswers(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(5000) {
		counts[string(checkContains(t, seed, 1))]++
		counts[fmt.Sprint("may ", checkMayAllow(t, seed, 1))]++
	}
	t.Log(counts)
	for _, answer := range []string{string(Yes), string(No), string(Undecidable), "may true", "may false"} {
		if counts[answer] < 125 {
			t.Errorf("%s was the answer only %d times", answer, counts[answer])
		}
	}
}

// Where outer is inner with Allows added and nothing taken away, the answer is Yes:
// whatever else stands in it must not make it unsure, but for conditions of no known meaning.
func TestAWiderPolicyIsSeenToContain(t *testing.T) {
	yes, unclear, all := 0, 0, 2000
	for seed := range uint64(all) {
		g := newSmall(seed, 2)
		inner := g.document()
		outer := &document{Version: inner.Version, Statement: slices.Clone(inner.Statement)}
		for range 1 + g.IntN(4) {
			more := g.statement()
			more["Effect"] = "Allow"
			outer.Statement = append(outer.Statement, more)
		}
		g.Shuffle(len(outer.Statement), func(i, k int) {
			outer.Statement[i], outer.Statement[k] = outer.Statement[k], outer.Statement[i]
		})
		answer := Contains(read(t, outer), read(t, inner)).Answer
		if read(t, outer).Unclear() != nil {
			unclear++
			if answer != Undecidable {
				t.Errorf("Contains() is %s with conditions whose meaning AWS does not state\n%s", answer, outer.text())
			}
			continue
		}
		if answer == Yes {
			yes++
		}
	}
	t.Logf("yes %d of %d, of which %d are unclear", yes, all, unclear)
	if all -= unclear; yes < all*98/100 || unclear == 0 || unclear > 200 {
		t.Errorf("Contains() is yes for %d of %d wider policies", yes, all)
	}
}
