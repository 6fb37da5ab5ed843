package awslocal_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func assume(t *testing.T, cfg aws.Config, role string, change func(*sts.AssumeRoleInput)) (*sts.AssumeRoleOutput, error) {
	input := &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::" + account + ":role/" + role), RoleSessionName: aws.String("session")}
	if change != nil {
		change(input)
	}
	return sts.NewFromConfig(cfg).AssumeRole(t.Context(), input)
}

func trusting(principal, condition string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + principal + `"}` + condition + `}]}`
}

func TestAssumeRoleAsksBothSides(t *testing.T) {
	l := newLab(t)
	l.role("own", trusting("arn:aws:iam::"+account+":root", ""))
	l.role("foreign", trusting("arn:aws:iam::"+stranger+":root", `,"Condition":{"StringEquals":{"sts:ExternalId":"e-1"}}`))
	l.role("timed", trusting("arn:aws:iam::"+account+":root", `,"Condition":{"NumericLessThanEquals":{"sts:DurationSeconds":"3600"}}`))
	external := func(in *sts.AssumeRoleInput) { in.ExternalId = aws.String("e-1") }
	refused := func(caller, role string) string {
		return "AccessDenied: User: arn:aws:iam::" + caller + ":user/administrator is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::" + account + ":role/" + role
	}
	cases := map[string]struct {
		caller, role string
		change       func(*sts.AssumeRoleInput)
		want         string
	}{
		"an account that is trusted":           {account, "own", nil, ""},
		"an account that is not trusted":       {stranger, "own", nil, refused(stranger, "own")},
		"another account with its external ID": {stranger, "foreign", external, ""},
		"another account without":              {stranger, "foreign", nil, refused(stranger, "foreign")},
		"a duration that is not sent":          {account, "timed", nil, refused(account, "timed")},
		"a duration that is sent":              {account, "timed", func(in *sts.AssumeRoleInput) { in.DurationSeconds = aws.Int32(3600) }, ""},
		"a role that does not exist":           {account, "none", nil, refused(account, "none")},
		"a session for too long":               {account, "own", func(in *sts.AssumeRoleInput) { in.DurationSeconds = aws.Int32(7200) }, "ValidationError: The requested DurationSeconds exceeds the MaxSessionDuration set for this role."},
		"tags that the trust does not allow":   {account, "own", func(in *sts.AssumeRoleInput) { in.Tags = []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}} }, "AccessDenied: User: arn:aws:iam::" + account + ":user/administrator is not authorized to perform: sts:TagSession on resource: "},
		"a session policy that is too large": {account, "own", func(in *sts.AssumeRoleInput) {
			in.Policy = aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::` + strings.Repeat("a", 1900) + `"}]}`)
		}, "PackedPolicyTooLarge: Packed policy consumes 1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := assume(t, l.administrator(c.caller), c.role, c.change)
			if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("answer\n %s\nwant\n %s", got, c.want)
			}
		})
	}
}

func TestChainedSessionsLastAnHour(t *testing.T) {
	l := newLab(t)
	l.role("first", trusting("arn:aws:iam::"+account+":root", ""))
	l.policy("first", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"*"}}`)
	l.Must(l.iam().CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("second"), MaxSessionDuration: aws.Int32(43200), Path: aws.String("/team/"),
		AssumeRolePolicyDocument: aws.String(trusting("arn:aws:iam::"+account+":role/first", "")),
	}))
	first, err := assume(t, l.administrator(account), "first", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = assume(t, l.as(first.Credentials), "team/second", func(in *sts.AssumeRoleInput) { in.DurationSeconds = aws.Int32(3601) })
	if got, want := awstest.Refusal(nil, err), "ValidationError: The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining."; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	second := must.Get(assume(t, l.as(first.Credentials), "team/second", nil))(t)
	if got, want := *second.AssumedRoleUser.Arn, "arn:aws:sts::"+account+":assumed-role/second/session"; got != want {
		t.Errorf("the session is %s, want %s", got, want)
	}
}

func TestSessionPolicyLimitsItsSession(t *testing.T) {
	l := newLab(t)
	l.role("app", trusting("arn:aws:iam::"+account+":root", ""))
	l.policy("app", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:*","Resource":"*"}}`)
	got := must.Get(assume(t, l.administrator(account), "app", func(in *sts.AssumeRoleInput) {
		in.Policy = aws.String(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:GetRole","Resource":"*"}}`)
	}))(t)
	if got.PackedPolicySize == nil || *got.PackedPolicySize < 1 { //nolint:staticcheck // what it tells newer clients otherwise, older ones read here
		t.Error("the answer does not say how large the session policy is")
	}
	client := iam.NewFromConfig(l.as(got.Credentials))
	if _, err := client.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")}); err != nil {
		t.Errorf("what the session policy allows: %v", err)
	}
	_, err := client.ListRoles(t.Context(), &iam.ListRolesInput{})
	want := "AccessDenied: User: arn:aws:sts::" + account + ":assumed-role/app/session is not authorized to perform: iam:ListRoles on resource: arn:aws:iam::" + account + ":role/ because no session policy allows the iam:ListRoles action"
	if awstest.Refusal(nil, err) != want {
		t.Errorf("answer\n %s\nwant\n %s", awstest.Refusal(nil, err), want)
	}
}

