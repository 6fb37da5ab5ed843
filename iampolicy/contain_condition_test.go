package iampolicy

import "testing"

func TestContainsComparesConditions(t *testing.T) {
	type conditions struct{ outer, inner string }
	team := func(operator string, values ...string) string {
		return when(operator, "aws:PrincipalTag/team", values...)
	}
	const none = `"Sid":"Plain"`
	for name, row := range map[string]struct {
		given conditions
		want  Answer
	}{
		"a condition more in inner":                                {conditions{none, team("StringEquals", "a")}, Yes},
		"a condition of outer that inner lacks":                    {conditions{team("StringEquals", "a"), none}, No},
		"a condition of outer that holds without its key":          {conditions{team("StringEqualsIfExists", "a"), none}, Undecidable},
		"the same condition":                                       {conditions{team("StringEquals", "a"), team("StringEquals", "a")}, Yes},
		"the same values in another order":                         {conditions{team("StringEquals", "a", "b"), team("StringEquals", "b", "a")}, Yes},
		"the same key in other case":                               {conditions{when("StringEquals", "aws:PrincipalTag/team", "a"), when("StringEquals", "AWS:principaltag/TEAM", "a")}, Yes},
		"another key":                                              {conditions{team("StringEquals", "a"), when("StringEquals", "aws:PrincipalTag/app", "a")}, No},
		"fewer values in inner":                                    {conditions{team("StringEquals", "a", "b"), team("StringEquals", "b")}, Yes},
		"more values in inner":                                     {conditions{team("StringEquals", "a"), team("StringEquals", "a", "b")}, Undecidable},
		"values in other case":                                     {conditions{team("StringEquals", "a"), team("StringEquals", "A")}, Undecidable},
		"a value that a pattern covers":                            {conditions{team("StringLike", "a*"), team("StringEquals", "ab")}, Yes},
		"a pattern within a pattern":                               {conditions{team("StringLike", "a*"), team("StringLike", "a?c*")}, Yes},
		"a pattern beyond a pattern":                               {conditions{team("StringLike", "a?"), team("StringLike", "a*")}, Undecidable},
		"a star that is text of StringEquals":                      {conditions{team("StringEquals", "a*"), team("StringLike", "a*")}, Undecidable},
		"a star that is text within a pattern":                     {conditions{team("StringLike", "a*"), team("StringEquals", "a*")}, Yes},
		"negation of more values":                                  {conditions{team("StringNotEquals", "a"), team("StringNotEquals", "a", "b")}, Yes},
		"negation of fewer values":                                 {conditions{team("StringNotEquals", "a", "b"), team("StringNotEquals", "a")}, Undecidable},
		"a negation and no negation":                               {conditions{team("StringNotEquals", "a"), team("StringEquals", "b")}, Undecidable},
		"negated patterns do not count as texts":                   {conditions{team("StringNotLike", "a*"), team("StringNotEquals", "a*")}, Undecidable},
		"outer holds without the key too":                          {conditions{team("StringEqualsIfExists", "a"), team("StringEquals", "a")}, Yes},
		"inner holds without the key too":                          {conditions{team("StringEquals", "a"), team("StringEqualsIfExists", "a")}, Undecidable},
		"ForAllValues in both":                                     {conditions{when("ForAllValues:StringEquals", "aws:TagKeys", "a", "b"), when("ForAllValues:StringEquals", "aws:TagKeys", "a")}, Yes},
		"ForAllValues holds without the key, ForAnyValue does not": {conditions{when("ForAnyValue:StringEquals", "aws:TagKeys", "a"), when("ForAllValues:StringEquals", "aws:TagKeys", "a")}, Undecidable},
		"ForAnyValue lets other values pass":                       {conditions{when("ForAllValues:StringEquals", "aws:TagKeys", "a"), when("ForAnyValue:StringEquals", "aws:TagKeys", "a")}, Undecidable},
		"ForAllValues of inner and a single value of outer":        {conditions{team("StringEquals", "a"), team("ForAllValues:StringEquals", "a")}, Undecidable},
		"a single value is any value":                              {conditions{team("ForAnyValue:StringEquals", "a"), team("StringEquals", "a")}, Yes},
		"ForAnyValue with IfExists is not ForAnyValue":             {conditions{team("ForAnyValue:StringEquals", "a"), team("ForAnyValue:StringEqualsIfExists", "a")}, Undecidable},
		"a negation without the key is not any value":              {conditions{team("ForAnyValue:StringNotEquals", "a"), team("StringNotEquals", "a")}, Undecidable},
		"a single value is not all values, which are open":         {conditions{team("ForAllValues:StringEquals", "a"), team("StringEquals", "a")}, Undecidable},
		"an ARN and its negation":                                  {conditions{when("ArnNotLike", "aws:SourceArn", "arn:aws:sns:*:*:t"), when("ArnLike", "aws:SourceArn", "arn:aws:sns:*:*:t")}, Undecidable},
		"Null in both":                                             {conditions{team("Null", "true"), team("Null", "true")}, Yes},
		"Null and its reverse":                                     {conditions{team("Null", "true"), team("Null", "false")}, Undecidable},
		"Null of a key that inner needs":                           {conditions{team("Null", "false"), team("StringEquals", "a")}, Yes},
		"Null of a key that may be empty in inner":                 {conditions{team("Null", "false"), team("StringLike", "*")}, Undecidable},
		"Null of a key that inner does not need":                   {conditions{team("Null", "false"), team("StringEqualsIfExists", "a")}, Undecidable},
		"ArnLike is ArnEquals":                                     {conditions{when("ArnLike", "aws:SourceArn", "arn:aws:sns:*:*:t"), when("ArnEquals", "aws:SourceArn", "arn:aws:sns:*:*:t")}, Yes},
		"ArnLike with fewer values":                                {conditions{when("ArnLike", "aws:SourceArn", "arn:aws:sns:*:*:t", "arn:aws:sns:*:*:u"), when("ArnLike", "aws:SourceArn", "arn:aws:sns:*:*:t")}, Yes},
		"an ARN is not a text":                                     {conditions{when("ArnLike", "aws:SourceArn", "arn:aws:sns:*:*:t"), when("StringLike", "aws:SourceArn", "arn:aws:sns:*:*:t")}, Undecidable},
		"numbers of one operator and value":                        {conditions{when("NumericLessThan", "s3:max-keys", "10"), when("NumericLessThan", "s3:max-keys", "10")}, Yes},
		"numbers of another value":                                 {conditions{when("NumericLessThan", "s3:max-keys", "10"), when("NumericLessThan", "s3:max-keys", "5")}, Undecidable},
		"a variable of a condition in both":                        {conditions{when("StringLike", "s3:prefix", "${aws:username}/*"), when("StringLike", "s3:prefix", "${aws:username}/*")}, Yes},
		"a variable of a condition within a star":                  {conditions{when("StringLike", "s3:prefix", "*"), when("StringLike", "s3:prefix", "${aws:username}/*")}, Undecidable},
		"one of two conditions of outer":                           {conditions{`"Condition":{"StringEquals":{"a":"1","b":"2"}}`, `"Condition":{"StringEquals":{"a":"1"}}`}, No},
		"two conditions of inner":                                  {conditions{`"Condition":{"StringEquals":{"a":"1"}}`, `"Condition":{"StringEquals":{"a":"1","b":"2"}}`}, Yes},
	} {
		t.Run(name, func(t *testing.T) {
			outer := policyOf(t, permit("s3:*", "*", row.given.outer))
			inner := policyOf(t, permit("s3:GetObject", keys, row.given.inner))
			if got := Contains(outer, inner); got.Answer != row.want {
				t.Errorf("Contains() = %+v, want %s", got, row.want)
			}
		})
	}
}

func TestOneStatementWithoutConditionIsEnough(t *testing.T) {
	outer := policyOf(t, permit("s3:*", "*", when("StringEquals", "k", "v")), permit("s3:Get*", keys))
	if got := Contains(outer, policyOf(t, permit("s3:GetObject", keys))); got.Answer != Yes {
		t.Errorf("Contains() = %+v", got)
	}
}

// In one version of the language a variable of a condition is plain text.
func TestAValueMeansWhatItsVersionSays(t *testing.T) {
	mine := when("StringEquals", "s3:prefix", "${aws:username}")
	outer, inner := policyOf(t, "2008-10-17", permit("s3:*", "*", mine)), policyOf(t, permit("s3:GetObject", keys, mine))
	if got := Contains(outer, inner); got.Answer != Undecidable {
		t.Errorf("Contains() = %+v", got)
	}
}
