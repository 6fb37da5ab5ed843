package awslocal_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// paged reads one of IAM's lists by the SDK's own paginator, with pages of two.
type paged func(context.Context, *iam.Client) ([]string, error)

// collect is what all pages of a list show.
func collect[Page any](ctx context.Context, list awstest.Paginator[Page, iam.Options], names func(Page) []string) ([]string, error) {
	pages, err := awstest.Pages(ctx, list, names)
	return slices.Concat(pages...), err
}

var two = aws.Int32(2)

var pagedLists = map[string]paged{
	"ListRoles": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListRolesPaginator(c, &iam.ListRolesInput{MaxItems: two})
		return collect(ctx, p, func(o *iam.ListRolesOutput) []string {
			return awstest.Each(o.Roles, func(r types.Role) *string { return r.RoleName })
		})
	},
	"ListUsers": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListUsersPaginator(c, &iam.ListUsersInput{MaxItems: two, PathPrefix: aws.String("/p/")})
		return collect(ctx, p, func(o *iam.ListUsersOutput) []string {
			return awstest.Each(o.Users, func(u types.User) *string { return u.UserName })
		})
	},
	"ListPolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListPoliciesPaginator(c, &iam.ListPoliciesInput{MaxItems: two, Scope: types.PolicyScopeTypeLocal})
		return collect(ctx, p, func(o *iam.ListPoliciesOutput) []string {
			return awstest.Each(o.Policies, func(o types.Policy) *string { return o.PolicyName })
		})
	},
	"ListRolePolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListRolePoliciesPaginator(c, &iam.ListRolePoliciesInput{RoleName: aws.String("n0"), MaxItems: two})
		return collect(ctx, p, func(o *iam.ListRolePoliciesOutput) []string { return o.PolicyNames })
	},
	"ListUserPolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListUserPoliciesPaginator(c, &iam.ListUserPoliciesInput{UserName: aws.String("n0"), MaxItems: two})
		return collect(ctx, p, func(o *iam.ListUserPoliciesOutput) []string { return o.PolicyNames })
	},
	"ListAttachedRolePolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListAttachedRolePoliciesPaginator(c, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("n0"), MaxItems: two})
		return collect(ctx, p, func(o *iam.ListAttachedRolePoliciesOutput) []string {
			return awstest.Each(o.AttachedPolicies, func(a types.AttachedPolicy) *string { return a.PolicyName })
		})
	},
	"ListEntitiesForPolicy": func(ctx context.Context, c *iam.Client) ([]string, error) {
		arn := aws.String("arn:aws:iam::" + account + ":policy/n0")
		p := iam.NewListEntitiesForPolicyPaginator(c, &iam.ListEntitiesForPolicyInput{PolicyArn: arn, MaxItems: two})
		return collect(ctx, p, func(o *iam.ListEntitiesForPolicyOutput) []string {
			return awstest.Each(o.PolicyRoles, func(r types.PolicyRole) *string { return r.RoleName })
		})
	},
	"ListPolicyVersions": func(ctx context.Context, c *iam.Client) ([]string, error) {
		arn := aws.String("arn:aws:iam::" + account + ":policy/n0")
		p := iam.NewListPolicyVersionsPaginator(c, &iam.ListPolicyVersionsInput{PolicyArn: arn, MaxItems: two})
		return collect(ctx, p, func(o *iam.ListPolicyVersionsOutput) []string {
			return awstest.Each(o.Versions, func(v types.PolicyVersion) *string { return v.VersionId })
		})
	},
	"ListRoleTags": func(ctx context.Context, c *iam.Client) ([]string, error) {
		names := []string{}
		input := &iam.ListRoleTagsInput{RoleName: aws.String("n0"), MaxItems: two}
		for { // the SDK has no paginator for it
			page, err := c.ListRoleTags(ctx, input)
			if err != nil {
				return nil, err
			}
			names = append(names, awstest.Each(page.Tags, func(t types.Tag) *string { return t.Key })...)
			if !page.IsTruncated {
				return names, nil
			}
			input.Marker = page.Marker
		}
	},
}

func TestListsComeInPagesOfAnyLength(t *testing.T) {
	l := newLab(t)
	client, names := l.iam(), []string{"n0", "n1", "n2", "n3", "n4"}
	trust := l.trust(l.provider())
	tags := []types.Tag{}
	for _, name := range names {
		tags = append(tags, types.Tag{Key: &name, Value: aws.String("v")})
	}
	arn := func(name string) *string { return aws.String("arn:aws:iam::" + account + ":policy/" + name) }
	for _, name := range names {
		l.Must(client.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust, Tags: tags}))
		l.Must(client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name, Path: aws.String("/p/")}))
		l.managed(name, listPolicy)
		l.attach(name, *arn("n0"))
		l.attach("n0", *arn(name))
		l.Must(client.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
			RoleName: aws.String("n0"), PolicyName: &name, PolicyDocument: aws.String(listPolicy),
		}))
	}
	for _, name := range names {
		l.Must(client.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{
			UserName: aws.String("n0"), PolicyName: &name, PolicyDocument: aws.String(listPolicy),
		}))
	}
	for range 4 {
		l.Must(client.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{PolicyArn: arn("n0"), PolicyDocument: aws.String(listPolicy)}))
	}
	for operation, list := range pagedLists {
		for _, short := range []bool{false, true} {
			l.Admin().SetShortPages(awslocal.ShortPages{On: short, Seed: 11})
			l.Admin().ClearJournal()
			want := names
			if operation == "ListPolicyVersions" {
				want = []string{"v5", "v4", "v3", "v2", "v1"}
			}
			got, err := list(t.Context(), client)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s with short pages %v shows %v (%v), want %v", operation, short, got, err, want)
			}
			if pages := len(l.Admin().Journal()); pages < 3 || !short && pages != 3 {
				t.Errorf("%s with short pages %v takes %d pages", operation, short, pages)
			}
		}
	}
	l.Admin().Reset()
	if l.Admin().ShortPages().On {
		t.Error("a reset leaves short pages on")
	}
}

func TestMarkersOfNobodysAreRefused(t *testing.T) {
	if got := awstest.Refusal(newLab(t).iam().ListRoles(t.Context(), &iam.ListRolesInput{
		Marker: aws.String("beginning"),
	})); got != "ValidationError: Invalid Marker." {
		t.Errorf("answer %q", got)
	}
}
