package iampolicy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// unclearRows are conditions, and what is found of them.
var unclearRows = map[string]struct{ condition, want string }{
	"keys that differ in case":                {`{"StringEquals":{"aws:PrincipalTag/a":"1","AWS:principaltag/A":"2"}}`, "RepeatedKey"},
	"the same with the same values":           {`{"StringEquals":{"k:s":"1","K:S":"1"}}`, "RepeatedKey"},
	"three of them":                           {`{"StringEquals":{"k:s":"1","K:S":"2","k:S":"3"}}`, "RepeatedKey RepeatedKey"},
	"of a quantified operator":                {`{"ForAnyValue:StringLikeIfExists":{"k:s":"1","K:S":"2"}}`, "RepeatedKey"},
	"a key of two operators":                  {`{"StringEquals":{"k:s":"1"},"StringLike":{"K:S":"*"}}`, ""},
	"a key of an operator and its like":       {`{"StringEquals":{"k:s":"1"},"StringEqualsIfExists":{"K:S":"1"},"ForAllValues:StringEquals":{"k:S":"1"}}`, ""},
	"keys that are others":                    {`{"StringEquals":{"k:s":"1","k:t":"1"}}`, ""},
	"an empty list":                           {`{"StringEquals":{"k:s":[]}}`, "EmptyCondition"},
	"an empty list of a negation":             {`{"StringNotEquals":{"k:s":[]}}`, "EmptyCondition"},
	"an empty list of ForAllValues":           {`{"ForAllValues:StringEquals":{"k:s":[]}}`, "EmptyCondition"},
	"an empty list of Null":                   {`{"Null":{"k:s":[]}}`, "EmptyCondition"},
	"an empty value is one":                   {`{"StringEquals":{"k:s":[""]}}`, ""},
	"an operator without keys":                {`{"StringEquals":{}}`, "EmptyCondition"},
	"a Condition without operators is none":   {`{}`, ""},
	"both mistakes":                           {`{"StringEquals":{"k:s":[],"K:s":"1"},"Bool":{}}`, "EmptyCondition RepeatedKey EmptyCondition"},
	"operators that differ in case are wrong": {`{"StringEquals":{"k:s":"1"},"stringequals":{"k:s":[]}}`, ""},
}

func TestConditionsWhoseMeaningAWSDoesNotState(t *testing.T) {
	for name, row := range unclearRows {
		for _, effect := range []string{"Allow", "Deny"} {
			t.Run(name+" of "+effect, func(t *testing.T) {
				p := policyOf(t, effectOf(effect, "s3:GetObject", keys, `"Condition":`+row.condition))
				for _, kind := range []Kind{IdentityPolicy, BoundaryPolicy, ResourcePolicy, TrustPolicy} {
					if got := found(p.Lint(kind, LintOptions{})); got != row.want {
						t.Errorf("Lint finds %q for %s, want %q", got, kind, row.want)
					}
				}
				if got := found(p.Unclear()); got != row.want {
					t.Errorf("Unclear finds %q, want %q", got, row.want)
				}
			})
		}
	}
}

// found are the codes of a list of mistakes.
func found(err error) string {
	var all Errors
	_ = errors.As(err, &all)
	var out []string
	for _, one := range all {
		out = append(out, string(one.Code))
	}
	return strings.Join(out, " ")
}

// What is refused next door, as a mistake of Parse, is told once.
func TestARefusedOperatorIsNoUnclearOne(t *testing.T) {
	for _, condition := range []string{unclearRows["operators that differ in case are wrong"].condition, `{"StringEquals":{"k:s":"1","k:s":[]}}`} {
		_, err := Parse([]byte(`{"Version":"2012-10-17","Statement":` + permit("s3:GetObject", keys, `"Condition":`+condition) + `}`))
		if err == nil {
			t.Errorf("Parse takes %s", condition)
		}
	}
}

