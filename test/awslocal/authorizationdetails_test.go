package awslocal_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// decode undoes the encoding of a policy (RFC 3986: no other characters stay).
func decode(t *testing.T, document *string) {
	t.Helper()
	plain, err := url.PathUnescape(*document)
	if err != nil || !regexp.MustCompile(`^[A-Za-z0-9%._~-]+$`).MatchString(*document) {
		t.Errorf("the policy is not encoded: %s", *document)
	}
	*document = plain
}

func TestAuthorizationDetailsShowWhatDecidesOnRights(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	trust, limit := trusting("arn:aws:iam::"+account+":root", ""), l.managed("limit", allowIAM)
	l.Must(client.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("App"), Path: aws.String("/team/"), AssumeRolePolicyDocument: &trust, PermissionsBoundary: &limit,
		MaxSessionDuration: aws.Int32(7200), Description: aws.String("an app"),
		Tags: []types.Tag{{Key: aws.String("owner"), Value: aws.String("a + b")}},
	}))
	l.policy("App", allowAll)
	administrators := "arn:aws:iam::aws:policy/AdministratorAccess"
	l.Must(client.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: aws.String("App"), PolicyArn: &administrators}))
	l.Must(client.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{PolicyArn: &limit, PolicyDocument: aws.String(allowListRoles), SetAsDefault: true}))
	name := must.Get(client.ListRolePolicies(t.Context(), &iam.ListRolePoliciesInput{RoleName: aws.String("App")}))(t).PolicyNames[0]

	got := must.Get(client.GetAccountAuthorizationDetails(t.Context(), &iam.GetAccountAuthorizationDetailsInput{}))(t)
	decode(t, got.RoleDetailList[0].AssumeRolePolicyDocument)
	decode(t, got.RoleDetailList[0].RolePolicyList[0].PolicyDocument)
	for _, version := range got.Policies[0].PolicyVersionList {
		decode(t, version.Document)
	}
	ignore := cmpopts.IgnoreFields
	options := cmp.Options{
		cmpopts.EquateEmpty(),
		ignore(types.RoleDetail{}, "RoleId", "CreateDate"), ignore(types.ManagedPolicyDetail{}, "PolicyId", "CreateDate", "UpdateDate"),
		ignore(types.PolicyVersion{}, "CreateDate"),
		cmpopts.IgnoreUnexported(types.RoleDetail{}, types.Tag{}, types.PolicyDetail{}, types.AttachedPolicy{}, types.RoleLastUsed{},
			types.AttachedPermissionsBoundary{}, types.ManagedPolicyDetail{}, types.PolicyVersion{}),
	}
	role := types.RoleDetail{
		Path: aws.String("/team/"), RoleName: aws.String("App"), Arn: aws.String("arn:aws:iam::" + account + ":role/team/App"),
		AssumeRolePolicyDocument: aws.String(trust),
		RolePolicyList:           []types.PolicyDetail{{PolicyName: &name, PolicyDocument: aws.String(allowAll)}},
		AttachedManagedPolicies:  []types.AttachedPolicy{{PolicyName: aws.String("AdministratorAccess"), PolicyArn: &administrators}},
		PermissionsBoundary:      &types.AttachedPermissionsBoundary{PermissionsBoundaryType: "PermissionsBoundaryPolicy", PermissionsBoundaryArn: &limit},
		Tags:                     []types.Tag{{Key: aws.String("owner"), Value: aws.String("a + b")}},
		RoleLastUsed:             &types.RoleLastUsed{},
	}
	if diff := cmp.Diff([]types.RoleDetail{role}, got.RoleDetailList, options); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	policy := types.ManagedPolicyDetail{
		PolicyName: aws.String("limit"), Path: aws.String("/"), Arn: &limit, DefaultVersionId: aws.String("v2"),
		AttachmentCount: aws.Int32(0), PermissionsBoundaryUsageCount: aws.Int32(1), IsAttachable: true,
		PolicyVersionList: []types.PolicyVersion{
			{VersionId: aws.String("v2"), IsDefaultVersion: true, Document: aws.String(allowListRoles)},
			{VersionId: aws.String("v1"), Document: aws.String(allowIAM)},
		},
	}
	if diff := cmp.Diff(policy, got.Policies[0], options); diff != "" {
		t.Errorf("the account's policy (-want +got):\n%s", diff)
	}
	if len(got.Policies) != 2 || *got.Policies[1].Arn != administrators || *got.Policies[1].AttachmentCount != 1 {
		t.Errorf("of AWS's policies it shows not just the one in use: %v", names(got)[2:])
	}
	if len(got.UserDetailList) != 1 || *got.UserDetailList[0].UserName != "administrator" || len(got.UserDetailList[0].UserPolicyList) != 1 || len(got.GroupDetailList) != 0 {
		t.Errorf("users %v, groups %v", got.UserDetailList, got.GroupDetailList)
	}
	if got.IsTruncated || got.Marker != nil {
		t.Errorf("the list goes on at %v", got.Marker)
	}
}

