package credentials_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// TestAMisspeltStatementIsToldWithWhatToWrite: fields, and actions as far as it can be known what
// is meant by them.
func TestAMisspeltStatementIsToldWithWhatToWrite(t *testing.T) {
	const tail = ", resource: 'arn:aws:s3:::b/x'}"
	const entry = "spec.providerSpec.statementEntries[1]"
	const fields = `", expected effect, action, resource and policyCondition: write `
	const shape = ", expected SERVICE:ACTION, such as s3:GetObject, of letters, digits, - and wildcards"
	const beyond = ` allows %s on arn:aws:s3:::b/x, which the ceiling of the CredentialsBoundary b does not`
	for name, test := range map[string]struct {
		statement string
		reason    credentials.Reason
		want      string
	}{
		"actions for action":      {"{effect: Allow, actions: ['s3:GetObject']" + tail, credentials.ReasonStatementInvalid, entry + ` has the field "actions` + fields + "action"},
		"actions beside action":   {"{effect: Allow, action: ['s3:GetObject'], actions: ['s3:PutObject']" + tail, credentials.ReasonStatementInvalid, entry + ` has the field "actions` + fields + "action"},
		"IAM's own Actions":       {"{Effect: Allow, Actions: ['s3:GetObject']" + tail, credentials.ReasonStatementInvalid, entry + ` has the field "Actions` + fields + "action"},
		"resources":               {"{effect: Allow, action: ['s3:GetObject'], resources: ['arn:aws:s3:::b/x']}", credentials.ReasonStatementInvalid, entry + ` has the field "resources` + fields + "resource"},
		"efect":                   {"{efect: Allow, action: ['s3:GetObject']" + tail, credentials.ReasonStatementInvalid, entry + ` has the field "efect` + fields + "effect"},
		"a condition left out":    {"{effect: Allow, action: ['s3:GetObject'], condition: {StringLike: {'aws:PrincipalTag/a': x}}" + tail, credentials.ReasonStatementInvalid, entry + ` has the field "condition` + fields + "policyCondition"},
		"conditions left out":     {"{effect: Allow, action: ['s3:GetObject'], Conditions: {StringLike: {'aws:PrincipalTag/a': x}}" + tail, credentials.ReasonStatementInvalid, entry + ` has the field "Conditions` + fields + "policyCondition"},
		"two, the first by name":  {"{effekt: Allow, actoin: ['s3:GetObject']" + tail, credentials.ReasonStatementInvalid, entry + ` has the field "actoin` + fields + "action"},
		"a field of another kind": {"{effect: Allow, permissions: ['s3:GetObject']" + tail, credentials.ReasonStatementInvalid, entry + ".action is empty, expected at least one action, such as s3:GetObject (there is no notAction); it has the field \"permissions\", which is none of a statement"},
		"notAction":               {"{effect: Allow, notAction: ['s3:GetObject']" + tail, credentials.ReasonStatementInvalid, entry + ".action is empty, expected at least one action, such as s3:GetObject (there is no notAction); it has the field \"notAction\", which is none of a statement"},
		"a later field":           {"{effect: Allow, action: ['s3:GetObject'], sid: Reads" + tail, credentials.ReasonAccepted, ""},
		"IAM's own case":          {"{Effect: Allow, Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::b/x'}", credentials.ReasonAccepted, ""},

		"a dot for the colon": {"{effect: Allow, action: ['s3.GetObject']" + tail, credentials.ReasonStatementInvalid, entry + `.action has "s3.GetObject"` + shape + ": write s3:GetObject"},
		"no colon":            {"{effect: Allow, action: ['s3GetObject']" + tail, credentials.ReasonStatementInvalid, entry + `.action has "s3GetObject"` + shape + ": write s3:GetObject"},
		"two colons":          {"{effect: Allow, action: ['s3::Get*']" + tail, credentials.ReasonStatementInvalid, entry + `.action has "s3::Get*"` + shape + ": write s3:Get*"},
		"a blank":             {"{effect: Allow, action: ['s3: GetObject']" + tail, credentials.ReasonStatementInvalid, entry + `.action has "s3: GetObject"` + shape + ": write s3:GetObject"},
		"a blank at the end":  {"{effect: Allow, action: ['s3:GetObject ']" + tail, credentials.ReasonStatementInvalid, entry + `.action has "s3:GetObject "` + shape + ": write s3:GetObject"},
		"no service":          {"{effect: Allow, action: ['GetObject']" + tail, credentials.ReasonStatementInvalid, entry + `.action has "GetObject"` + shape},
		"no known form":       {"{effect: Allow, action: ['s3:Get-Object']" + tail, credentials.ReasonStatementInvalid, entry + `.action has "s3:Get-Object"` + shape},
		"a misspelt action": {
			"{effect: Allow, action: ['s3:GetObjekt']" + tail, credentials.ReasonBeyondCeiling,
			entry + strings.Replace(beyond, "%s", "s3:GetObjekt", 1) + ": write s3:GetObject, if that is meant; or ask for less, or have an administrator raise spec.aws.ceiling",
		},
		"a misspelt service": {
			"{effect: Allow, action: ['s4:GetObject']" + tail, credentials.ReasonBeyondCeiling,
			entry + strings.Replace(beyond, "%s", "s4:GetObject", 1) + ": write s3:GetObject, if that is meant; or ask for less, or have an administrator raise spec.aws.ceiling",
		},
		"an action that is like none of the ceiling's": {
			"{effect: Allow, action: ['s3:ListBucket']" + tail, credentials.ReasonBeyondCeiling,
			entry + strings.Replace(beyond, "%s", "s3:ListBucket", 1) + ": ask for less, or have an administrator raise spec.aws.ceiling",
		},
		"an action of the ceiling, on another resource": {
			"{effect: Allow, action: ['s3:GetObject'], resource: 'arn:aws:s3:::c/x'}", credentials.ReasonBeyondCeiling,
			entry + " allows s3:GetObject on arn:aws:s3:::c/x, which the ceiling of the CredentialsBoundary b does not: ask for less, or have an administrator raise spec.aws.ceiling",
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := requestOf(t, "team", "{storage: {serviceAccount: {namespace: team, name: app}}, providerSpec: {kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ['s3:GetObject'], resource: 'arn:aws:s3:::b/x'}, "+test.statement+"]}}")
			reason, got := verdictOf(teamWorld(request, boundaryOf(t, "b", ceiling(`{"Effect": "Allow", "Action": ["s3:GetObject", "s3:Put*"], "Resource": "arn:aws:s3:::b/*"}, {"Effect": "Deny", "Action": "s3:ListBuckets", "Resource": "*"}`))))
			if reason != test.reason || got != test.want && test.want != "" {
				t.Errorf("%s: %s\nwant %s: %s", reason, got, test.reason, test.want)
			}
		})
	}
}
