package iampolicy

import (
	"strings"
	"testing"
)

func TestMayAllow(t *testing.T) {
	const issuers = "arn:aws:s3:::issuer-keys"
	secure := when("Bool", "aws:SecureTransport", "true")
	for name, row := range map[string]struct {
		policy           []string
		action, resource string
		want             bool
	}{
		"the action on the resource":                              {one(permit("s3:PutObject", issuers+"/keys.json")), "s3:*", issuers + "/*", true},
		"another action":                                          {one(permit("sqs:*", "*")), "s3:*", issuers + "/*", false},
		"another bucket":                                          {one(permit("s3:*", keys)), "s3:*", issuers + "*", false},
		"everything":                                              {one(permit("*", "*")), "s3:*", issuers + "/*", true},
		"an empty policy":                                         {one(), "s3:*", "*", false},
		"a bucket with a star in its name":                        {one(permit("s3:*", "arn:aws:s3:::issuer*")), "s3:*", issuers + "/*", true},
		"a star in front":                                         {one(permit("s3:PutObject", "*/keys.json")), "s3:*", issuers + "/*", true},
		"an ARN of stars":                                         {one(permit("s3:PutObject", "arn:*:*:*:*:*/keys.json")), "s3:*", issuers + "/*", true},
		"a star within, that can meet":                            {one(permit("s3:PutObject", "arn:aws:s3:::*-keys/k*")), "s3:*", issuers + "/*", true},
		"a star within, that cannot meet":                         {one(permit("s3:PutObject", "arn:aws:s3:::*-kez/k*")), "s3:*", issuers + "/keys.json", false},
		"question marks that can meet":                            {one(permit("s3:PutObject", "arn:aws:s3:::??????-keys/*")), "s3:*", issuers + "/*", true},
		"question marks of another number":                        {one(permit("s3:PutObject", "arn:aws:s3:::?????-keys/*")), "s3:*", issuers + "/*", false},
		"actions in other case":                                   {one(permit("S3:putobject", issuers+"/*")), "s3:PutObject", issuers + "/keys.json", true},
		"resources in other case":                                 {one(permit("s3:PutObject", "arn:aws:s3:::Issuer-keys/*")), "s3:*", issuers + "/*", false},
		"a variable may be anything":                              {one(permit("s3:PutObject", "arn:aws:s3:::${aws:PrincipalTag/b}/*")), "s3:*", issuers + "/*", true},
		"a variable in an account may be anything":                {one(permit("iam:*", "arn:aws:iam::${aws:PrincipalTag/a}:role/x")), "iam:*", roles + "x", true},
		"a variable with a default may be anything":               {one(permit("s3:PutObject", "arn:aws:s3:::${aws:PrincipalTag/b,'x'}/*")), "s3:*", issuers + "/*", true},
		"a variable elsewhere":                                    {one(permit("s3:PutObject", "arn:aws:s3:::b/${aws:username}")), "s3:*", issuers + "/*", false},
		"a variable that cannot be read may be anything":          {one(permit("s3:PutObject", "arn:aws:s3:::${aws:username")), "s3:*", issuers + "/*", true},
		"in the old version a variable is text":                   {one("2008-10-17", permit("s3:PutObject", "arn:aws:s3:::${aws:username}/*")), "s3:*", issuers + "/*", false},
		"a star that is text":                                     {one(permit("s3:PutObject", "arn:aws:s3:::issuer${*}/*")), "s3:*", issuers + "/*", false},
		"a condition may be met":                                  {one(permit("s3:*", issuers+"/*", secure)), "s3:*", issuers + "/*", true},
		"NotAction reaches it":                                    {one(permit("!iam:*", "*")), "s3:PutObject", issuers + "/*", true},
		"NotAction leaves it out":                                 {one(permit("!s3:*", "*")), "s3:*", issuers + "/*", false},
		"NotAction leaves a part out":                             {one(permit("!s3:Get*", "*")), "s3:*", issuers + "/*", true},
		"NotResource reaches it":                                  {one(permit("s3:*", "!"+keys)), "s3:*", issuers + "/*", true},
		"NotResource leaves it out":                               {one(permit("s3:*", "!"+issuers+"*")), "s3:*", issuers + "/*", false},
		"NotResource leaves a part out":                           {one(permit("s3:*", "!"+issuers+"/k*")), "s3:*", issuers + "/*", true},
		"NotResource leaves it out in two parts":                  {one(permit("s3:*", "!"+issuers+"/ "+issuers+"/?*")), "s3:*", issuers + "/*", false},
		"NotResource with a variable leaves nothing out for sure": {one(permit("s3:*", "!arn:aws:s3:::${aws:PrincipalTag/b}*")), "s3:*", issuers + "/*", true},
		"a Deny takes it away":                                    {one(permit("s3:*", "*"), forbid("s3:*", issuers+"*")), "s3:*", issuers + "/*", false},
		"a Deny in front takes it away":                           {one(forbid("*", issuers+"*"), permit("s3:*", "*")), "s3:*", issuers + "/*", false},
		"two Denies take it away together":                        {one(permit("s3:*", "*"), forbid("s3:Get*", "*"), forbid("!s3:Get*", issuers+"*")), "s3:*", issuers + "/*", false},
		"a Deny takes a part away":                                {one(permit("s3:*", "*"), forbid("s3:*", issuers+"/keys.json")), "s3:*", issuers + "/*", true},
		"a Deny for other actions takes nothing away":             {one(permit("s3:*", "*"), forbid("s3:Get*", issuers+"*")), "s3:PutObject", issuers + "/*", true},
		"a Deny with a condition takes nothing away":              {one(permit("s3:*", "*"), forbid("s3:*", "*", secure)), "s3:*", issuers + "/*", true},
		"a Deny with the Allow's condition takes it away":         {one(permit("s3:*", "*", secure), forbid("s3:*", issuers+"*", secure)), "s3:*", issuers + "/*", false},
		"a Deny with a variable takes nothing away":               {one(permit("s3:*", "*"), forbid("s3:*", "arn:aws:s3:::${aws:username}*")), "s3:*", issuers + "/*", true},
		"a Deny with a NotResource takes away the rest":           {one(permit("s3:*", "*"), forbid("s3:*", "!"+keys)), "s3:*", issuers + "/*", false},
		"a Deny with a mistake takes nothing away":                {one(permit("s3:*", "*"), forbid("s3:*", "*", `"Resources":"*"`)), "s3:*", issuers + "/*", true},
		"a Deny of an ARN with parts missing takes nothing away":  {one(permit("s3:*", "*"), forbid("s3:*", "arn:aws:s3")), "s3:*", issuers + "/*", true},
		"an Allow of an ARN with parts missing may be completed":  {one(permit("s3:*", "arn:aws:s3")), "s3:*", issuers + "/*", true},
		"an Allow with a mistake allows nothing":                  {one(permit("s3:*", "*", `"Resources":"*"`)), "s3:*", issuers + "/*", false},
		"a statement with a principal counts":                     {one(permit("s3:*", issuers+"/*", `"Principal":"*"`)), "s3:*", issuers + "/*", true},
		"a trust policy counts":                                   {one(`{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*"}`), "sts:*", roles + "x", true},
		"a role of the same path":                                 {one(permit("iam:PassRole", roles+"tabard/*")), "iam:*", roles + "tabard/minter", true},
		"a role of another path":                                  {one(permit("iam:PassRole", roles+"team/*")), "iam:*", roles + "tabard/*", false},
		"a role of any account":                                   {one(permit("iam:PassRole", "arn:aws:iam::*:role/team/*")), "iam:*", roles + "tabard/*", false},
		"a role of any account and path":                          {one(permit("iam:PassRole", "arn:aws:iam::*:role/*minter")), "iam:*", roles + "tabard/minter", true},
		"all actions are asked for":                               {one(permit("ec2:RunInstances", "*")), "*", "*", true},
		"an empty action":                                         {one(permit("s3:*", "*")), "", "*", false},
		"an action that is not UTF-8":                             {one(permit("s3:*", "*")), "\xff", "*", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := MayAllow(policyOf(t, row.policy...), row.action, row.resource)
			if got != row.want || got != (why != "") {
				t.Errorf("MayAllow() = %v, %q, want %v", got, why, row.want)
			}
		})
	}
}

