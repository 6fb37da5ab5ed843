package iampolicy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestContextKeys(t *testing.T) {
	for name, test := range map[string]struct {
		document string
		want     []string
	}{
		"a policy that asks nothing": {statementOf("A", "Allow", `"Action":"*","Resource":"*"`), nil},
		"conditions, as they are written": {allowIf(`{"StringEquals":{"k:b":"1","AWS:Username":"x"},"Null":{"k:A":true}}`),
			[]string{"AWS:Username", "k:A", "k:b"}},
		"the same key spelled in two ways":    {allowIf(`{"StringEquals":{"k:One":"1"},"StringLike":{"K:ONE":"2"}}`), []string{"k:One"}},
		"variables of resources":              {statementOf("A", "Allow", `"Action":"*","NotResource":["arn:aws:s3:::b/${aws:username}/${k:d, 'x'}","*"]`), []string{"aws:username", "k:d"}},
		"variables of conditions":             {allowIf(`{"StringEqualsIgnoreCase":{"k:s":"${k:v}"},"ArnLike":{"k:a":"${k:w}"},"StringNotLike":{"k:s":"${k:x}*"}}`), []string{"k:a", "k:s", "k:v", "k:w", "k:x"}},
		"what is escaped is no key":           {allowIf(`{"StringLike":{"k:s":"${*}${?}${$}"}}`), []string{"k:s"}},
		"operators that have no variables":    {allowIf(`{"NumericEquals":{"k:n":"${k:v}"}}`), []string{"k:n"}},
		"the old version has no variables":    {`{"Statement":{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::${k:v}/*"}}`, nil},
		"the issuer of a web identity's keys": {allowIf(`{"StringEquals":{"127.0.0.1:8443/x:sub":"y"}}`), []string{"127.0.0.1:8443/x:sub"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mustParse(t, test.document).ContextKeys(); !slices.Equal(got, test.want) {
				t.Errorf("ContextKeys() = %q, want %q", got, test.want)
			}
		})
	}
}

// AWS prints the columns 38 and 167 for this document (AWS CLI: examples of
// simulate-custom-policy): it counts from behind the opening brace to behind the
// closing one.
func TestAStatementEndsBehindItsBrace(t *testing.T) {
	for name, test := range map[string]struct {
		document string
		want     string
	}{
		"on one line": {`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"dynamodb:*","Resource":"*","Condition":{"DateGreaterThan":{"aws:CurrentTime":"2018-08-16T12:00:00Z"}}}}`,
			"1:37-1:167"},
		"on several": {"{\"Statement\": [\n  {\"Effect\":\"Allow\",\n   \"Action\":\"é\", \"Resource\":\"*\"\n  }, {\"Effect\":\"Deny\"}\n]}", "2:3-4:4 4:6-4:23"},
	} {
		t.Run(name, func(t *testing.T) {
			e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account},
				&Policies{Identity: []*Policy{mustParse(t, test.document)}})
			var places []string
			for _, r := range e.Statements {
				places = append(places, fmt.Sprintf("%d:%d-%d:%d", r.Line, r.Column, r.EndLine, r.EndColumn))
			}
			slices.Sort(places)
			if got := strings.Join(places, " "); got != test.want {
				t.Errorf("statements at %s, want %s", got, test.want)
			}
		})
	}
}

// hostileDocuments are of about a megabyte each, and long in one way each.
func hostileDocuments() map[string]string {
	many := func(count int, separator string, one func(i int) string) string {
		all := make([]string, 0, count)
		for i := range count {
			all = append(all, one(i))
		}
		return strings.Join(all, separator)
	}
	quoted := func(i int) string { return `"k:` + strconv.Itoa(i) + `"` }
	return map[string]string{
		"statements":      documentWith(many(15_000, ",", func(int) string { return `{"Effect":"Deny","Action":"s3:*","Resource":"*"}` })),
		"empty mistakes":  documentWith(many(100_000, ",", func(int) string { return `{}` })),
		"unknown members": `{"Statement":{` + many(100_000, ",", func(i int) string { return quoted(i) + `:1` }) + `}}`,
		"the same member": `{"Statement":{` + many(100_000, ",", func(int) string { return `"a":1` }) + `}}`,
		"keys":            allowIf(`{"StringEquals":{` + many(60_000, ",", func(i int) string { return quoted(i) + `:"x"` }) + `}}`),
		"values":          allowIf(`{"NumericNotEquals":{"k:n":[` + many(100_000, ",", quoted) + `]}}`),
		"operators":       allowIf(`{` + many(50_000, ",", func(i int) string { return quoted(i) + `:{}` }) + `}`),
		"actions":         statementOf("A", "Allow", `"NotAction":[`+many(100_000, ",", quoted)+`],"Resource":"*"`),
		"resources":       statementOf("A", "Allow", `"Action":"*","NotResource":[`+many(60_000, ",", func(i int) string { return `"arn:aws:s3:::${k:` + strconv.Itoa(i) + `}"` })+`]`),
		"variables":       statementOf("A", "Allow", `"Action":"*","NotResource":"arn:aws:s3:::`+strings.Repeat("*${k:s, 'x'}", 80_000)+`"`),
		"open variables":  statementOf("A", "Allow", `"Action":"*","NotResource":"arn:aws:s3:::`+strings.Repeat("${", 400_000)+`"`),
		"wildcards":       statementOf("A", "Allow", `"Action":"`+strings.Repeat("*?", 400_000)+`","Resource":"arn:aws:s3:::`+strings.Repeat("a*", 100_000)+`"`),
		"principals":      statementOf("A", "Allow", `"Principal":{"AWS":[`+many(100_000, ",", quoted)+`]},"Action":"*","Resource":"*"`),
		"a long text":     statementOf(strings.Repeat("é", 400_000), "Allow", `"Action":"*","Resource":"*"`),
		"escapes":         statementOf(strings.Repeat(`\u00e9`, 150_000), "Allow", `"Action":"*","Resource":"*"`),
	}
}

func TestHostileDocumentsCostNoMoreThanTheirLength(t *testing.T) {
	// No time is asserted: with a step that looked at every pair of things this
	// would take minutes and not a second.
	request := &Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account,
		Context: contextOf("k:s", "app-data", "k:n", "1")}
	for name, document := range hostileDocuments() {
		t.Run(name, func(t *testing.T) {
			policy, err := Parse([]byte(document))
			if policy == nil {
				if !strings.Contains(err.Error(), "twice") {
					t.Fatalf("Parse() error = %.200s", err)
				}
				return
			}
			for _, kind := range []Kind{IdentityPolicy, TrustPolicy, ResourcePolicy, ManagedPolicy} {
				_ = policy.Validate(kind) // only its time counts
			}
			policy.IsPublic()
			policy.ContextKeys()
			policies := &Policies{Identity: []*Policy{policy}, Resource: policy}
			if got, e := Evaluate(request, policies), Explain(request, policies); e.Decision != got || len(e.Statements) != 2*len(policy.statements) {
				t.Errorf("Explain() = %+v with %d statements, Evaluate() = %+v", e.Decision, len(e.Statements), got)
			}
		})
	}
}
