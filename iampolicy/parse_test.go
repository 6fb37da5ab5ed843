package iampolicy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// codesOf lists an error's mistakes as "line:column code".
func codesOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var errs Errors
	if !errors.As(err, &errs) {
		t.Fatalf("the error has type %T, want Errors", err)
	}
	all := make([]string, 0, len(errs))
	for _, e := range errs {
		all = append(all, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Code))
	}
	return strings.Join(all, ", ")
}

func TestParseFindsMistakesAndTheirPlaces(t *testing.T) {
	const good = `"Effect":"Allow","Action":"s3:GetObject","Resource":"*"`
	for name, test := range map[string]struct{ document, want string }{
		"a list of statements is fine":           {`{"Statement":[{` + good + `}]}`, ""},
		"a single statement is fine":             {`{"Version":"2008-10-17","Id":"x","Statement":{` + good + `}}`, ""},
		"nothing":                                {``, "1:1 InvalidJSON"},
		"no JSON":                                {`hello`, "1:1 InvalidJSON"},
		"a byte order mark":                      {"\ufeff{}", "1:1 InvalidJSON"},
		"a comma too many":                       {"{\n \"Statement\": [],\n}", "3:1 InvalidJSON"},
		"a comma missing":                        {`{"Version":"2012-10-17" "Statement":[]}`, "1:25 InvalidJSON"},
		"text after the end":                     {`{"Statement":[]} x`, "1:18 InvalidJSON"},
		"an end too early":                       {`{"Statement":[`, "1:15 InvalidJSON"},
		"a number that JSON does not have":       {`{"Statement":01}`, "1:14 InvalidJSON"},
		"an escape that JSON does not have":      {`{"Statement":"\x"}`, "1:15 InvalidJSON"},
		"half a surrogate pair":                  {`{"Statement":"\ud800"}`, "1:15 InvalidJSON"},
		"a raw control character":                {"{\"Statement\":\"a\tb\"}", "1:16 InvalidJSON"},
		"bytes that are not UTF-8":               {"{\"é\xff\":1}", "1:4 InvalidEncoding"},
		"nesting over the bound":                 {strings.Repeat("[", 33) + strings.Repeat("]", 33), "1:33 TooDeep"},
		"nesting at the bound":                   {strings.Repeat("[", 32) + strings.Repeat("]", 32), "1:1 WrongType"},
		"a list instead of a policy":             {`[]`, "1:1 WrongType"},
		"a key twice":                            {`{"Statement":[],"Statement":[]}`, "1:17 DuplicateKey"},
		"a key twice by an escape":               {`{"Statement":[],"\u0053tatement":[]}`, "1:17 DuplicateKey"},
		"a version that does not exist":          {`{"Version":"2020-01-01","Statement":[]}`, "1:12 InvalidVersion"},
		"no statement":                           {`{}`, "1:1 NoStatement"},
		"an element in the wrong case":           {`{"statement":[]}`, "1:1 NoStatement, 1:2 UnknownElement"},
		"an unknown element of a statement":      {`{"Statement":{` + good + `,"Foo":1}}`, "1:71 UnknownElement"},
		"no effect":                              {`{"Statement":{"Action":"s3:GetObject"}}`, "1:14 NoEffect"},
		"an effect in the wrong case":            {`{"Statement":{"Effect":"allow"}}`, "1:24 InvalidEffect"},
		"an action that is a number":             {`{"Statement":{"Effect":"Deny","Action":[1]}}`, "1:41 WrongType"},
		"an action and its negation":             {`{"Statement":{"Effect":"Deny","Action":"*","NotAction":"*"}}`, "1:44 ConflictingElements"},
		"a principal that is a string":           {`{"Statement":{"Effect":"Deny","Principal":"arn:x"}}`, "1:43 WrongType"},
		"a type of principals that is unknown":   {`{"Statement":{"Effect":"Deny","Principal":{"Aws":"*"}}}`, "1:44 UnknownElement"},
		"an operator that does not exist":        {allowIf(`{"StringMatches":{"k:s":"x"}}`), "1:96 UnknownOperator"},
		"an operator in the wrong case":          {allowIf(`{"stringequals":{"k:s":"x"}}`), "1:96 UnknownOperator"},
		"Null with IfExists":                     {allowIf(`{"NullIfExists":{"k:s":"x"}}`), "1:96 UnknownOperator"},
		"a condition value that is null":         {allowIf(`{"StringEquals":{"k:s":[null]}}`), "1:119 WrongType"},
		"all mistakes and not only the first":    {`{"Statement":[{"Effect":"x","Foo":1},{"Effect":"Deny","Sid":2}]}`, "1:25 InvalidEffect, 1:29 UnknownElement, 1:61 WrongType"},
		"columns count characters and not bytes": {`{"Id":"ééé","Foo":1,"Statement":[]}`, "1:13 UnknownElement"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(test.document))
			if got := codesOf(t, err); got != test.want {
				t.Errorf("Parse(%s)\n got %q\nwant %q", test.document, got, test.want)
			}
		})
	}
}

