package awslocal_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awslocal"
)

// paged reads one of IAM's lists by the SDK's own paginator, with pages of two.
type paged func(context.Context, *iam.Client) ([]string, error)

// collect runs a paginator to its end.
func collect[Page any](ctx context.Context, more func() bool, next func(context.Context, ...func(*iam.Options)) (Page, error), names func(Page) []string) ([]string, error) {
	all := []string{}
	for more() {
		page, err := next(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, names(page)...)
	}
	return all, nil
}

// each returns one field of all items.
func each[Item any](items []Item, field func(Item) *string) []string {
	out := []string{}
	for _, item := range items {
		out = append(out, *field(item))
	}
	return out
}

var two = aws.Int32(2)

var pagedLists = map[string]paged{
	"ListRoles": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListRolesPaginator(c, &iam.ListRolesInput{MaxItems: two})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListRolesOutput) []string {
			return each(o.Roles, func(r types.Role) *string { return r.RoleName })
		})
	},
	"ListUsers": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListUsersPaginator(c, &iam.ListUsersInput{MaxItems: two, PathPrefix: aws.String("/p/")})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListUsersOutput) []string {
			return each(o.Users, func(u types.User) *string { return u.UserName })
		})
	},
	"ListPolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListPoliciesPaginator(c, &iam.ListPoliciesInput{MaxItems: two, Scope: types.PolicyScopeTypeLocal})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListPoliciesOutput) []string {
			return each(o.Policies, func(o types.Policy) *string { return o.PolicyName })
		})
	},
	"ListRolePolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListRolePoliciesPaginator(c, &iam.ListRolePoliciesInput{RoleName: aws.String("n0"), MaxItems: two})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListRolePoliciesOutput) []string { return o.PolicyNames })
	},
	"ListUserPolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListUserPoliciesPaginator(c, &iam.ListUserPoliciesInput{UserName: aws.String("n0"), MaxItems: two})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListUserPoliciesOutput) []string { return o.PolicyNames })
	},
	"ListAttachedRolePolicies": func(ctx context.Context, c *iam.Client) ([]string, error) {
		p := iam.NewListAttachedRolePoliciesPaginator(c, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String("n0"), MaxItems: two})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListAttachedRolePoliciesOutput) []string {
			return each(o.AttachedPolicies, func(a types.AttachedPolicy) *string { return a.PolicyName })
		})
	},
	"ListEntitiesForPolicy": func(ctx context.Context, c *iam.Client) ([]string, error) {
		arn := aws.String("arn:aws:iam::" + account + ":policy/n0")
		p := iam.NewListEntitiesForPolicyPaginator(c, &iam.ListEntitiesForPolicyInput{PolicyArn: arn, MaxItems: two})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListEntitiesForPolicyOutput) []string {
			return each(o.PolicyRoles, func(r types.PolicyRole) *string { return r.RoleName })
		})
	},
	"ListPolicyVersions": func(ctx context.Context, c *iam.Client) ([]string, error) {
		arn := aws.String("arn:aws:iam::" + account + ":policy/n0")
		p := iam.NewListPolicyVersionsPaginator(c, &iam.ListPolicyVersionsInput{PolicyArn: arn, MaxItems: two})
		return collect(ctx, p.HasMorePages, p.NextPage, func(o *iam.ListPolicyVersionsOutput) []string {
			return each(o.Versions, func(v types.PolicyVersion) *string { return v.VersionId })
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
			names = append(names, each(page.Tags, func(t types.Tag) *string { return t.Key })...)
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
	for i, name := range names {
		must(t, func() error {
			_, err := client.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust, Tags: tags})
			return err
		}, func() error {
			_, err := client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name, Path: aws.String("/p/")})
			return err
		}, func() error {
			_, err := client.CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: aws.String(listPolicy)})
			return err
		}, func() error {
			arn := fmt.Sprintf("arn:aws:iam::%s:policy/n0", account)
			_, err := client.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: &arn})
			return err
		}, func() error {
			arn := fmt.Sprintf("arn:aws:iam::%s:policy/%s", account, name)
			_, err := client.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: aws.String("n0"), PolicyArn: &arn})
			return err
		}, func() error {
			_, err := client.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: aws.String("n0"), PolicyName: &name, PolicyDocument: aws.String(listPolicy)})
			return err
		}, func() error {
			if i > 0 {
				return nil
			}
			for _, name := range names {
				if _, err := client.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{UserName: aws.String("n0"), PolicyName: &name, PolicyDocument: aws.String(listPolicy)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 4 {
		arn := aws.String("arn:aws:iam::" + account + ":policy/n0")
		if _, err := client.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{PolicyArn: arn, PolicyDocument: aws.String(listPolicy)}); err != nil {
			t.Fatal(err)
		}
	}
	for operation, list := range pagedLists {
		for _, short := range []bool{false, true} {
			l.server.Admin().SetShortPages(awslocal.ShortPages{On: short, Seed: 11})
			l.server.Admin().ClearJournal()
			want := names
			if operation == "ListPolicyVersions" {
				want = []string{"v5", "v4", "v3", "v2", "v1"}
			}
			got, err := list(t.Context(), client)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s with short pages %v shows %v (%v), want %v", operation, short, got, err, want)
			}
			if pages := len(l.server.Admin().Journal()); pages < 3 || !short && pages != 3 {
				t.Errorf("%s with short pages %v takes %d pages", operation, short, pages)
			}
		}
	}
	l.server.Admin().Reset()
	if l.server.Admin().ShortPages().On {
		t.Error("a reset leaves short pages on")
	}
}

func TestMarkersOfNobodysAreRefused(t *testing.T) {
	_, err := newLab(t).iam().ListRoles(t.Context(), &iam.ListRolesInput{Marker: aws.String("beginning")})
	if got := refusal(err); got != "ValidationError: Invalid Marker." {
		t.Errorf("answer %q", got)
	}
}
