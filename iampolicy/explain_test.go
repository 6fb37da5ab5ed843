package iampolicy

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestExplainAgreesWithEvaluate(t *testing.T) {
	g := newGenerator(5)
	certain := map[Certainty]int{}
	for range 6000 {
		w, r := g.pair()
		p := w.policies(t)
		e := Explain(r, p)
		if want := Evaluate(r, p); e.Decision != want {
			t.Fatalf("Explain() = %+v, Evaluate() = %+v\nrequest %+v\npolicies %+v", e.Decision, want, r, w)
		}
		checkReasons(t, e)
		certain[e.Certainty]++
	}
	if certain[Documented] < 1000 || certain[Assumed] < 100 {
		t.Errorf("%v: the test says little of one of them", certain)
	}
}

// checkReasons looks for contradictions within an explanation.
func checkReasons(t *testing.T, e Explanation) {
	t.Helper()
	decided := 0
	for i, reason := range e.Statements {
		if reason.Applied != (len(reason.Failures) == 0) {
			t.Fatalf("statement applied: %v, with failures %+v", reason.Applied, reason.Failures)
		}
		if !reason.Applied {
			continue
		}
		if i > 0 && !e.Statements[i-1].Applied {
			t.Fatalf("a statement that applied stands behind one that did not: %+v", e.Statements)
		}
		if reason.Effect == "Deny" && e.Decision.Effect != ExplicitDeny && reason.Kind == ResourcePolicy {
			t.Fatalf("%s, though a Deny of the resource applied", e.Decision.Effect)
		}
		if reason.Decided {
			decided++
			if i != 0 || reason.Kind != e.Decision.Kind || reason.Sid != e.Decision.Sid {
				t.Fatalf("statement %d %+v is said to decide %+v", i, reason, e.Decision)
			}
		}
	}
	if e.Decision.Effect == ExplicitDeny && decided != 1 || e.Decision.Effect == ImplicitDeny && decided != 0 {
		t.Fatalf("%d statements decided %+v", decided, e.Decision)
	}
}

func TestOnlyOpenRowsOfTheCaseTableAreAssumed(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.ID+" "+c.Title, func(t *testing.T) {
			request, policies := c.build(t)
			e := Explain(request, policies)
			if e.Decision.Effect != c.Expect {
				t.Errorf("Explain() = %+v, want %s", e.Decision, c.Expect)
			}
			want := Documented
			if c.Open {
				want = Assumed
			}
			if e.Certainty != want {
				t.Errorf("certainty is %s for %v, want %s", e.Certainty, e.Questions, want)
			}
		})
	}
}

