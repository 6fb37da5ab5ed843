package awslocal_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// roleCall changes the role of a name, as whoever has the client.
type roleCall func(client *iam.Client, role string) string

// limitOf is the boundary that the calls give where they give one.
func limitOf(name string) string { return "arn:aws:iam::" + account + ":policy/" + name }

const readOnly = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"

// roleCalls are the operations that change roles. Those that make a role or set its
// boundary give the boundary "limit".
func roleCalls(t *testing.T) map[string]roleCall {
	ctx, trust := t.Context(), trusting("arn:aws:iam::"+account+":root", "")
	answer := func(_ any, err error) string { return awstest.Refusal(nil, err) }
	return map[string]roleCall{
		"CreateRole": func(c *iam.Client, role string) string {
			return answer(c.CreateRole(ctx, &iam.CreateRoleInput{
				RoleName: aws.String(role + "-new"), Path: aws.String("/tabard/"), AssumeRolePolicyDocument: &trust, PermissionsBoundary: aws.String(limitOf("limit")),
			}))
		},
		"PutRolePermissionsBoundary": func(c *iam.Client, role string) string {
			return answer(c.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &role, PermissionsBoundary: aws.String(limitOf("limit"))}))
		},
		"DeleteRolePermissionsBoundary": func(c *iam.Client, role string) string {
			return answer(c.DeleteRolePermissionsBoundary(ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: &role}))
		},
		"PutRolePolicy": func(c *iam.Client, role string) string {
			return answer(c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &role, PolicyName: aws.String("p"), PolicyDocument: aws.String(allowAll)}))
		},
		"DeleteRolePolicy": func(c *iam.Client, role string) string {
			return answer(c.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: aws.String("p")}))
		},
		"AttachRolePolicy": func(c *iam.Client, role string) string {
			return answer(c.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: aws.String(readOnly)}))
		},
		"DetachRolePolicy": func(c *iam.Client, role string) string {
			return answer(c.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: aws.String(readOnly)}))
		},
		"UpdateAssumeRolePolicy": func(c *iam.Client, role string) string {
			return answer(c.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &role, PolicyDocument: &trust}))
		},
		"UpdateRole": func(c *iam.Client, role string) string {
			return answer(c.UpdateRole(ctx, &iam.UpdateRoleInput{RoleName: &role, MaxSessionDuration: aws.Int32(7200)}))
		},
		"TagRole": func(c *iam.Client, role string) string {
			return answer(c.TagRole(ctx, &iam.TagRoleInput{RoleName: &role, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}}}))
		},
		"UntagRole": func(c *iam.Client, role string) string {
			return answer(c.UntagRole(ctx, &iam.UntagRoleInput{RoleName: &role, TagKeys: []string{"team"}}))
		},
		"DeleteRole": func(c *iam.Client, role string) string {
			return answer(c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &role}))
		},
	}
}

// boundaryConditioned are the operations for which AWS has the condition key
// iam:PermissionsBoundary (Service Authorization Reference: IAM), of those on roles.
var boundaryConditioned = []string{
	"CreateRole", "PutRolePermissionsBoundary", "DeleteRolePermissionsBoundary",
	"PutRolePolicy", "DeleteRolePolicy", "AttachRolePolicy", "DetachRolePolicy",
}

// subject makes the role /tabard/NAME with an inline and an attached policy, a tag and
// a boundary.
func (l *lab) subject(name, boundary string) {
	l.t.Helper()
	trust := trusting("arn:aws:iam::"+account+":root", "")
	l.Must(l.iam().CreateRole(l.t.Context(), &iam.CreateRoleInput{
		RoleName: &name, Path: aws.String("/tabard/"), AssumeRolePolicyDocument: &trust, PermissionsBoundary: &boundary,
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("a")}},
	}))
	l.Must(l.iam().PutRolePolicy(l.t.Context(), &iam.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("p"), PolicyDocument: aws.String(allowAll)}))
	l.Must(l.iam().AttachRolePolicy(l.t.Context(), &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: aws.String(readOnly)}))
}

// empty takes away what keeps a role from being deleted.
func (l *lab) empty(name string) {
	l.t.Helper()
	l.Must(l.iam().DeleteRolePolicy(l.t.Context(), &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: aws.String("p")}))
	l.Must(l.iam().DetachRolePolicy(l.t.Context(), &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: aws.String(readOnly)}))
}

// try makes one call on a fresh role by somebody with one policy, and says whether it
// was allowed.
func (l *lab) try(t *testing.T, document, boundary, operation string, call roleCall) bool {
	t.Helper()
	l.t = t
	l.Admin().Reset()
	l.managed("limit", allowAll)
	l.managed("other", allowAll)
	session := l.session("minter")
	l.policy("minter", document)
	l.subject("infra-a", limitOf(boundary))
	if operation == "DeleteRole" {
		l.empty("infra-a")
	}
	switch got := call(session, "infra-a"); {
	case got == "":
		return true
	case !strings.HasPrefix(got, "AccessDenied: User: "):
		t.Errorf("%s answers %s", operation, got)
	}
	return false
}

func allowing(operation, resource, condition string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:%s","Resource":"%s"%s}}`, operation, resource, condition)
}

