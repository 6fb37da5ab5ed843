package iampolicy

import (
	"fmt"
	"testing"
)

// allowIf is an identity policy that allows everything under a condition.
func allowIf(condition string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":%s}}`, condition)
}

// contextOf makes a context of keys and single values.
func contextOf(pairs ...string) Context {
	context := NewContext()
	for i := 0; i+1 < len(pairs); i += 2 {
		context.Set(pairs[i], pairs[i+1])
	}
	return context
}

func TestConditionHolds(t *testing.T) {
	multi := NewContext()
	multi.Set("k:m", "a", "b")
	tagged := contextOf("k:s", "abc")
	tagged.Set("aws:TagKeys", "abc")
	for name, test := range map[string]struct {
		condition string
		context   Context
		want      bool
	}{
		"StringNotLike is false where a pattern fits":                 {`{"StringNotLike":{"k:s":"a*"}}`, contextOf("k:s", "abc"), false},
		"StringNotLike is true where none fits":                       {`{"StringNotLike":{"k:s":["x*","y*"]}}`, contextOf("k:s", "abc"), true},
		"StringNotEqualsIgnoreCase looks past case":                   {`{"StringNotEqualsIgnoreCase":{"k:s":"ABC"}}`, contextOf("k:s", "abc"), false},
		"StringEquals takes a star for a star":                        {`{"StringEquals":{"k:s":"a*"}}`, contextOf("k:s", "a*"), true},
		"StringLike takes an escaped star for a star":                 {`{"StringLike":{"k:s":"a${*}"}}`, contextOf("k:s", "abc"), false},
		"a multivalued key is no variable with one value either":      {`{"StringEquals":{"k:s":"${aws:TagKeys}"}}`, tagged, false},
		"a multivalued key is no variable with a default either":      {`{"StringEquals":{"k:s":"${aws:tagkeys, 'abc'}"}}`, contextOf("k:s", "abc"), false},
		"the methods of a token are no variable":                      {`{"StringLike":{"k:s":"${idp.example/path:amr}*"}}`, contextOf("k:s", "abc", "idp.example/path:amr", "a"), false},
		"the subject of a token is a variable":                        {`{"StringLike":{"k:s":"${idp.example/path:sub}*"}}`, contextOf("k:s", "abc", "idp.example/path:sub", "a"), true},
		"StringLike finds a real star by an escaped one":              {`{"StringLike":{"k:s":"a${*}"}}`, contextOf("k:s", "a*"), true},
		"a question mark is one character and not one byte":           {`{"StringLike":{"k:s":"a?c"}}`, contextOf("k:s", "aéc"), true},
		"NumericEquals knows that 300 is 300.0":                       {`{"NumericEquals":{"k:n":"300"}}`, contextOf("k:n", "300.0"), true},
		"NumericEquals takes JSON numbers":                            {`{"NumericEquals":{"k:n":300}}`, contextOf("k:n", "300"), true},
		"NumericEquals knows that minus nothing is nothing":           {`{"NumericEquals":{"k:n":"-0.0"}}`, contextOf("k:n", "0"), true},
		"NumericLessThan orders negative numbers":                     {`{"NumericLessThan":{"k:n":"-5"}}`, contextOf("k:n", "-10"), true},
		"NumericGreaterThan does not compare as text":                 {`{"NumericGreaterThan":{"k:n":"9"}}`, contextOf("k:n", "10"), true},
		"NumericGreaterThanEquals takes the bound":                    {`{"NumericGreaterThanEquals":{"k:n":"9"}}`, contextOf("k:n", "9.0"), true},
		"NumericGreaterThan sees the last digit of a long number":     {`{"NumericGreaterThan":{"k:n":"90071992547409920"}}`, contextOf("k:n", "90071992547409921"), true},
		"an exponent is no number":                                    {`{"NumericEquals":{"k:n":1e2}}`, contextOf("k:n", "100"), false},
		"NumericNotEquals is false for what is no number":             {`{"NumericNotEquals":{"k:n":"5"}}`, contextOf("k:n", "abc"), false},
		"one unreadable value spoils a negated list":                  {`{"NumericNotEquals":{"k:n":["5","abc"]}}`, contextOf("k:n", "6"), false},
		"one unreadable value does not spoil a positive list":         {`{"NumericEquals":{"k:n":["abc","6"]}}`, contextOf("k:n", "6"), true},
		"DateLessThan takes epoch seconds":                            {`{"DateLessThan":{"k:d":"2026-01-01T00:00:00Z"}}`, contextOf("k:d", "1700000000"), true},
		"DateEquals takes zones":                                      {`{"DateEquals":{"k:d":"2026-01-01T00:00:00Z"}}`, contextOf("k:d", "2026-01-01T01:00:00+01:00"), true},
		"DateEquals takes a day alone":                                {`{"DateEquals":{"k:d":"2026-01-01"}}`, contextOf("k:d", "2026-01-01T00:00:00Z"), true},
		"DateGreaterThanEquals takes the bound":                       {`{"DateGreaterThanEquals":{"k:d":"2026-01-01"}}`, contextOf("k:d", "2026-01-01"), true},
		"DateLessThanEquals refuses a later instant":                  {`{"DateLessThanEquals":{"k:d":"2026-01-01"}}`, contextOf("k:d", "2026-01-02"), false},
		"DateNotEquals is false for what is no date":                  {`{"DateNotEquals":{"k:d":"2026-01-01"}}`, contextOf("k:d", "soon"), false},
		"Bool looks past case":                                        {`{"Bool":{"k:b":"TRUE"}}`, contextOf("k:b", "true"), true},
		"Bool takes JSON booleans":                                    {`{"Bool":{"k:b":true}}`, contextOf("k:b", "true"), true},
		"Bool has no variables":                                       {`{"Bool":{"k:b":"${k:s}"}}`, contextOf("k:b", "true", "k:s", "true"), false},
		"BinaryEquals compares bytes":                                 {`{"BinaryEquals":{"k:x":"AQID"}}`, contextOf("k:x", "AQID"), true},
		"BinaryEquals refuses what is not base64":                     {`{"BinaryEquals":{"k:x":"!"}}`, contextOf("k:x", "!"), false},
		"IpAddress takes a single address":                            {`{"IpAddress":{"k:i":"192.0.2.1"}}`, contextOf("k:i", "192.0.2.1"), true},
		"IpAddress takes a range that is not masked":                  {`{"IpAddress":{"k:i":"10.1.2.3/8"}}`, contextOf("k:i", "10.9.9.9"), true},
		"IpAddress knows IPv4 written as IPv6":                        {`{"IpAddress":{"k:i":"10.0.0.0/8"}}`, contextOf("k:i", "::ffff:10.1.1.1"), true},
		"NotIpAddress is false within the range":                      {`{"NotIpAddress":{"k:i":"10.0.0.0/8"}}`, contextOf("k:i", "10.1.1.1"), false},
		"NotIpAddress is false for what is no address":                {`{"NotIpAddress":{"k:i":"10.0.0.0/8"}}`, contextOf("k:i", "here"), false},
		"ArnLike does not let a star over a colon":                    {`{"ArnLike":{"k:a":"arn:aws:*:role/app"}}`, contextOf("k:a", "arn:aws:iam::1:role/app"), false},
		"ArnLike lets a star over colons in the last part":            {`{"ArnLike":{"k:a":"arn:aws:logs:r:1:log-group:*"}}`, contextOf("k:a", "arn:aws:logs:r:1:log-group:a:b"), true},
		"ArnEquals takes a whole ARN out of a variable":               {`{"ArnEquals":{"k:a":"${k:o}"}}`, contextOf("k:a", "arn:aws:iam::1:role/x", "k:o", "arn:aws:iam::1:role/x"), true},
		"a star out of a variable does not act in an ARN":             {`{"ArnEquals":{"k:a":"${k:o}"}}`, contextOf("k:a", "arn:aws:iam::1:role/x", "k:o", "arn:aws:iam::1:role/*"), false},
		"ArnNotLike is false where the pattern fits":                  {`{"ArnNotLike":{"k:a":"arn:aws:iam::*:role/*"}}`, contextOf("k:a", "arn:aws:iam::1:role/x"), false},
		"ArnNotEquals is false for what is no ARN":                    {`{"ArnNotEquals":{"k:a":"arn:aws:iam::1:role/x"}}`, contextOf("k:a", "x"), false},
		"Null true holds for an absent key":                           {`{"Null":{"k:s":true}}`, contextOf(), true},
		"Null true fails for a present key":                           {`{"Null":{"k:s":"true"}}`, contextOf("k:s", "x"), false},
		"Null with another word never holds":                          {`{"Null":{"k:s":"maybe"}}`, contextOf(), false},
		"IfExists counts only for an absent key":                      {`{"StringEqualsIfExists":{"k:s":"a"}}`, contextOf("k:s", "b"), false},
		"ForAnyValue with IfExists is false for an absent key":        {`{"ForAnyValue:StringEqualsIfExists":{"k:s":"a"}}`, contextOf(), false},
		"ForAllValues needs every value":                              {`{"ForAllValues:StringEquals":{"k:m":"a"}}`, multi, false},
		"ForAllValues negated needs every value to differ":            {`{"ForAllValues:StringNotEquals":{"k:m":["b","c"]}}`, multi, false},
		"StringNotEquals without a set operator refuses many values":  {`{"StringNotEquals":{"k:m":"x"}}`, multi, false},
		"a key with many values is no variable":                       {`{"StringEquals":{"k:s":"${k:m, 'd'}"}}`, Context{"k:s": {"d"}, "k:m": {"a", "b"}}, false},
		"a default counts for an absent key":                          {`{"StringEquals":{"k:s":"${k:x,'d'}"}}`, contextOf("k:s", "d"), true},
		"a variable that is not closed never resolves":                {`{"StringNotEquals":{"k:s":"${k:x"}}`, contextOf("k:s", "d"), false},
		"a dollar sign can be escaped":                                {`{"StringEquals":{"k:s":"${$}{k:x}"}}`, contextOf("k:s", "${k:x}"), true},
		"bytes that stand for wildcards do not act out of a variable": {`{"StringLike":{"k:s":"${k:x}"}}`, contextOf("k:s", "abc", "k:x", "\xff"), false},
		"all operators must hold":                                     {`{"StringEquals":{"k:s":"a"},"NumericEquals":{"k:n":"1"}}`, contextOf("k:s", "a", "k:n", "2"), false},
		"an operator without keys asks nothing":                       {`{"StringEquals":{}}`, contextOf(), true},
		"a positive operator without values never holds":              {`{"StringEquals":{"k:s":[]}}`, contextOf("k:s", "a"), false},
	} {
		t.Run(name, func(t *testing.T) {
			policies := &Policies{Identity: []*Policy{mustParse(t, allowIf(test.condition))}}
			request := &Request{
				Principal: principalOf("arn:aws:iam::123456789012:user/alice"), Action: "s3:GetObject",
				Resource: "arn:aws:s3:::b/k", ResourceAccountID: "123456789012", Context: test.context,
			}
			if got := Evaluate(request, policies).Allowed(); got != test.want {
				t.Errorf("holds = %v, want %v", got, test.want)
			}
		})
	}
}