func TestUnclearConditionsNamePlaceAndRemedy(t *testing.T) {
	p := policyOf(t, "\n"+permit("s3:GetObject", keys, "\n"+`"Condition":{"StringEquals":{"k:s":"1","K:S":"2","m:s":[]},"Bool":{}}`))
	want := `line 3, column 40: the condition key "K:S" is under StringEquals as "k:s" too, case does not tell keys apart, and AWS does not state which of them counts; write the key once, with the values that are meant; ` +
		`line 3, column 50: the condition key "m:s" under StringEquals has no value, and AWS does not state what that means; give it the values that are meant, or leave the key out; ` +
		`line 3, column 60: the operator Bool has no condition key, and AWS does not state what that means; give it a key with values, or leave it out`
	if got := fmt.Sprint(p.Unclear()); got != want {
		t.Errorf("Unclear() = %s", got)
	}
}

// Whatever AWS reads into such a condition, no answer rests on it.
func TestNoComparisonRestsOnAnUnclearCondition(t *testing.T) {
	all, get := permit("s3:*", "*"), permit("s3:GetObject", keys)
	condition := func(raw string) string { return `"Condition":` + raw }
	tagged := when("StringEquals", "k:s", "1")
	for name, row := range unclearRows {
		if row.want == "" {
			continue
		}
		odd := condition(row.condition)
		t.Run(name, func(t *testing.T) {
			testContains(t, map[string]containRow{
				"an Allow of inner":               {one(permit("s3:*", "*", tagged)), one(permit("s3:GetObject", keys, odd)), Undecidable},
				"an Allow of both":                {one(permit("s3:*", "*", odd)), one(permit("s3:GetObject", keys, odd)), Undecidable},
				"a Deny of inner":                 {one(all, forbid("s3:*", "*", tagged)), one(get, forbid("s3:*", "*", odd)), Undecidable},
				"a statement that never applies":  {one(all, permit("s3:*", "*", odd, `"Resources":"*"`)), one(get), Yes},
				"one of inner that never applies": {one(all), one(get, permit("s3:*", "*", odd, `"Resources":"*"`)), Yes},
			})
			for _, outer := range []string{permit("s3:*", "*", odd), forbid("s3:Put*", "*", odd)} {
				if got := Contains(policyOf(t, all, outer), policyOf(t, get)); got.Answer != Undecidable || got.Statement != -1 || !strings.Contains(got.Reason, "outer policy's statement 2 cannot be compared: ") {
					t.Errorf("Contains() = %+v with %s", got, outer)
				}
			}
			for _, p := range [][]string{
				{permit("s3:*", "*", odd), forbid("s3:*", "*", tagged)},
				{permit("s3:*", "*", tagged), forbid("s3:*", "*", odd)},
				{all, forbid("s3:*", "*", odd)},
			} {
				if may, _ := MayAllow(policyOf(t, p...), "s3:GetObject", keys); !may {
					t.Errorf("MayAllow() is false for %s", p)
				}
			}
			if !policyOf(t, effectOf("Allow", "s3:*", "*", `"Principal":"*"`, odd)).IsPublic() {
				t.Error("a bucket policy is not public")
			}
		})
	}
}

// A key that pins in one reading and not in another pins nothing.
func TestAnUnclearConditionKeepsNoBucketPrivate(t *testing.T) {
	for _, condition := range []string{
		`{"StringEquals":{"aws:PrincipalOrgID":"o-1","AWS:PrincipalOrgID":"*"}}`, `{"StringEquals":{"aws:PrincipalOrgID":[]}}`, `{"StringEquals":{"aws:PrincipalOrgID":"o-1"},"Bool":{}}`,
	} {
		if !policyOf(t, effectOf("Allow", "s3:*", "*", `"Principal":"*"`, `"Condition":`+condition)).IsPublic() {
			t.Errorf("a bucket policy with %s is not public", condition)
		}
	}
}