func TestRolesAreJudgedByTheirPoliciesAsTheyAreNow(t *testing.T) {
	l := newLab(t)
	l.role("app", trusting("arn:aws:iam::"+account+":root", ""))
	got := must.Get(assume(t, l.administrator(account), "app", nil))(t)
	client := iam.NewFromConfig(l.as(got.Credentials))
	ask := func() string {
		_, err := client.ListRoles(t.Context(), &iam.ListRolesInput{})
		return awstest.Refusal(nil, err)
	}
	if got := ask(); !strings.HasSuffix(got, "because no identity-based policy allows the iam:ListRoles action") {
		t.Errorf("without a policy the answer is %q", got)
	}
	l.policy("app", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:ListRoles","Resource":"*"}}`)
	if got := ask(); got != "" {
		t.Errorf("with a policy the answer is %q", got)
	}
	l.policy("app", `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"*","Resource":"*"}}`)
	if got := ask(); !strings.HasSuffix(got, "with an explicit deny in an identity-based policy") {
		t.Errorf("with a denial the answer is %q", got)
	}
	if _, err := sts.NewFromConfig(l.as(got.Credentials)).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); err != nil {
		t.Errorf("a denial keeps the session from learning who it is: %v", err)
	}
}

func TestTrustIsLostWithTheRoleThatItNames(t *testing.T) {
	l := newLab(t)
	trustAccount := trusting("arn:aws:iam::"+account+":root", "")
	allow := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"*"}}`
	if got, want := awstest.Refusal(l.iam().CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("target"), AssumeRolePolicyDocument: aws.String(trusting("arn:aws:iam::"+account+":role/caller", "")),
	})), `MalformedPolicyDocument: Invalid principal in policy: "AWS":"arn:aws:iam::`+account+`:role/caller"`; got != want {
		t.Errorf("trusting nobody answers %q, want %q", got, want)
	}
	l.role("caller", trustAccount)
	l.role("target", trusting("arn:aws:iam::"+account+":role/caller", ""))
	try := func() string {
		l.policy("caller", allow)
		caller, err := assume(t, l.administrator(account), "caller", nil)
		l.Must(caller, err)
		_, err = assume(t, l.as(caller.Credentials), "target", nil)
		return awstest.Refusal(nil, err)
	}
	if got := try(); got != "" {
		t.Fatal(got)
	}
	client := l.iam()
	l.Must(client.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: aws.String("caller"), PolicyName: aws.String("inline")}))
	l.Must(client.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("caller")}))
	l.role("caller", trustAccount)
	if got := try(); !strings.HasPrefix(got, "AccessDenied: ") {
		t.Errorf("a new role under the old name answers %q", got)
	}
	target := must.Get(client.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("target")}))(t)
	if !strings.Contains(*target.Role.AssumeRolePolicyDocument, "AROA") {
		t.Errorf("the broken trust reads %s", *target.Role.AssumeRolePolicyDocument)
	}
}

func TestUnknownOperationsAreRefusedByName(t *testing.T) {
	l := newLab(t)
	client := sts.NewFromConfig(l.administrator(account))
	if got, want := awstest.Refusal(client.GetSessionToken(t.Context(), nil)), "InvalidAction: Could not find operation GetSessionToken for version 2011-06-15"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	if got, want := awstest.Refusal(l.iam().CreateGroup(t.Context(), &iam.CreateGroupInput{
		GroupName: aws.String("x"),
	})), "InvalidAction: Could not find operation CreateGroup for version 2010-05-08"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

func TestStateFolderKeepsAuthorityAndKeys(t *testing.T) {
	folder := t.TempDir() + "/state"
	first := must.Get(awslocal.New(awslocal.Options{Dir: folder}))(t)
	second := must.Get(awslocal.New(awslocal.Options{Dir: folder, Accounts: []string{account, stranger}}))(t)
	if string(first.CACertificate()) != string(second.CACertificate()) {
		t.Error("the certificate authority is another one")
	}
	if first.Administrator(account) != second.Administrator(account) {
		t.Error("the administrator's key is another one")
	}
	if second.Administrator(stranger).AccessKeyID == "" {
		t.Error("the new account has no administrator")
	}
}
