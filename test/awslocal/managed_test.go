package awslocal_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	allowListRoles = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:ListRoles","Resource":"*"}}`
	denyListRoles  = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"iam:ListRoles","Resource":"*"}]}`
)

// managed makes a managed policy.
func (l *lab) managed(name, document string) string {
	l.t.Helper()
	made := must.Get(l.iam().CreatePolicy(l.t.Context(), &iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: &document}))(l.t)
	return *made.Policy.Arn
}

func (l *lab) attach(role, policy string) {
	l.t.Helper()
	l.Must(l.iam().AttachRolePolicy(l.t.Context(), &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: &policy}))
}

// session is a client of a session of a role, which this makes anew.
func (l *lab) session(role string) *iam.Client {
	l.t.Helper()
	l.role(role, trusting("arn:aws:iam::"+account+":root", ""))
	got := must.Get(assume(l.t, l.administrator(account), role, nil))(l.t)
	return iam.NewFromConfig(l.as(got.Credentials))
}

func listRoles(t *testing.T, client *iam.Client) string {
	_, err := client.ListRoles(t.Context(), &iam.ListRolesInput{})
	return awstest.Refusal(nil, err)
}

func TestAttachedPoliciesCountFromTheNextRequestOn(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	session := l.session("app")
	arn := l.managed("list", allowListRoles)
	expect := func(when, want string) {
		t.Helper()
		if got := listRoles(t, session); !strings.HasSuffix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: answer %q, want %q", when, got, want)
		}
	}
	expect("without a policy", "because no identity-based policy allows the iam:ListRoles action")
	l.attach("app", arn)
	l.attach("app", arn)
	expect("with the policy attached", "")
	l.Must(client.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{PolicyArn: &arn, PolicyDocument: aws.String(denyListRoles)}))
	expect("with a version that is not the default", "")
	l.Must(client.SetDefaultPolicyVersion(t.Context(), &iam.SetDefaultPolicyVersionInput{PolicyArn: &arn, VersionId: aws.String("v2")}))
	expect("with that version as default", "with an explicit deny in an identity-based policy")
	l.Must(client.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: aws.String("app"), PolicyArn: &arn}))
	l.attach("app", "arn:aws:iam::aws:policy/AdministratorAccess")
	expect("with AWS's own policy", "")
	list, err := client.ListAttachedRolePolicies(t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("app")})
	if err != nil || len(list.AttachedPolicies) != 1 || *list.AttachedPolicies[0].PolicyName != "AdministratorAccess" {
		t.Errorf("attached are %+v, error %v", list, err)
	}
}

func TestPolicyVersions(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	arn := l.managed("list", allowListRoles)
	for range 4 {
		l.Must(client.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{
			PolicyArn: &arn, PolicyDocument: aws.String(denyListRoles), SetAsDefault: true,
		}))
	}
	versions, pages := []string{}, 0
	pager := iam.NewListPolicyVersionsPaginator(client, &iam.ListPolicyVersionsInput{PolicyArn: &arn, MaxItems: aws.Int32(2)})
	for pager.HasMorePages() {
		page := must.Get(pager.NextPage(t.Context()))(t)
		pages++
		for _, version := range page.Versions {
			versions = append(versions, fmt.Sprint(*version.VersionId, version.IsDefaultVersion))
		}
	}
	if diff := cmp.Diff([]string{"v5true", "v4false", "v3false", "v2false", "v1false"}, versions); diff != "" || pages != 3 {
		t.Errorf("%d pages, 3 were expected; %s", pages, diff)
	}
	got := must.Get(client.GetPolicyVersion(t.Context(), &iam.GetPolicyVersionInput{PolicyArn: &arn, VersionId: aws.String("v1")}))(t)
	if text, err := url.QueryUnescape(*got.PolicyVersion.Document); err != nil || text != allowListRoles {
		t.Errorf("the first version reads %s, error %v", text, err)
	}
	version := func(id string) string {
		return awstest.Refusal(client.DeletePolicyVersion(t.Context(), &iam.DeletePolicyVersionInput{PolicyArn: &arn, VersionId: &id}))
	}
	checkRefusals(t, map[string]refused{
		"a sixth version": {awstest.Refusal(client.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{
			PolicyArn: &arn, PolicyDocument: aws.String(allowListRoles),
		})), "LimitExceeded: A managed policy can have up to 5 versions."},
		"deleting the default version":        {version("v5"), "DeleteConflict: Cannot delete the default version of a policy."},
		"deleting a version that is not here": {version("v6"), "NoSuchEntity: Policy " + arn + " version v6 does not exist or is not attachable."},
		"deleting a policy with versions": {awstest.Refusal(client.DeletePolicy(t.Context(), &iam.DeletePolicyInput{PolicyArn: &arn})),
			"DeleteConflict: This policy has more than one version."},
	})
	for _, id := range []string{"v1", "v2", "v3", "v4"} {
		if got := version(id); got != "" {
			t.Fatal(got)
		}
	}
	l.Must(client.DeletePolicy(t.Context(), &iam.DeletePolicyInput{PolicyArn: &arn}))
	if got, want := awstest.Refusal(client.GetPolicy(t.Context(), &iam.GetPolicyInput{
		PolicyArn: &arn,
	})), "NoSuchEntity: Policy "+arn+" was not found."; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

func TestPoliciesAndTheirHoldersAreListed(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.User(account, "ci", "")
	l.role("app", trusting("arn:aws:iam::"+account+":root", ""))
	first, second := l.managed("first", allowListRoles), l.managed("second", allowListRoles)
	l.attach("app", first)
	l.Must(client.AttachUserPolicy(t.Context(), &iam.AttachUserPolicyInput{UserName: aws.String("ci"), PolicyArn: &first}))
	l.Must(client.PutUserPermissionsBoundary(t.Context(), &iam.PutUserPermissionsBoundaryInput{
		UserName: aws.String("ci"), PermissionsBoundary: &second,
	}))
	names := func(change func(*iam.ListPoliciesInput)) string {
		t.Helper()
		input := &iam.ListPoliciesInput{MaxItems: aws.Int32(2)}
		change(input)
		all := []string{}
		pager := iam.NewListPoliciesPaginator(client, input)
		for pager.HasMorePages() {
			page := must.Get(pager.NextPage(t.Context()))(t)
			for _, policy := range page.Policies {
				all = append(all, fmt.Sprint(*policy.PolicyName, *policy.AttachmentCount, *policy.PermissionsBoundaryUsageCount))
			}
		}
		return strings.Join(all, " ")
	}
	for want, change := range map[string]func(*iam.ListPoliciesInput){
		"AdministratorAccess0 0 AmazonS3FullAccess0 0 AmazonS3ReadOnlyAccess0 0 first2 0 second0 1": func(*iam.ListPoliciesInput) {},
		"first2 0 second0 1": func(in *iam.ListPoliciesInput) { in.Scope = types.PolicyScopeTypeLocal },
		"first2 0":           func(in *iam.ListPoliciesInput) { in.OnlyAttached = true },
		"second0 1":          func(in *iam.ListPoliciesInput) { in.PolicyUsageFilter = types.PolicyUsageTypePermissionsBoundary },
	} {
		if got := names(change); got != want {
			t.Errorf("listed are %q, want %q", got, want)
		}
	}
	holders, err := client.ListEntitiesForPolicy(t.Context(), &iam.ListEntitiesForPolicyInput{PolicyArn: &first})
	if err != nil || len(holders.PolicyRoles) != 1 || len(holders.PolicyUsers) != 1 || *holders.PolicyRoles[0].RoleName != "app" || *holders.PolicyUsers[0].UserName != "ci" {
		t.Errorf("the policy's holders are %+v, error %v", holders, err)
	}
}

func TestIAMRefusesManagedPolicies(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.role("app", trusting("arn:aws:iam::"+account+":root", ""))
	l.role("full", trusting("arn:aws:iam::"+account+":root", ""))
	arn := l.managed("list", allowListRoles)
	l.attach("app", arn)
	for i := range 10 {
		l.attach("full", l.managed(fmt.Sprintf("p-%d", i), allowListRoles))
	}
	create := func(name, document string) string {
		return awstest.Refusal(client.CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: &document}))
	}
	attach := func(role, policy string) string {
		return awstest.Refusal(client.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: &policy}))
	}
	remove := func(policy string) string {
		return awstest.Refusal(client.DeletePolicy(t.Context(), &iam.DeletePolicyInput{PolicyArn: &policy}))
	}
	checkRefusals(t, map[string]refused{
		"a name that differs in case only": {create("LIST", allowListRoles), "EntityAlreadyExists: A policy called LIST already exists. Duplicate names are not allowed."},
		"a policy of the old version":      {create("x", strings.Replace(allowListRoles, "2012-10-17", "2008-10-17", 1)), "MalformedPolicyDocument: Policy document must be version 2012-10-17 or greater."},
		"a policy that is too long":        {create("x", strings.Replace(allowListRoles, `"*"`, `"arn:aws:s3:::`+strings.Repeat("a", 6144)+`"`, 1)), "LimitExceeded: Cannot exceed quota for PolicySize: 6144"},
		"attaching what is not there":      {attach("app", arn+"x"), "NoSuchEntity: Policy " + arn + "x does not exist or is not attachable."},
		"attaching to nobody":              {attach("none", arn), "NoSuchEntity: The role with name none cannot be found."},
		"attaching what is no policy":      {attach("app", "arn:aws:iam::"+account+":role/app"), "InvalidInput: ARN arn:aws:iam::" + account + ":role/app is not valid."},
		"attaching an eleventh":            {attach("full", arn), "LimitExceeded: Cannot exceed quota for PoliciesPerRole: 10"},
		"detaching what is not attached": {awstest.Refusal(client.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{
			RoleName: aws.String("full"), PolicyArn: &arn,
		})), "NoSuchEntity: Policy " + arn + " was not found."},
		"deleting a policy that is attached": {remove(arn), "DeleteConflict: Cannot delete a policy attached to entities."},
		"deleting a policy of AWS":           {remove("arn:aws:iam::aws:policy/AdministratorAccess"), "AccessDenied: "},
		"deleting a role with a policy": {awstest.Refusal(client.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("app")})),
			"DeleteConflict: Cannot delete entity, must detach all policies first."},
		"a boundary that is no policy": {awstest.Refusal(client.PutRolePermissionsBoundary(t.Context(), &iam.PutRolePermissionsBoundaryInput{
			RoleName: aws.String("app"), PermissionsBoundary: aws.String("arn:aws:iam::" + account + ":role/app"),
		})), "InvalidInput: Value (arn:aws:iam::" + account + ":role/app) for parameter PermissionsBoundary is invalid."},
	})
}

func TestBoundaryLimitsSessions(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	session := l.session("app")
	l.policy("app", allowIAM)
	boundary := l.managed("boundary", strings.Replace(allowListRoles, "ListRoles", "GetRole", 1))
	put := func(client *iam.Client, arn string) error {
		_, err := client.PutRolePermissionsBoundary(t.Context(), &iam.PutRolePermissionsBoundaryInput{RoleName: aws.String("app"), PermissionsBoundary: &arn})
		return err
	}
	l.Must(nil, put(client, boundary))
	if got := listRoles(t, session); !strings.HasSuffix(got, "because no permissions boundary allows the iam:ListRoles action") {
		t.Errorf("within the boundary the answer is %q", got)
	}
	got := must.Get(session.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")}))(t)
	if shown := got.Role.PermissionsBoundary; shown == nil || *shown.PermissionsBoundaryArn != boundary {
		t.Errorf("the role shows the boundary %+v", shown)
	}
	if _, err := client.DeletePolicy(t.Context(), &iam.DeletePolicyInput{
		PolicyArn: &boundary,
	}); !strings.HasPrefix(awstest.Refusal(nil, err), "DeleteConflict: ") {
		t.Errorf("deleting the boundary's policy answers %q", awstest.Refusal(nil, err))
	}
	l.Must(client.DeleteRolePermissionsBoundary(t.Context(), &iam.DeleteRolePermissionsBoundaryInput{RoleName: aws.String("app")}))
	if got := listRoles(t, session); got != "" {
		t.Errorf("without the boundary the answer is %q", got)
	}
}

// TestDelegationByBoundary plays the usual way to let somebody make roles: only
// with a boundary.
func TestDelegationByBoundary(t *testing.T) {
	l := newLab(t)
	boundary := l.managed("boundary", allowListRoles)
	session := l.session("maker")
	l.policy("maker", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["iam:CreateRole","iam:AttachRolePolicy"],"Resource":"*","Condition":{"StringEquals":{"iam:PermissionsBoundary":"`+boundary+`"}}}}`)
	create := func(boundary *string) string {
		_, err := session.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("made"), AssumeRolePolicyDocument: aws.String(trusting("arn:aws:iam::"+account+":root", "")), PermissionsBoundary: boundary})
		return awstest.Refusal(nil, err)
	}
	if got := create(nil); !strings.HasPrefix(got, "AccessDenied: ") {
		t.Errorf("a role without boundary is answered %q", got)
	}
	if got := create(&boundary); got != "" {
		t.Errorf("a role with the boundary is answered %q", got)
	}
	attach := func(role string) string {
		_, err := session.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: aws.String("arn:aws:iam::aws:policy/AdministratorAccess")})
		return awstest.Refusal(nil, err)
	}
	if got := attach("made"); got != "" {
		t.Errorf("attaching to a role with the boundary is answered %q", got)
	}
	if got := attach("maker"); !strings.HasPrefix(got, "AccessDenied: ") {
		t.Errorf("attaching to a role without boundary is answered %q", got)
	}
}
