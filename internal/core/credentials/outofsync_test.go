package credentials_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestARoleOfSomebodyElseIsComparedWithWhatIsAskedFor(t *testing.T) {
	policy := func(action, resource string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"` + resource + `"}]}`
	}
	trust := func(subject, audience string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::` + testAccount + `:oidc-provider/issuer1.example"},
			"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"issuer1.example:sub":"` + subject + `","issuer1.example:aud":"` + audience + `"}}}]}`
	}
	const app = "system:serviceaccount:apps:app"
	good := trust(app, "sts.amazonaws.com")
	tests := map[string]struct {
		role   credentials.ForeignRole
		status string
		reason condition.Reason
		says   string
	}{
		"it has all":                        {credentials.ForeignRole{Exists: true, Trust: good, Policies: []string{policy("s3:*", "arn:aws:s3:::data/*")}}, "False", credentials.ReasonRoleInSync, "trusts whom it names"},
		"two policies have it together":     {credentials.ForeignRole{Exists: true, Trust: good, Policies: []string{policy("s3:PutObject", "*"), policy("s3:GetObject", "arn:aws:s3:::data/*")}}, "False", credentials.ReasonRoleInSync, ""},
		"it is not there":                   {credentials.ForeignRole{}, "True", credentials.ReasonRoleOutOfSync, "does not exist"},
		"no policy":                         {credentials.ForeignRole{Exists: true, Trust: good}, "True", credentials.ReasonRoleOutOfSync, "statementEntries[0], s3:GetObject on arn:aws:s3:::data/*"},
		"another resource":                  {credentials.ForeignRole{Exists: true, Trust: good, Policies: []string{policy("s3:GetObject", "arn:aws:s3:::other/*")}}, "True", credentials.ReasonRoleOutOfSync, "its policies do not allow"},
		"a Deny":                            {credentials.ForeignRole{Exists: true, Trust: good, Policies: []string{policy("s3:*", "*"), strings.Replace(policy("s3:GetObject", "arn:aws:s3:::data/secret"), "Allow", "Deny", 1)}}, "True", credentials.ReasonRoleOutOfSync, "its policies do not allow"},
		"a boundary that leaves it out":     {credentials.ForeignRole{Exists: true, Trust: good, Policies: []string{policy("s3:*", "*")}, Boundaries: []string{policy("ec2:*", "*")}}, "True", credentials.ReasonRoleOutOfSync, "its permissions boundary do"},
		"another ServiceAccount is trusted": {credentials.ForeignRole{Exists: true, Trust: trust("system:serviceaccount:apps:other", "sts.amazonaws.com"), Policies: []string{policy("s3:*", "*")}}, "True", credentials.ReasonRoleOutOfSync, "does not admit " + app},
		"another audience is trusted":       {credentials.ForeignRole{Exists: true, Trust: trust(app, "vault"), Policies: []string{policy("s3:*", "*")}}, "True", credentials.ReasonRoleOutOfSync, "for the audience sts.amazonaws.com"},
		"both are wrong":                    {credentials.ForeignRole{Exists: true, Trust: trust(app, "vault")}, "True", credentials.ReasonRoleOutOfSync, "; its trust policy does not admit"},
		"it may not be read":                {credentials.ForeignRole{Fault: &fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "GetRole", Code: "AccessDenied"}}, "Unknown", credentials.ReasonRoleUnread, "AccessDenied"},
		"a policy that is none":             {credentials.ForeignRole{Exists: true, Trust: good, Policies: []string{"{"}}, "Unknown", credentials.ReasonRoleSyncUndecided, "cannot be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(5)
			m.request.Spec.ProviderSpec.Raw = []byte(strings.Replace(statements, `"kind":`, `"stsIAMRoleARN":"`+givenARN+`","kind":`, 1))
			must.Do(t, crash.Settle(m))
			w := m.Observe()
			test.role.ARN = givenARN
			w.Foreign = &test.role
			plan := credentials.Decide(w)
			v := says(plan, credentials.TypeRoleOutOfSync)
			if string(v.Status) != test.status || v.Reason != test.reason || !strings.Contains(v.Message, test.says) {
				t.Errorf("RoleOutOfSync is %+v, want %s for %s, saying %q", v, test.status, test.reason, test.says)
			}
			if ready := says(plan, credentials.TypeReady); !ready.IsTrue() || len(plan.Steps) > 0 {
				t.Errorf("Ready is %+v, the steps are %s, want that nothing goes by it", ready, kinds(plan.Steps))
			}
			w.Foreign = nil
			if v := says(credentials.Decide(w), credentials.TypeRoleOutOfSync); v.Status != "" {
				t.Errorf("RoleOutOfSync is %+v where no role was read", v)
			}
		})
	}
}