func TestTheAnswersNameTheStatement(t *testing.T) {
	outer := policyOf(t, permit("s3:Get*", keys), permit("sqs:*", queue, when("StringEquals", "aws:PrincipalTag/team", "a")))
	for name, row := range map[string]struct {
		inner string
		want  Containment
	}{
		"beyond": {permit("s3:PutObject", keys, `"Sid":"Write"`), Containment{No, 1, "Write", "s3:PutObject", keys,
			`statement 2 ("Write") allows s3:PutObject on arn:aws:s3:::b/*, which the outer policy does not`}},
		"under a condition": {permit("sqs:*", queue, when("StringEqualsIfExists", "aws:PrincipalTag/team", "a")), Containment{Undecidable, 1, "", "sqs:*", queue,
			"statement 2 allows sqs:* on " + queue + ", and it is not certain that the conditions of the outer policy's statement 2 follow from its own"}},
		"all but some": {permit("!s3:Get*", "!"+keys), Containment{No, 1, "", "*", "*", "statement 2 allows * on *, which the outer policy does not"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Contains(outer, policyOf(t, permit("s3:GetObject", keys), row.inner)); got != row.want {
				t.Errorf("Contains() = %+v\nwant %+v", got, row.want)
			}
		})
	}
	_, why := MayAllow(policyOf(t, permit("sqs:*", "*"), permit("s3:Put* s3:Get*", "arn:aws:s3:::b/* arn:aws:s3:::issuer*", `"Sid":"Wide"`)), "s3:Get*", "arn:aws:s3:::issuer-keys/*")
	if want := `statement 2 ("Wide") allows s3:Get* on arn:aws:s3:::issuer*`; why != want {
		t.Errorf("MayAllow() says %q, want %q", why, want)
	}
}