func TestParseReturnsNoPolicyThatCouldBeReadTwoWays(t *testing.T) {
	policy, err := Parse([]byte(`{"Statement":{"Effect":"Deny","Effect":"Allow","Action":"*","Resource":"*"}}`))
	if policy != nil || err == nil {
		t.Errorf("Parse() = %v, %v; want no policy and an error", policy, err)
	}
}

func TestStatementsWithMistakesNeverApply(t *testing.T) {
	for name, document := range map[string]string{
		"unknown operator": allowIf(`{"StringMatchesIfExists":{"k:s":"x"}}`),
		"unknown element":  `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Foo":1}}`,
		"unknown version":  `{"Version":"2030-01-01","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`,
		"no effect":        `{"Statement":{"Action":"*","Resource":"*"}}`,
		"no action":        `{"Statement":{"Effect":"Allow","Resource":"*"}}`,
		"empty actions":    `{"Statement":{"Effect":"Allow","NotAction":[],"Resource":"*"}}`,
		"empty resources":  `{"Statement":{"Effect":"Allow","Action":"*","NotResource":[]}}`,
		"no resource":      `{"Statement":{"Effect":"Allow","Action":"*"}}`,
		"a principal":      `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Principal":"*"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			policy, _ := Parse([]byte(document))
			if policy == nil {
				t.Fatal("Parse() gave no policy")
			}
			request := &Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account}
			if got := Evaluate(request, &Policies{Identity: []*Policy{policy}}); got.Effect != ImplicitDeny {
				t.Errorf("Evaluate() = %+v, want an implicit deny", got)
			}
		})
	}
}

func TestErrorsSayPlaceAndText(t *testing.T) {
	_, err := Parse([]byte(`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Foo":1}}`))
	var errs Errors
	if !errors.As(err, &errs) || len(errs) != 1 {
		t.Fatalf("Parse() error = %v, want one mistake", err)
	}
	var one *Error
	if !errors.As(err, &one) || one != errs[0] {
		t.Error("errors.As does not find the single mistake")
	}
	if !strings.HasPrefix(err.Error(), "line 1, column 60: ") || !strings.Contains(err.Error(), `"Foo"`) {
		t.Errorf("Error() = %q, want the place and the element", err)
	}
	for kind, want := range map[Kind]string{
		TrustPolicy: "Has prohibited field Foo", IdentityPolicy: "Syntax errors in policy.", ResourcePolicy: "Unknown field Foo",
	} {
		if got := errs.Text(kind); got != want {
			t.Errorf("Text(%s) = %q, want %q", kind, got, want)
		}
	}
	if !errs.Has(CodeUnknownElement) || errs.Has(CodeTooDeep) {
		t.Error("Has does not tell the codes apart")
	}
}

func TestSizeCountsNoWhiteSpace(t *testing.T) {
	if got := Size([]byte("{ \"Id\":\t\"a bé\" }\r\n")); got != 12 {
		t.Errorf("Size() = %d, want 12", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"Statement":[]}`, `{"a":1,"a":2}`, `[[[[`, "\xff", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":["*","1"]},"NotAction":"a:${b}","NotResource":"arn:${c, 'd'}:*"}}`,
		allowIf(`{"ForAnyValue:StringLikeIfExists":{"k:s":["a${*}b?",1,true]}}`), `{"Statement":"\ud83d\ude00"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		policy, err := Parse(document)
		if policy == nil && err == nil {
			t.Fatal("neither a policy nor an error")
		}
		if err != nil && (codesOf(t, err) == "" || err.Error() == "") {
			t.Fatal("an error without mistakes")
		}
		if policy == nil {
			return
		}
		for _, kind := range []Kind{IdentityPolicy, TrustPolicy, ResourcePolicy, ManagedPolicy} {
			if err := policy.Validate(kind); err != nil && codesOf(t, err) == "" {
				t.Fatal("an error without mistakes")
			}
		}
		policy.IsPublic()
		policy.Principals()
		policy.Resources()
		if keys := policy.ContextKeys(); !slices.IsSorted(keys) {
			t.Fatalf("ContextKeys() = %q", keys)
		}
		e := Explain(&Request{Principal: principalOf(alice), Action: "s3:GetObject", Resource: object, ResourceAccountID: account},
			&Policies{Identity: []*Policy{policy}, Resource: policy})
		for _, r := range e.Statements {
			if r.EndLine < r.Line || r.EndLine == r.Line && r.EndColumn <= r.Column {
				t.Fatalf("a statement from %d:%d to %d:%d", r.Line, r.Column, r.EndLine, r.EndColumn)
			}
		}
	})
}