func TestBoundaryIsAConditionWhereAWSHasIt(t *testing.T) {
	l := newLab(t)
	condition := `,"Condition":{"StringEquals":{"iam:PermissionsBoundary":"` + limitOf("limit") + `"}}`
	calls := roleCalls(t)
	for _, operation := range slices.Sorted(maps.Keys(calls)) {
		t.Run(operation, func(t *testing.T) {
			document := allowing(operation, "*", condition)
			sees := slices.Contains(boundaryConditioned, operation)
			if got := l.try(t, document, "limit", operation, calls[operation]); got != sees {
				t.Errorf("with the boundary that the condition names, allowed is %t, want %t", got, sees)
			}
			// Who sets a boundary is asked for the one that is set, not for the one
			// that there was.
			sets := operation == "CreateRole" || operation == "PutRolePermissionsBoundary"
			if got := l.try(t, document, "other", operation, calls[operation]); got != sets {
				t.Errorf("on a role with another boundary, allowed is %t, want %t", got, sets)
			}
			other := strings.Replace(document, limitOf("limit"), limitOf("other"), 1)
			if sets && l.try(t, other, "other", operation, calls[operation]) {
				t.Error("a boundary that the condition does not name is allowed")
			}
		})
	}
}

func TestConditionsAndPathsOfRoles(t *testing.T) {
	l := newLab(t)
	in := "arn:aws:iam::" + account + ":role/tabard/infra-*"
	equals := func(key, value string) string {
		return `,"Condition":{"StringEquals":{"` + key + `":"` + value + `"}}`
	}
	cases := map[string]struct {
		resource, condition string
		// operations are those of which the answer is asked; nil is all.
		operations []string
		want       bool
	}{
		"the role's own path":                     {in, "", nil, true},
		"the role's name without its path":        {"arn:aws:iam::" + account + ":role/infra-*", "", nil, false},
		"another path":                            {"arn:aws:iam::" + account + ":role/other/infra-*", "", nil, false},
		"another name in the path":                {"arn:aws:iam::" + account + ":role/tabard/b-*", "", nil, false},
		"the tag of the role":                     {in, equals("aws:ResourceTag/team", "a"), []string{"PutRolePolicy", "DeleteRole", "TagRole", "UntagRole", "UpdateRole"}, true},
		"another value of the role's tag":         {in, equals("aws:ResourceTag/team", "b"), nil, false},
		"the tag of the role by IAM's own key":    {in, equals("iam:ResourceTag/team", "a"), []string{"AttachRolePolicy", "UpdateAssumeRolePolicy"}, true},
		"another value by IAM's own key":          {in, equals("iam:ResourceTag/team", "b"), nil, false},
		"a new role has no tag yet":               {in, equals("aws:ResourceTag/team", "a"), []string{"CreateRole"}, false},
		"the tag that is set":                     {in, equals("aws:RequestTag/team", "a"), []string{"TagRole"}, true},
		"another value of the tag that is set":    {in, equals("aws:RequestTag/team", "b"), []string{"TagRole"}, false},
		"the keys of the tags":                    {in, `,"Condition":{"ForAllValues:StringEquals":{"aws:TagKeys":["team"]},"Null":{"aws:TagKeys":"false"}}`, []string{"TagRole", "UntagRole"}, true},
		"other keys of the tags":                  {in, `,"Condition":{"ForAnyValue:StringEquals":{"aws:TagKeys":["owner"]}}`, []string{"TagRole", "UntagRole"}, false},
		"the policy that is attached or detached": {in, `,"Condition":{"ArnEquals":{"iam:PolicyARN":"` + readOnly + `"}}`, []string{"AttachRolePolicy", "DetachRolePolicy"}, true},
		"another attached policy":                 {in, `,"Condition":{"ArnEquals":{"iam:PolicyARN":"` + limitOf("limit") + `"}}`, nil, false},
	}
	calls := roleCalls(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			operations := c.operations
			if operations == nil {
				operations = slices.Sorted(maps.Keys(calls))
			}
			for _, operation := range operations {
				if got := l.try(t, allowing(operation, c.resource, c.condition), "limit", operation, calls[operation]); got != c.want {
					t.Errorf("%s: allowed is %t, want %t", operation, got, c.want)
				}
			}
		})
	}
}

// TestAbsentRoleHasNoPath has somebody with rights in one path ask for a role that is
// not there: IAM cannot know its path.
func TestAbsentRoleHasNoPath(t *testing.T) {
	l := newLab(t)
	session := l.session("minter")
	get := func(resource string) string {
		l.policy("minter", allowing("GetRole", "arn:aws:iam::"+account+":role/"+resource, ""))
		_, err := session.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("infra-a")})
		return awstest.Refusal(nil, err)
	}
	if got := get("tabard/infra-*"); !strings.HasPrefix(got, "AccessDenied: ") {
		t.Errorf("with rights in a path it answers %q", got)
	}
	if got := get("infra-*"); !strings.HasPrefix(got, "NoSuchEntity: ") {
		t.Errorf("with rights on the name it answers %q", got)
	}
}

// TestBoundaryOfAMintedRoleBindsItsSession gives a role in a path everything, within a
// boundary for one thing.
func TestBoundaryOfAMintedRoleBindsItsSession(t *testing.T) {
	l := newLab(t)
	boundary, trust := l.managed("limit", allowListRoles), trusting("arn:aws:iam::"+account+":root", "")
	l.Must(l.iam().CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("infra-a"), Path: aws.String("/tabard/"), AssumeRolePolicyDocument: &trust, PermissionsBoundary: &boundary,
	}))
	l.policy("infra-a", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`)
	got, err := assume(t, l.administrator(account), "tabard/infra-a", nil)
	l.Must(nil, err)
	session := iam.NewFromConfig(l.as(got.Credentials))
	if refusal := listRoles(t, session); refusal != "" {
		t.Errorf("what policy and boundary allow is answered %q", refusal)
	}
	_, err = session.ListUsers(t.Context(), &iam.ListUsersInput{})
	if refusal := awstest.Refusal(nil, err); !strings.HasSuffix(refusal, "because no permissions boundary allows the iam:ListUsers action") {
		t.Errorf("what the policy alone allows is answered %q", refusal)
	}
}
