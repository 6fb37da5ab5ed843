package awslocal_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAccountSummaryCountsAndNamesQuotas(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.role("app", l.trust(l.provider()))
	l.User(account, "ann", "")
	l.managed("list", listPolicy)
	got := must.Get(client.GetAccountSummary(t.Context(), &iam.GetAccountSummaryInput{}))(t)
	for key, want := range map[string]int32{
		"Roles": 1, "Users": 2, "Policies": 1, "PolicyVersionsInUse": 1, "Providers": 1, "Groups": 0, "MFADevices": 0,
		"AssumeRolePolicySizeQuota": 2048, "RolePolicySizeQuota": 10240, "UserPolicySizeQuota": 2048, "PolicySizeQuota": 6144,
		"VersionsPerPolicyQuota": 5, "AttachedPoliciesPerRoleQuota": 10, "AccessKeysPerUserQuota": 2, "RolesQuota": 1000,
	} {
		if have, there := got.SummaryMap[key]; !there || have != want {
			t.Errorf("%s is %d (there: %v), want %d", key, have, there, want)
		}
	}
	ann := iam.NewFromConfig(l.As(l.Key(account, "ann")))
	want := "AccessDenied: User: arn:aws:iam::" + account + ":user/ann is not authorized to perform: iam:GetAccountSummary on resource: *"
	if got := awstest.Refusal(ann.GetAccountSummary(t.Context(), nil)); !strings.HasPrefix(got, want) {
		t.Errorf("a user without rights is answered %q", got)
	}
	l.Admin().Inject(awslocal.Fault{Service: "iam", Operation: "GetAccountSummary", Code: "Throttling", Count: 1})
	if got := awstest.Refusal(client.GetAccountSummary(t.Context(), &iam.GetAccountSummaryInput{})); got != "Throttling: Rate exceeded" {
		t.Errorf("when throttled the answer is %q", got)
	}
}

func TestCommandLineShowsTheAccountSummary(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	out, problem, _ := l.CommandLine(l.Administrator(account), inUSEast1, "iam", "get-account-summary", "--query", "SummaryMap.Roles")
	if strings.TrimSpace(out) != "1" {
		t.Errorf("the command line shows %q %s", out, problem)
	}
}
