package awslocal_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func whoAmI(t *testing.T, cfg aws.Config) (string, string) {
	got, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", awstest.Refusal(nil, err)
	}
	return *got.Arn, ""
}

const allowIAM = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:*","Resource":"*"}}`

func TestUserIsReadAsItWasWritten(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	name := aws.String("Ci")
	l.Must(client.CreateUser(t.Context(), &iam.CreateUserInput{
		UserName: name, Path: aws.String("/team/"), Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}},
	}))
	l.Must(client.TagUser(t.Context(), &iam.TagUserInput{UserName: name, Tags: []types.Tag{{Key: aws.String("b"), Value: aws.String("2")}}}))
	l.Must(client.UntagUser(t.Context(), &iam.UntagUserInput{UserName: name, TagKeys: []string{"A"}}))
	l.Must(client.UpdateUser(t.Context(), &iam.UpdateUserInput{UserName: name, NewUserName: aws.String("bot"), NewPath: aws.String("/robots/")}))
	got := must.Get(client.GetUser(t.Context(), &iam.GetUserInput{UserName: aws.String("BOT")}))(t)
	have := []string{*got.User.UserName, *got.User.Path, *got.User.Arn, (*got.User.UserId)[:4], fmt.Sprint(len(got.User.Tags)), *got.User.Tags[0].Key}
	if diff := cmp.Diff([]string{"bot", "/robots/", "arn:aws:iam::" + account + ":user/robots/bot", "AIDA", "1", "b"}, have); diff != "" {
		t.Error(diff)
	}
	if _, err := client.GetUser(t.Context(), &iam.GetUserInput{
		UserName: name,
	}); awstest.Refusal(nil, err) != "NoSuchEntity: The user with name Ci cannot be found." {
		t.Errorf("the old name answers %q", awstest.Refusal(nil, err))
	}
}

func TestUsersComeInPages(t *testing.T) {
	l := newLab(t)
	for i := range 4 {
		l.User(account, fmt.Sprintf("user-%d", i), "")
	}
	l.Must(l.iam().CreateUser(t.Context(), &iam.CreateUserInput{UserName: aws.String("elsewhere"), Path: aws.String("/team/")}))
	list := func(prefix string) (names []string, pages int) {
		pager := iam.NewListUsersPaginator(l.iam(), &iam.ListUsersInput{MaxItems: aws.Int32(2), PathPrefix: aws.String(prefix)})
		for pager.HasMorePages() {
			page := must.Get(pager.NextPage(t.Context()))(t)
			pages++
			for _, user := range page.Users {
				names = append(names, *user.UserName)
			}
		}
		return names, pages
	}
	all, pages := list("/")
	if diff := cmp.Diff([]string{"administrator", "elsewhere", "user-0", "user-1", "user-2", "user-3"}, all); diff != "" || pages != 3 {
		t.Errorf("%d pages, 3 were expected; %s", pages, diff)
	}
	if team, _ := list("/team"); !cmp.Equal(team, []string{"elsewhere"}) {
		t.Errorf("below /team there is %v", team)
	}
}

func TestUserPolicies(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.User(account, "ci", "")
	cfg := l.As(l.Key(account, "ci"))
	read := func() string {
		_, err := iam.NewFromConfig(cfg).GetUser(t.Context(), &iam.GetUserInput{})
		return awstest.Refusal(nil, err)
	}
	if got := read(); !strings.HasSuffix(got, "user/ci because no identity-based policy allows the iam:GetUser action") {
		t.Errorf("without a policy the answer is %q", got)
	}
	l.UserPolicy(account, "ci", strings.Replace(allowIAM, `"Resource":"*"`, `"Resource":"arn:aws:iam::*:user/${aws:username}"`, 1))
	if got := read(); got != "" {
		t.Errorf("with a policy the answer is %q", got)
	}
	got := must.Get(client.GetUserPolicy(t.Context(), &iam.GetUserPolicyInput{UserName: aws.String("ci"), PolicyName: aws.String("inline")}))(t)
	if text, err := url.QueryUnescape(*got.PolicyDocument); err != nil || !strings.Contains(text, "${aws:username}") || *got.UserName != "ci" {
		t.Errorf("the policy of %s reads %q, error %v", *got.UserName, text, err)
	}
	list, err := client.ListUserPolicies(t.Context(), &iam.ListUserPoliciesInput{UserName: aws.String("ci")})
	if err != nil || !cmp.Equal(list.PolicyNames, []string{"inline"}) {
		t.Errorf("the policies are %+v, error %v", list, err)
	}
	l.Must(client.DeleteUserPolicy(t.Context(), &iam.DeleteUserPolicyInput{UserName: aws.String("ci"), PolicyName: aws.String("inline")}))
	if got := read(); !strings.HasPrefix(got, "AccessDenied: ") {
		t.Errorf("with the policy deleted the answer is %q", got)
	}
}