func TestExplainSaysWhatFailed(t *testing.T) {
	const get = `"Action":"s3:GetObject","Resource":"arn:aws:s3:::app-data/*"`
	for name, test := range map[string]struct {
		identity, resource string
		want               Failure
	}{
		"another action": {statementOf("A", "Allow", `"Action":["s3:Put*","s3:List*"],"Resource":"*"`), "",
			Failure{Element: "Action", Observed: []string{"s3:GetObject"}, Required: []string{"s3:Put*", "s3:List*"}}},
		"an action that is taken out": {statementOf("A", "Allow", `"NotAction":"s3:*","Resource":"*"`), "",
			Failure{Element: "NotAction", Observed: []string{"s3:GetObject"}, Required: []string{"s3:*"}}},
		"no action": {statementOf("A", "Allow", `"Resource":"*"`), "",
			Failure{Element: "Action", Observed: []string{"s3:GetObject"}, Required: []string{}, Note: "the statement has no Action"}},
		"another resource, variables filled in": {statementOf("A", "Allow", `"Action":"*","Resource":"arn:aws:s3:::${k:s}/*"`), "",
			Failure{Element: "Resource", Observed: []string{object}, Required: []string{"arn:aws:s3:::home/*"}}},
		"a resource with a variable that is missing": {statementOf("A", "Allow", `"Action":"*","Resource":"arn:aws:s3:::${k:Other}/*"`), "",
			Failure{Element: "Resource", Observed: []string{object}, Required: []string{"arn:aws:s3:::${k:Other}/*"}, Missing: []string{"k:Other"}}},
		"a condition with another value": {statementOf("A", "Allow", get+`,"Condition":{"StringEqualsIfExists":{"K:S":["a","${k:s}s"]}}`), "",
			Failure{Element: "Condition", Operator: "StringEqualsIfExists", Key: "K:S", Observed: []string{"home"}, Required: []string{"a", "homes"}}},
		"a condition whose key is missing": {statementOf("A", "Allow", get+`,"Condition":{"ForAnyValue:StringLike":{"k:None":"a*"}}`), "",
			Failure{Element: "Condition", Operator: "ForAnyValue:StringLike", Key: "k:None", Required: []string{"a*"}, Missing: []string{"k:None"}}},
		"a range of addresses": {statementOf("A", "Allow", get+`,"Condition":{"NotIpAddress":{"k:ip":"10.0.0.0/8"}}`), "",
			Failure{Element: "Condition", Operator: "NotIpAddress", Key: "k:ip", Observed: []string{"10.1.2.3"}, Required: []string{"10.0.0.0/8"}}},
		"another principal": {"", statementOf("A", "Allow", get+`,"Principal":{"AWS":"`+bob+`","Service":"a.b"}`),
			Failure{Element: "Principal", Observed: []string{alice}, Required: []string{"AWS:" + bob, "Service:a.b"}}},
		"a principal that is spared": {"", statementOf("A", "Deny", get+`,"NotPrincipal":{"AWS":"`+alice+`"}`),
			Failure{Element: "NotPrincipal", Observed: []string{alice}, Required: []string{"AWS:" + alice}}},
		"a principal where none belongs": {statementOf("A", "Allow", get+`,"Principal":"*"`), "",
			Failure{Element: "Principal", Observed: []string{alice}, Required: []string{"*"}, Note: "a policy that belongs to a principal names none; such a statement never applies"}},
		"a bucket policy without a principal": {"", statementOf("A", "Allow", get),
			Failure{Element: "Principal", Observed: []string{alice}, Note: "the statement has no Principal"}},
	} {
		t.Run(name, func(t *testing.T) {
			request := &Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account,
				Context: contextOf("k:s", "home", "k:ip", "10.1.2.3")}
			policies := &Policies{}
			if test.identity != "" {
				policies.Identity = []*Policy{mustParse(t, test.identity)}
			}
			if test.resource != "" {
				policies.Resource = mustParse(t, test.resource)
			}
			e := Explain(request, policies)
			if len(e.Statements) != 1 || len(e.Statements[0].Failures) != 1 {
				t.Fatalf("Explain() = %+v, want one failure", e)
			}
			if got := e.Statements[0].Failures[0]; !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			if !slices.Equal(e.Missing, test.want.Missing) {
				t.Errorf("missing %v, want %v", e.Missing, test.want.Missing)
			}
		})
	}
}

func TestExplainPutsTheClosestFirst(t *testing.T) {
	policy := mustParse(t, `{"Version":"2012-10-17","Statement":[
		{"Sid":"Action","Effect":"Allow","Action":"iam:*","Resource":"*"},
		{"Sid":"Resource","Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::other/*"},
		{"Sid":"Conditions","Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"k:a":"1","k:b":"2"}}},
		{"Sid":"Condition","Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringEquals":{"k:c":"1"}}},
		{"Sid":"Fits","Effect":"Allow","Action":"*","Resource":"*"},
		{"Sid":"Decides","Effect":"Deny","Action":"*","Resource":"*"}]}`)
	e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account},
		&Policies{Identity: []*Policy{nil, policy}})
	var got []string
	for _, reason := range e.Statements {
		got = append(got, reason.Sid)
		if reason.Policy != 1 || reason.Line != reason.Statement+2 || reason.Decided != (reason.Sid == "Decides") {
			t.Errorf("misplaced: %+v", reason)
		}
	}
	if want := []string{"Decides", "Fits", "Condition", "Conditions", "Resource", "Action"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if want := []string{"k:c", "k:a", "k:b"}; !slices.Equal(e.Missing, want) {
		t.Errorf("missing %v, want %v", e.Missing, want)
	}
}

func TestExplainNamesAStatementWithAMistake(t *testing.T) {
	policy, err := Parse([]byte(`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringIs":{"k":"v"}}}}`))
	if err == nil || policy == nil {
		t.Fatalf("Parse() = %v, %v, want both", policy, err)
	}
	e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account},
		&Policies{Identity: []*Policy{policy}})
	if e.Statements[0].Applied || e.Statements[0].Failures[0].Element != "Statement" {
		t.Errorf("Explain() = %+v", e)
	}
}

func TestExplainOfAnExemptActionAsksNobody(t *testing.T) {
	e := Explain(&Request{Principal: principalOf(alice), Action: "sts:GetCallerIdentity", Resource: "*", ResourceAccountID: account},
		&Policies{Identity: []*Policy{mustParse(t, statementOf("D", "Deny", `"Action":"*","Resource":"*"`))}})
	if !e.Decision.Allowed() || len(e.Statements) != 0 || e.Certainty != Documented {
		t.Errorf("Explain() = %+v", e)
	}
}

