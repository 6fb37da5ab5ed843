package iampolicy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
)

// TestLintFindsWhatHoldsWithoutItsKey holds each finding against the evaluation: whether a
// request without the key, which has no other, is allowed.
func TestLintFindsWhatHoldsWithoutItsKey(t *testing.T) {
	const all = `"ForAllValues:StringLike": {"eks:kubernetesGroups": "a:*"}`
	for name, c := range map[string]struct {
		condition string
		open      bool
	}{
		"alone":                           {all, true},
		"the key is demanded":             {all + `, "Null": {"eks:kubernetesGroups": "false"}`, false},
		"in other letters":                {all + `, "Null": {"EKS:KubernetesGroups": ["FALSE"]}`, false},
		"the key must be absent":          {all + `, "Null": {"eks:kubernetesGroups": "true"}`, true},
		"the key may be both":             {all + `, "Null": {"eks:kubernetesGroups": ["true", "false"]}`, true},
		"some value is demanded":          {all + `, "ForAnyValue:StringLike": {"eks:kubernetesGroups": "a:*"}`, false},
		"one value is demanded":           {all + `, "StringLike": {"eks:kubernetesGroups": "*"}`, false},
		"one value, if there is any":      {all + `, "StringLikeIfExists": {"eks:kubernetesGroups": "a:*"}`, true},
		"a value that is not":             {all + `, "StringNotLike": {"eks:kubernetesGroups": "b:*"}`, true},
		"of other values, if any":         {`"ForAllValues:StringLikeIfExists": {"eks:kubernetesGroups": "a:*"}`, true},
		"values that are not":             {`"ForAllValues:StringNotEquals": {"eks:kubernetesGroups": "admins"}`, true},
		"ARNs":                            {`"ForAllValues:ArnLike": {"eks:kubernetesGroups": "arn:aws:iam::*:role/a"}`, true},
		"demanded under another operator": {`"ForAllValues:StringNotEquals": {"eks:kubernetesGroups": "admins"}, "Null": {"eks:kubernetesGroups": "false"}`, false},
		"some value, and no more":         {`"ForAnyValue:StringLike": {"eks:kubernetesGroups": "a:*"}`, false},
	} {
		for kind, document := range allOf(c.condition) {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				want := ""
				if c.open {
					want = "ForAllValues"
				}
				if got := codes(t, document, kind); got != want {
					t.Errorf("found %q, want %q in %s", got, want, document)
				}
				if got := allowsWithoutKey(t, document, kind); got != c.open {
					t.Errorf("a request without the key is allowed: %t", got)
				}
			})
		}
	}
}

// allOf are documents of each kind with one statement under a condition.
func allOf(condition string) map[iampolicy.Kind]string {
	rights := `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "eks:CreateAccessEntry", "Resource": "*", "Condition": {` + condition + `}}]}`
	return map[iampolicy.Kind]string{
		iampolicy.IdentityPolicy: rights, iampolicy.ManagedPolicy: rights, iampolicy.BoundaryPolicy: rights, iampolicy.SessionPolicy: rights,
		iampolicy.ResourcePolicy: strings.Replace(rights, `"Action"`, `"Principal": {"AWS": "arn:aws:iam::111122223333:role/r"}, "Action"`, 1),
		iampolicy.TrustPolicy: `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:role/r"},
			"Action": "sts:AssumeRole", "Condition": {` + condition + `}}]}`,
	}
}

// allowsWithoutKey evaluates a policy for a request that has no condition key.
func allowsWithoutKey(t *testing.T, document string, kind iampolicy.Kind) bool {
	t.Helper()
	policy, err := iampolicy.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	request := &iampolicy.Request{
		Principal: iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::111122223333:assumed-role/r/s", RoleARN: "arn:aws:iam::111122223333:role/r", AccountID: "111122223333"},
		Action:    "eks:CreateAccessEntry", Resource: "arn:aws:eks:eu-west-1:111122223333:cluster/c", ResourceAccountID: "111122223333", Context: iampolicy.NewContext(),
	}
	if kind == iampolicy.TrustPolicy {
		request.Action, request.Resource = "sts:AssumeRole", "arn:aws:iam::111122223333:role/other"
	}
	policies := &iampolicy.Policies{Identity: []*iampolicy.Policy{policy}}
	if kind == iampolicy.ResourcePolicy || kind == iampolicy.TrustPolicy {
		policies = &iampolicy.Policies{Resource: policy}
	}
	return iampolicy.Evaluate(request, policies).Allowed()
}

// TestLintJudgesAbsentKeysByStatement: a Null condition counts in its own statement, and a Deny
// with ForAllValues denies where the key is absent.
func TestLintJudgesAbsentKeysByStatement(t *testing.T) {
	statement := func(effect, condition string) string {
		return `{"Effect": "` + effect + `", "Action": "s3:*", "Resource": "*", "Condition": {` + condition + `}}`
	}
	const all, null = `"ForAllValues:StringEquals": {"aws:TagKeys": ["a", "b"]}`, `"Null": {"aws:TagKeys": "false"}`
	for name, c := range map[string]struct {
		statements []string
		want       string
	}{
		"a denial":                   {[]string{statement("Deny", all)}, ""},
		"a denial beside":            {[]string{statement("Deny", all), statement("Allow", all+", "+null)}, ""},
		"Null in another statement":  {[]string{statement("Allow", all), statement("Allow", null)}, "ForAllValues"},
		"two statements":             {[]string{statement("Allow", all), statement("Allow", all)}, "ForAllValues ForAllValues"},
		"two keys of one statement":  {[]string{statement("Allow", `"ForAllValues:StringEquals": {"aws:TagKeys": "a", "aws:CalledVia": "b"}`)}, "ForAllValues ForAllValues"},
		"two keys, one is demanded":  {[]string{statement("Allow", `"ForAllValues:StringEquals": {"aws:TagKeys": "a", "aws:CalledVia": "b"}, `+null)}, "ForAllValues"},
		"all requests but of an ARN": {[]string{`{"Effect": "Allow", "Action": "s3:*", "NotResource": "arn:aws:s3:::b", "Condition": {` + all + `}}`}, "ForAllValues"},
	} {
		t.Run(name, func(t *testing.T) {
			document := `{"Version": "2012-10-17", "Statement": [` + strings.Join(c.statements, ", ") + `]}`
			if got := codes(t, document, iampolicy.IdentityPolicy); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// TestLintSaysWhatToWriteForAnAbsentKey, as the author wrote the key, at its place.
func TestLintSaysWhatToWriteForAnAbsentKey(t *testing.T) {
	policy, err := iampolicy.Parse([]byte("{\"Version\": \"2012-10-17\", \"Statement\": {\"Effect\": \"Allow\", \"Action\": \"s3:*\", \"Resource\": \"*\",\n" +
		" \"Condition\": {\"ForAllValues:StringLike\": {\"aws:tagKeys\": \"a*\"}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	var found iampolicy.Errors
	errors.As(policy.Lint(iampolicy.ManagedPolicy, iampolicy.LintOptions{}), &found)
	const want = `ForAllValues:StringLike also holds for a request without the key aws:tagKeys, so the statement allows it; to refuse such requests add "Null": {"aws:tagKeys": "false"} to the Condition`
	if len(found) != 1 || found[0].Message != want || found[0].Line != 2 || found[0].Column != 44 || found[0].Code.Severity() != iampolicy.SeverityWarning {
		t.Errorf("found %+v", found)
	}
}
