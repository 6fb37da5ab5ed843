package credentials_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// TestARefusalForTheCeilingCountsStatementsAsFieldsAre: from 0, those of the request and those of
// the ceiling, and says each thing once.
func TestARefusalForTheCeilingCountsStatementsAsFieldsAre(t *testing.T) {
	const deny = `{"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::b/*"}, {%s"Effect": "Deny", "Action": "s3:Put*", "Resource": "arn:aws:s3:::b/*"}`
	const first = "{effect: Allow, action: ['s3:GetObject'], resource: 'arn:aws:s3:::b/x'}"
	second := func(action, more string) string {
		return "[" + first + ", {effect: Allow, action: ['" + action + "'], resource: 'arn:aws:s3:::b/x'" + more + "}]"
	}
	const entry = "spec.providerSpec.statementEntries[1] allows "
	for name, test := range map[string]struct{ ceiling, statements, want string }{
		"not allowed": {
			`{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}`, second("s3:ListBucket", ""),
			entry + "s3:ListBucket on arn:aws:s3:::b/x, which the ceiling of the CredentialsBoundary b does not: ask for less, or have an administrator raise spec.aws.ceiling",
		},
		"denied": {
			strings.Replace(deny, "%s", "", 1), second("s3:PutObject", ""),
			entry + "s3:PutObject on arn:aws:s3:::b/x, of which Statement[1] of the ceiling of the CredentialsBoundary b denies a part: ask for less, or have an administrator raise spec.aws.ceiling",
		},
		"denied by a statement with a name": {
			strings.Replace(deny, "%s", `"Sid": "NoWrites", `, 1), second("s3:PutObject", ""),
			entry + `s3:PutObject on arn:aws:s3:::b/x, of which Statement[1] ("NoWrites") of the ceiling of the CredentialsBoundary b denies a part: ask for less, or have an administrator raise spec.aws.ceiling`,
		},
		"not to be decided": {
			`{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}, {"Effect": "Allow", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::b/*", "Condition": {"StringLike": {"aws:PrincipalTag/a": "x"}}}`,
			second("s3:PutObject", ", policyCondition: {StringNotLike: {'aws:PrincipalTag/a': 'y'}}"),
			"it cannot be decided whether the statements are within the ceiling of the CredentialsBoundary b, and what cannot be decided is not given: " + entry +
				"s3:PutObject on arn:aws:s3:::b/x, and it is not certain that the conditions of Statement[1] of the ceiling of the CredentialsBoundary b follow from its own: write them with fewer wildcards, variables and conditions",
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := requestOf(t, "team", "{storage: {serviceAccount: {namespace: team, name: app}}, providerSpec: {kind: AWSProviderSpec, statementEntries: "+test.statements+"}}")
			reason, got := verdictOf(teamWorld(request, boundaryOf(t, "b", ceiling(test.ceiling))))
			if got != test.want {
				t.Errorf("%s: %s\nwant %s", reason, got, test.want)
			}
		})
	}
}

// TestARoleThatLacksAStatementIsToldOfInTheSameWay: see what is asked for and who denies it.
func TestARoleThatLacksAStatementIsToldOfInTheSameWay(t *testing.T) {
	m := newModel(4)
	w := m.Observe()
	w.Request.Spec.ProviderSpec.Raw = []byte(strings.Replace(statements, "{", `{"stsIAMRoleARN":"`+givenARN+`",`, 1))
	w.Provider = credentials.DecodeProvider(w.Request)
	for policy, want := range map[string]string{
		`{"Effect":"Allow","Action":"s3:ListBucket","Resource":"*"}`:                                                                   "its policies do not allow statementEntries[0], s3:GetObject on arn:aws:s3:::data/*",
		`{"Effect":"Allow","Action":"s3:*","Resource":"*"},{"Effect":"Deny","Action":"s3:GetObject","Resource":"arn:aws:s3:::data/*"}`: "its policies do not allow statementEntries[0], s3:GetObject on arn:aws:s3:::data/*, of which a Deny takes a part",
	} {
		role := &credentials.ForeignRole{ARN: givenARN, Exists: true, Policies: []string{`{"Version":"2012-10-17","Statement":[` + policy + `]}`}, Trust: "{}"}
		v := credentials.CompareRole(w, role)
		if parts := strings.Split(strings.TrimPrefix(v.Message, "the role "+givenARN+": "), "; "); parts[0] != want {
			t.Errorf("it says %q, want %q", parts[0], want)
		}
	}
}