func TestNilPoliciesAllowNothing(t *testing.T) {
	some := policyOf(t, permit("s3:*", "*"))
	if got := Contains(nil, some); got.Answer != No {
		t.Errorf("nothing contains something: %+v", got)
	}
	if got := Contains(some, nil); got.Answer != Yes {
		t.Errorf("nothing is not contained: %+v", got)
	}
	if may, why := MayAllow(nil, "*", "*"); may || why != "" {
		t.Errorf("nothing may allow: %s", why)
	}
}

// intricate are policies that are made to take long.
func intricate() map[string][]string {
	stars := func(piece string, count int) string { return "arn:aws:s3:::" + strings.Repeat(piece, count) + "b" }
	var many, questions, actions []string
	for i := range 60 {
		many = append(many, "arn:aws:s3:::*"+strings.Repeat("a*", i%9+1)+string(rune('a'+i%26))+"*"+string(rune('a'+i/26))+"*c")
		questions = append(questions, "arn:aws:s3:::*a"+strings.Repeat("?", i+10)+"b")
		actions = append(actions, "s3:*"+string(rune('a'+i%26))+"*"+string(rune('a'+i/7))+"*")
	}
	var thousands []string
	for i := range 3000 {
		thousands = append(thousands, permit("s3:Get"+strings.Repeat("x", i%7)+"*", "arn:aws:s3:::b"+strings.Repeat("y", i%11)+string(rune('a'+i%26))+"*/"+string(rune('a'+i%23))))
	}
	return map[string][]string{
		"one pattern of stars":          one(permit("s3:*", stars("*a", 2000))),
		"a pattern of question marks":   one(permit("s3:*", stars("*a??????????????????????", 200))),
		"many patterns of stars":        one(permit("s3:*", strings.Join(many, " "))),
		"many patterns of questions":    one(permit("s3:*", strings.Join(questions, " "))),
		"many actions of stars":         one(permit(strings.Join(actions, " "), strings.Join(many, " "))),
		"many actions that are denied":  one(permit("*", "*"), forbid(strings.Join(actions, " "), strings.Join(many, " "))),
		"all but many actions of stars": one(permit("!"+strings.Join(actions, " "), "!"+strings.Join(many, " "))),
		"thousands of statements":       thousands,
		"thousands of Denies":           append(append([]string{}, permit("*", "*")), strings.Split(strings.ReplaceAll(strings.Join(thousands, "\n"), "Allow", "Deny"), "\n")...),
	}
}

func TestTheWorkIsBounded(t *testing.T) {
	policies := intricate()
	for outer, outerText := range policies {
		for inner, innerText := range policies {
			o, i := policyOf(t, outerText...), policyOf(t, innerText...)
			if got := Contains(o, i); outer == inner && got.Answer == No || got.Answer == "" {
				t.Errorf("%s in %s: %+v", inner, outer, got)
			}
		}
		MayAllow(policyOf(t, outerText...), "s3:*a*b*c*d", "arn:aws:s3:::*a*b?c*d*")
	}
}

func BenchmarkContainsIntricate(b *testing.B) {
	policies := intricate()
	for outer, outerText := range policies {
		for inner, innerText := range policies {
			o, i := policyOf(b, outerText...), policyOf(b, innerText...)
			b.Run(inner+" in "+outer, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Contains(o, i)
				}
			})
		}
	}
}

func BenchmarkContains(b *testing.B) {
	outer := policyOf(b, permit("s3:Get* s3:List* s3:Put*", "arn:aws:s3:::team-* arn:aws:s3:::team-*/*"), permit("sqs:*", "arn:aws:sqs:*:123456789012:team-*"), forbid("s3:*", "arn:aws:s3:::team-secret/*"))
	inner := policyOf(b, permit("s3:GetObject s3:PutObject", "arn:aws:s3:::team-a/in/*"), permit("s3:ListBucket", "arn:aws:s3:::team-a"))
	b.ReportAllocs()
	for b.Loop() {
		if got := Contains(outer, inner); got.Answer != Yes {
			b.Fatal(got)
		}
	}
}
