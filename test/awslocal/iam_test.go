package awslocal_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const allowAll = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}}`

// allowObject is a policy on a bucket with a name of that many characters.
func allowObject(length int) string {
	return strings.Replace(allowAll, `"*"`, `"arn:aws:s3:::`+strings.Repeat("a", length)+`"`, 1)
}

func TestRoleIsReadAsItWasWritten(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	trust := trusting("arn:aws:iam::"+account+":root", "")
	l.Must(client.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("App"), Path: aws.String("/team/"), Description: aws.String("für alle"), MaxSessionDuration: aws.Int32(7200),
		AssumeRolePolicyDocument: aws.String(trust), Tags: []types.Tag{{Key: aws.String("owner"), Value: aws.String("tabard")}},
	}))
	got := must.Get(client.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")}))(t)
	want := &types.Role{
		RoleName: aws.String("App"), Path: aws.String("/team/"), Arn: aws.String("arn:aws:iam::" + account + ":role/team/App"),
		Description: aws.String("für alle"), MaxSessionDuration: aws.Int32(7200), AssumeRolePolicyDocument: aws.String(url.PathEscape(trust)),
		Tags:         []types.Tag{{Key: aws.String("owner"), Value: aws.String("tabard")}},
		RoleLastUsed: &types.RoleLastUsed{},
	}
	plain := cmp.Transformer("policy", func(text string) string { decoded, _ := url.QueryUnescape(text); return decoded })
	ignore := cmpopts.IgnoreFields(types.Role{}, "RoleId", "CreateDate")
	unexported := cmpopts.IgnoreUnexported(types.Role{}, types.RoleLastUsed{}, types.Tag{})
	atPolicy := cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.String(), "AssumeRolePolicyDocument") }, plain)
	if diff := cmp.Diff(want, got.Role, ignore, unexported, atPolicy); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(*got.Role.RoleId, "AROA") || got.Role.CreateDate == nil {
		t.Errorf("the role has ID %s and date %v", *got.Role.RoleId, got.Role.CreateDate)
	}
}

func TestIAMRefusesRoles(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	trust := trusting("arn:aws:iam::"+account+":root", "")
	l.role("app", trust)
	l.policy("app", allowAll)
	create := func(change func(*iam.CreateRoleInput)) string {
		input := &iam.CreateRoleInput{RoleName: aws.String("new"), AssumeRolePolicyDocument: aws.String(trust)}
		change(input)
		return awstest.Refusal(client.CreateRole(t.Context(), input))
	}
	cases := map[string]refused{
		"a name that differs in case only": {create(func(in *iam.CreateRoleInput) { in.RoleName = aws.String("APP") }), "EntityAlreadyExists: Role with name APP already exists."},
		"a name with a slash":              {create(func(in *iam.CreateRoleInput) { in.RoleName = aws.String("a/b") }), "ValidationError: The specified value for roleName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-"},
		"a name that is too long":          {create(func(in *iam.CreateRoleInput) { in.RoleName = aws.String(strings.Repeat("a", 65)) }), "ValidationError: 1 validation error detected: Value '" + strings.Repeat("a", 65) + "' at 'roleName' failed to satisfy constraint: Member must have length less than or equal to 64"},
		"a path without slashes":           {create(func(in *iam.CreateRoleInput) { in.Path = aws.String("team") }), "ValidationError: The specified value for path is invalid."},
		"a trust that is no JSON":          {create(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = aws.String("{") }), "MalformedPolicyDocument: This policy contains invalid Json"},
		"a trust with a resource":          {create(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = aws.String(allowAll) }), "MalformedPolicyDocument: "},
		"a trust that is too long":         {create(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = aws.String(strings.Repeat("x", 2049)) }), "LimitExceeded: Cannot exceed quota for ACLSizePerRole: 2048"},
		"a boundary that does not exist":   {create(func(in *iam.CreateRoleInput) { in.PermissionsBoundary = aws.String("arn:aws:iam::aws:policy/x/y/z") }), "NoSuchEntity: Scope ARN: arn:aws:iam::aws:policy/x/y/z does not exist or is not attachable."},
		"a tag twice": {create(func(in *iam.CreateRoleInput) {
			in.Tags = []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("A"), Value: aws.String("2")}}
		}), "InvalidInput: Duplicate tag keys found. Please note that Tag keys are case insensitive."},
		"reading a role that is not there": {awstest.Refusal(client.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("none")})),
			"NoSuchEntity: The role with name none cannot be found."},
		"deleting a role with a policy": {awstest.Refusal(client.DeleteRole(t.Context(), &iam.DeleteRoleInput{
			RoleName: aws.String("app"),
		})), "DeleteConflict: Cannot delete entity, must delete policies first."},
		"reading a policy that is not there": {awstest.Refusal(client.GetRolePolicy(t.Context(), &iam.GetRolePolicyInput{
			RoleName: aws.String("app"), PolicyName: aws.String("none"),
		})), "NoSuchEntity: The role policy with name none cannot be found."},
		"a role policy with a principal": {awstest.Refusal(client.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
			RoleName: aws.String("app"), PolicyName: aws.String("x"), PolicyDocument: aws.String(trust),
		})), "MalformedPolicyDocument: "},
		"role policies that are too long together": {awstest.Refusal(client.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
			RoleName: aws.String("app"), PolicyName: aws.String("x"), PolicyDocument: aws.String(allowObject(10200)),
		})), "LimitExceeded: Maximum policy size of 10240 bytes exceeded for role app"},
		"a marker of one's own": {awstest.Refusal(client.ListRoles(t.Context(), &iam.ListRolesInput{Marker: aws.String("???")})),
			"ValidationError: Invalid Marker."},
	}
	checkRefusals(t, cases)
}

func TestIAMRefusesProviders(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	provider := l.provider()
	register := func(url string, clients ...string) string {
		return awstest.Refusal(client.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
			Url: &url, ClientIDList: clients,
		}))
	}
	checkRefusals(t, map[string]refused{
		"a provider that exists":         {register(l.issuer.Issuer()), "EntityAlreadyExists: Provider with url " + l.issuer.Issuer() + " already exists."},
		"a provider over plain HTTP":     {register("http://issuer.example"), "InvalidInput: Invalid Open ID Connect Provider URL"},
		"a provider with a query":        {register("https://issuer.example/?a=b"), "InvalidInput: Invalid Open ID Connect Provider URL"},
		"a provider of too many clients": {register("https://issuer.example", strings.Split(strings.Repeat("x", 101), "")...), "LimitExceeded: Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: 100"},
		"a provider that is not there": {awstest.Refusal(client.DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: aws.String(provider + "x"),
		})), "NoSuchEntity: OpenIDConnect Provider not found for arn " + provider + "x"},
	})
}

// refused is an answer and the start of what it must be.
type refused struct{ got, want string }

func checkRefusals(t *testing.T, cases map[string]refused) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if !strings.HasPrefix(c.got, c.want) {
				t.Errorf("answer\n %s\nwant\n %s", c.got, c.want)
			}
		})
	}
}

func TestListsComeInPages(t *testing.T) {
	l := newLab(t)
	want := []string{}
	for i := range 7 {
		name := fmt.Sprintf("role-%d", i)
		l.role(name, trusting("arn:aws:iam::"+account+":root", ""))
		want = append(want, name)
	}
	pager := iam.NewListRolesPaginator(l.iam(), &iam.ListRolesInput{MaxItems: aws.Int32(3)})
	pages := must.Get(awstest.Pages(t.Context(), pager, func(o *iam.ListRolesOutput) []string {
		return awstest.Each(o.Roles, func(r types.Role) *string { return r.RoleName })
	}))(t)
	if diff := cmp.Diff(want, slices.Concat(pages...)); diff != "" || len(pages) != 3 {
		t.Errorf("%d pages, 3 were expected; %s", len(pages), diff)
	}
}

func TestProviderChanges(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	arn := l.provider()
	l.Must(client.AddClientIDToOpenIDConnectProvider(t.Context(), &iam.AddClientIDToOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &arn, ClientID: aws.String("vault"),
	}))
	l.Must(client.RemoveClientIDFromOpenIDConnectProvider(t.Context(), &iam.RemoveClientIDFromOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &arn, ClientID: aws.String(audience),
	}))
	l.Must(client.UpdateOpenIDConnectProviderThumbprint(t.Context(), &iam.UpdateOpenIDConnectProviderThumbprintInput{
		OpenIDConnectProviderArn: &arn, ThumbprintList: []string{strings.Repeat("AB", 20)},
	}))
	l.Must(client.TagOpenIDConnectProvider(t.Context(), &iam.TagOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &arn,
		Tags:                     []types.Tag{{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("2")}},
	}))
	l.Must(client.UntagOpenIDConnectProvider(t.Context(), &iam.UntagOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &arn, TagKeys: []string{"A"},
	}))
	got := must.Get(client.GetOpenIDConnectProvider(t.Context(), &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn}))(t)
	have := []string{*got.Url, strings.Join(got.ClientIDList, " "), strings.Join(got.ThumbprintList, " "), fmt.Sprint(len(got.Tags)), *got.Tags[0].Key}
	want := []string{strings.TrimPrefix(l.issuer.Issuer(), "https://"), "vault", strings.Repeat("ab", 20), "1", "b"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	list, err := client.ListOpenIDConnectProviders(t.Context(), &iam.ListOpenIDConnectProvidersInput{})
	if err != nil || len(list.OpenIDConnectProviderList) != 1 || *list.OpenIDConnectProviderList[0].Arn != arn {
		t.Errorf("the list is %+v, error %v", list, err)
	}
}

func TestEmptyAnswersOfWhatIsNotPlayed(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.role("app", trusting("arn:aws:iam::"+account+":root", ""))
	attached, err := client.ListAttachedRolePolicies(t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("app")})
	if err != nil || len(attached.AttachedPolicies) != 0 {
		t.Errorf("attached policies %v, error %v", attached, err)
	}
	profiles, err := client.ListInstanceProfilesForRole(t.Context(), &iam.ListInstanceProfilesForRoleInput{RoleName: aws.String("app")})
	if err != nil || len(profiles.InstanceProfiles) != 0 {
		t.Errorf("instance profiles %v, error %v", profiles, err)
	}
	user, err := client.GetUser(t.Context(), &iam.GetUserInput{})
	if err != nil || *user.User.UserName != "administrator" {
		t.Errorf("own user %v, error %v", user, err)
	}
	_, err = client.UpdateRole(t.Context(), &iam.UpdateRoleInput{RoleName: aws.String("app"), MaxSessionDuration: aws.Int32(7200)})
	if err != nil {
		t.Error(err)
	}
}