func TestAccessKeysLiveAndDie(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.User(account, "ci", "")
	key := l.Key(account, "ci")
	const invalid = "InvalidClientTokenId: The security token included in the request is invalid."
	expect := func(when, want string) {
		t.Helper()
		arn, fault := whoAmI(t, l.As(key))
		if fault != want || want == "" && arn != "arn:aws:iam::"+account+":user/ci" {
			t.Errorf("%s: the caller is %q, answer %q; want answer %q", when, arn, fault, want)
		}
	}
	used := func() string {
		got := must.Get(client.GetAccessKeyLastUsed(t.Context(), &iam.GetAccessKeyLastUsedInput{AccessKeyId: &key.AccessKeyID}))(t)
		return *got.UserName + " " + *got.AccessKeyLastUsed.ServiceName + " " + *got.AccessKeyLastUsed.Region
	}
	set := func(status types.StatusType) {
		t.Helper()
		l.Must(client.UpdateAccessKey(t.Context(), &iam.UpdateAccessKeyInput{
			UserName: aws.String("ci"), AccessKeyId: &key.AccessKeyID, Status: status,
		}))
	}
	if got := used(); got != "ci N/A N/A" {
		t.Errorf("a new key was used by %s", got)
	}
	expect("a new key", "")
	if got := used(); got != "ci sts eu-central-1" {
		t.Errorf("the key was used by %s", got)
	}
	set(types.StatusTypeInactive)
	expect("an inactive key", invalid)
	list, err := client.ListAccessKeys(t.Context(), &iam.ListAccessKeysInput{UserName: aws.String("ci")})
	if err != nil || len(list.AccessKeyMetadata) != 1 || list.AccessKeyMetadata[0].Status != types.StatusTypeInactive {
		t.Errorf("the keys are %+v, error %v", list, err)
	}
	set(types.StatusTypeActive)
	expect("an active key", "")
	l.Must(client.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{UserName: aws.String("ci"), AccessKeyId: &key.AccessKeyID}))
	l.Must(client.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("ci")}))
	expect("a deleted key", invalid)
}

func TestIAMRefusesUsers(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.User(account, "ci", "")
	l.User(account, "keyed", "")
	l.Key(account, "keyed")
	other := l.Key(account, "keyed")
	l.User(account, "held", "")
	l.UserPolicy(account, "held", allowIAM)
	create := func(name string) string {
		return awstest.Refusal(client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name}))
	}
	remove := func(name string) string {
		return awstest.Refusal(client.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: &name}))
	}
	checkRefusals(t, map[string]refused{
		"a name that differs in case only": {create("CI"), "EntityAlreadyExists: User with name CI already exists."},
		"a name that is too long":          {create(strings.Repeat("a", 65)), "ValidationError: 1 validation error detected: "},
		"a new name that is taken": {awstest.Refusal(client.UpdateUser(t.Context(), &iam.UpdateUserInput{
			UserName: aws.String("ci"), NewUserName: aws.String("Held"),
		})), "EntityAlreadyExists: User with name Held already exists."},
		"deleting nobody":             {remove("none"), "NoSuchEntity: The user with name none cannot be found."},
		"deleting a user with keys":   {remove("keyed"), "DeleteConflict: Cannot delete entity, must delete access keys first."},
		"deleting a user with policy": {remove("held"), "DeleteConflict: Cannot delete entity, must delete policies first."},
		"a third key": {awstest.Refusal(client.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{
			UserName: aws.String("keyed"),
		})), "LimitExceeded: Cannot exceed quota for AccessKeysPerUser: 2"},
		"another user's key": {awstest.Refusal(client.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{
			UserName: aws.String("ci"), AccessKeyId: &other.AccessKeyID,
		})), "NoSuchEntity: The Access Key with id " + other.AccessKeyID + " cannot be found"},
		"a user policy that is not there": {awstest.Refusal(client.GetUserPolicy(t.Context(), &iam.GetUserPolicyInput{
			UserName: aws.String("ci"), PolicyName: aws.String("none"),
		})), "NoSuchEntity: The user policy with name none cannot be found."},
		"user policies that are too long": {awstest.Refusal(client.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{
			UserName: aws.String("ci"), PolicyName: aws.String("x"), PolicyDocument: aws.String(allowObject(2000)),
		})), "LimitExceeded: Maximum policy size of 2048 bytes exceeded for user ci"},
		"a caller without rights": {awstest.Refusal(iam.NewFromConfig(l.As(other)).CreateUser(t.Context(), &iam.CreateUserInput{
			UserName: aws.String("x"),
		})), "AccessDenied: User: arn:aws:iam::" + account + ":user/keyed is not authorized to perform: iam:CreateUser on resource: arn:aws:iam::" + account + ":user/x because no identity-based policy allows the iam:CreateUser action"},
	})
}

func TestTrustFollowsARenamedUser(t *testing.T) {
	l := newLab(t)
	l.User(account, "ci", "")
	cfg := l.As(l.Key(account, "ci"))
	l.role("app", trusting("arn:aws:iam::"+account+":user/ci", ""))
	l.Must(l.iam().UpdateUser(t.Context(), &iam.UpdateUserInput{UserName: aws.String("ci"), NewUserName: aws.String("bot")}))
	l.User(account, "ci", "")
	if _, err := assume(t, cfg, "app", nil); err != nil {
		t.Errorf("the renamed user is not trusted any more: %v", err)
	}
	if _, err := assume(t, l.As(l.Key(account, "ci")), "app", nil); !strings.HasPrefix(awstest.Refusal(nil, err), "AccessDenied: ") {
		t.Errorf("a new user under the old name is answered %q", awstest.Refusal(nil, err))
	}
}