// names are all that a page shows, in its order.
func names(page *iam.GetAccountAuthorizationDetailsOutput) []string {
	var all []string
	for i := range page.UserDetailList {
		all = append(all, "user "+*page.UserDetailList[i].UserName)
	}
	for i := range page.RoleDetailList {
		all = append(all, "role "+*page.RoleDetailList[i].RoleName)
	}
	for i := range page.Policies {
		all = append(all, "policy "+*page.Policies[i].PolicyName)
	}
	return all
}

// TestAuthorizationDetailsGoAcrossListsByOneMarker reads them in pages of each size,
// also where AWS ends its pages early.
func TestAuthorizationDetailsGoAcrossListsByOneMarker(t *testing.T) {
	l := newLab(t)
	l.managed("a", allowIAM)
	l.managed("z", allowIAM)
	for _, name := range []string{"b", "a", "c"} {
		l.role(name, trusting("arn:aws:iam::"+account+":root", ""))
	}
	everything := []string{"user administrator", "role a", "role b", "role c", "policy a", "policy z"}
	cases := map[string]struct {
		filter []types.EntityType
		want   []string
	}{
		"everything":         {nil, everything},
		"roles":              {[]types.EntityType{types.EntityTypeRole}, everything[1:4]},
		"groups":             {[]types.EntityType{types.EntityTypeGroup}, nil},
		"policies and users": {[]types.EntityType{types.EntityTypeLocalManagedPolicy, types.EntityTypeUser, types.EntityTypeAWSManagedPolicy}, []string{everything[0], everything[4], everything[5]}},
	}
	for name, c := range cases {
		for size := int32(1); size <= 7; size++ {
			for _, short := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " by ", size, ", short ", short), func(t *testing.T) {
					l.Admin().SetShortPages(awslocal.ShortPages{On: short, Seed: uint64(size)})
					defer l.Admin().SetShortPages(awslocal.ShortPages{})
					if got := allDetails(t, l, c.filter, size); !slices.Equal(got, c.want) {
						t.Errorf("got %q, want %q", got, c.want)
					}
				})
			}
		}
	}
}

func allDetails(t *testing.T, l *lab, filter []types.EntityType, size int32) []string {
	t.Helper()
	var all []string
	pages := iam.NewGetAccountAuthorizationDetailsPaginator(l.iam(), &iam.GetAccountAuthorizationDetailsInput{Filter: filter, MaxItems: &size})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(t.Context()))(t)
		if shown := names(page); len(shown) > int(size) {
			t.Errorf("a page of at most %d shows %q", size, shown)
		} else {
			all = append(all, shown...)
		}
	}
	return all
}

func TestAuthorizationDetailsAreRefused(t *testing.T) {
	l := newLab(t)
	ask := func(client *iam.Client, in iam.GetAccountAuthorizationDetailsInput) string {
		_, err := client.GetAccountAuthorizationDetails(t.Context(), &in)
		return awstest.Refusal(nil, err)
	}
	session := l.session("app")
	l.policy("app", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:*","Resource":"arn:aws:iam::`+account+`:*"}}`)
	checkRefusals(t, map[string]refused{
		"an unknown kind": {
			ask(l.iam(), iam.GetAccountAuthorizationDetailsInput{Filter: []types.EntityType{"Role", "Policy"}}),
			"ValidationError: 1 validation error detected: Value '[Role, Policy]' at 'filter' failed to satisfy constraint: Member must satisfy constraint: " +
				"[Member must satisfy enum value set: [User, Role, Group, LocalManagedPolicy, AWSManagedPolicy]]",
		},
		"a page of none": {
			ask(l.iam(), iam.GetAccountAuthorizationDetailsInput{MaxItems: aws.Int32(0)}),
			"ValidationError: 1 validation error detected: Value '0' at 'maxItems' failed to satisfy constraint: Member must have value greater than or equal to 1",
		},
		"a page that is too large": {
			ask(l.iam(), iam.GetAccountAuthorizationDetailsInput{MaxItems: aws.Int32(1001)}),
			"ValidationError: 1 validation error detected: Value '1001' at 'maxItems' failed to satisfy constraint: Member must have value less than or equal to 1000",
		},
		"a marker of nobody": {ask(l.iam(), iam.GetAccountAuthorizationDetailsInput{Marker: aws.String("x")}), "ValidationError: Invalid Marker."},
		"rights on everything in the account": {
			ask(session, iam.GetAccountAuthorizationDetailsInput{}),
			"AccessDenied: User: arn:aws:sts::" + account + ":assumed-role/app/session is not authorized to perform: iam:GetAccountAuthorizationDetails on resource: * " +
				"because no identity-based policy allows the iam:GetAccountAuthorizationDetails action",
		},
	})
}