func TestQuestionsAreNamed(t *testing.T) {
	for want, test := range map[Question]struct{ policy, key, value string }{
		QuestionUnreadableValue: {allowIf(`{"NumericEquals":{"k:n":"1e2"}}`), "k:n", "100"},
		QuestionDateForms:       {allowIf(`{"DateEquals":{"k:d":"2026-06-01T00:00:00Z"}}`), "k:d", "1780272000"},
		QuestionAddressFamilies: {allowIf(`{"NotIpAddress":{"k:i":"::/0"}}`), "k:i", "10.0.0.1"},
		QuestionEmptyValue:      {allowIf(`{"Null":{"k:e":"false"}}`), "k:e", ""},
		QuestionEmptyDefault:    {allowIf(`{"StringEquals":{"k:e":"${k:e, 'x'}"}}`), "k:e", ""},
	} {
		t.Run(string(want), func(t *testing.T) {
			e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account,
				Context: contextOf(test.key, test.value)}, &Policies{Identity: []*Policy{mustParse(t, test.policy)}})
			if e.Certainty != Assumed || !slices.Equal(e.Questions, []Question{want}) {
				t.Errorf("Explain() = %+v, want it to rest on %s", e, want)
			}
		})
	}
}

func TestAForeignRootIsAnAssumption(t *testing.T) {
	policy := mustParse(t, statementOf("R", "Allow", `"Principal":{"AWS":"111122223333"},"Action":"s3:*","Resource":"*"`))
	e := Explain(&Request{Principal: principalOf("arn:aws:iam::111122223333:root"), Action: "s3:GetObject", Resource: object, ResourceAccountID: account},
		&Policies{Resource: policy})
	if !e.Decision.Allowed() || !slices.Equal(e.Questions, []Question{QuestionForeignRoot}) {
		t.Errorf("Explain() = %+v, want an allow that rests on %s", e, QuestionForeignRoot)
	}
}

func TestAColonInAVariableIsAnAssumption(t *testing.T) {
	policy := mustParse(t, `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:*","Resource":"arn:${k}:::*"}}`)
	e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account,
		Context: contextOf("k", "aws:s3")}, &Policies{Identity: []*Policy{policy}})
	if e.Decision.Allowed() || !slices.Equal(e.Questions, []Question{QuestionColonInVariable}) {
		t.Errorf("Explain() = %+v, want a deny that rests on %s", e, QuestionColonInVariable)
	}
}

func TestAQuestionThatChangesNothingIsNotNamed(t *testing.T) {
	open := mustParse(t, allowIf(`{"NumericEquals":{"k:n":"1e2"}}`))
	all := mustParse(t, statementOf("A", "Allow", `"Action":"*","Resource":"*"`))
	e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account,
		Context: contextOf("k:n", "100")}, &Policies{Identity: []*Policy{open, all}})
	if e.Certainty != Documented {
		t.Errorf("Explain() = %+v, want what another statement allows anyway", e)
	}
}

var update = flag.Bool("update", false, "rewrite the page of assumptions")

func TestThePageListsTheAssumptions(t *testing.T) {
	const page = "../docs/reference/iam-certainty.md"
	if *update {
		if err := os.WriteFile(page, []byte(certaintyPage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != certaintyPage() {
		t.Errorf("%s is not what the table says; run go test -run ThePage . -update in iampolicy", page)
	}
}

// certaintyPage writes the page.
func certaintyPage() string {
	var out strings.Builder
	out.WriteString(`<!-- Generated from iampolicy.Assumptions. Do not edit: run go test -run ThePage . -update in iampolicy. -->

# What the policy engine assumes

AWS's documentation leaves some questions about policies open, and we have not
asked AWS itself. A decision says ` + "`certainty: assumed`" + ` if it would be another one
with the other answer to one of these questions, and names the questions. All
other decisions are ` + "`documented`" + `: they follow from what AWS writes. Where one of two
answers allows less, and nothing speaks for the other, it is the one taken.

| Question | What is open | What is assumed |
| --- | --- | --- |
`)
	for _, one := range Assumptions() {
		out.WriteString("| `" + string(one.Question) + "` | " + one.Asked + " | " + one.Answer + " |\n")
	}
	return out.String()
}

func TestExplanationsAreJSON(t *testing.T) {
	e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account},
		&Policies{Identity: []*Policy{mustParse(t, statementOf("A", "Allow", `"Action":"iam:*","Resource":"*"`))}})
	got, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"decision":{"effect":"implicitDeny","kind":"identity"},"certainty":"documented","statements":[` +
		`{"kind":"identity","policy":0,"statement":0,"sid":"A","line":1,"column":37,"endLine":1,"endColumn":97,"effect":"Allow","applied":false,"failures":[` +
		`{"element":"Action","observed":["s3:GetObject"],"required":["iam:*"]}]}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
