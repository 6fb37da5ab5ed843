package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// pageOf is the size of the pages of three items.
var pageOf = aws.Int32(2)

// tags has one tag of a key.
func tags(key string) []types.Tag { return []types.Tag{{Key: &key, Value: aws.String("a")}} }

func tagKey(t types.Tag) *string { return t.Key }

var roleRows = []row{{
	operation: "CreateRole",
	call: func(w *world) error {
		return errorOf(w.iam.CreateRole(w.ctx, &iam.CreateRoleInput{RoleName: &w.role, AssumeRolePolicyDocument: aws.String(w.trust())}))
	},
	again: "EntityAlreadyExists",
}, {
	operation: "GetRole",
	needs:     []string{"CreateRole"},
	call:      func(w *world) error { return errorOf(w.iam.GetRole(w.ctx, &iam.GetRoleInput{RoleName: &w.role})) },
	absent:    "NoSuchEntity",
}, {
	operation: "ListRoles",
	call:      func(w *world) error { return errorOf(w.iam.ListRoles(w.ctx, &iam.ListRolesInput{})) },
	fill:      func(w *world, name string) error { w.role = name; return w.run("iam/CreateRole") },
	pages: func(w *world) ([]string, error) {
		return shown(w, iam.NewListRolesPaginator(w.iam, &iam.ListRolesInput{MaxItems: pageOf}), func(p *iam.ListRolesOutput) []string {
			return texts(p.Roles, func(r types.Role) *string { return r.RoleName })
		})
	},
}, {
	operation: "UpdateRole",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.UpdateRole(w.ctx, &iam.UpdateRoleInput{RoleName: &w.role, MaxSessionDuration: aws.Int32(7200)}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "UpdateAssumeRolePolicy",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.UpdateAssumeRolePolicy(w.ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &w.role, PolicyDocument: aws.String(w.trust())}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "DeleteRole",
	needs:     []string{"CreateRole"},
	call:      func(w *world) error { return errorOf(w.iam.DeleteRole(w.ctx, &iam.DeleteRoleInput{RoleName: &w.role})) },
	absent:    "NoSuchEntity",
	again:     "NoSuchEntity",
}, {
	operation: "PutRolePolicy",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.PutRolePolicy(w.ctx, &iam.PutRolePolicyInput{RoleName: &w.role, PolicyName: &w.inline, PolicyDocument: aws.String(readDocuments)}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "GetRolePolicy",
	needs:     []string{"PutRolePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.GetRolePolicy(w.ctx, &iam.GetRolePolicyInput{RoleName: &w.role, PolicyName: &w.inline}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "ListRolePolicies",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.ListRolePolicies(w.ctx, &iam.ListRolePoliciesInput{RoleName: &w.role}))
	},
	absent: "NoSuchEntity",
	fill:   func(w *world, name string) error { w.inline = name; return w.run("iam/PutRolePolicy") },
	pages: func(w *world) ([]string, error) {
		in := &iam.ListRolePoliciesInput{RoleName: &w.role, MaxItems: pageOf}
		return shown(w, iam.NewListRolePoliciesPaginator(w.iam, in), func(p *iam.ListRolePoliciesOutput) []string { return p.PolicyNames })
	},
}, {
	operation: "DeleteRolePolicy",
	needs:     []string{"PutRolePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.DeleteRolePolicy(w.ctx, &iam.DeleteRolePolicyInput{RoleName: &w.role, PolicyName: &w.inline}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "AttachRolePolicy",
	needs:     []string{"CreateRole", "CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.AttachRolePolicy(w.ctx, &iam.AttachRolePolicyInput{RoleName: &w.role, PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "DetachRolePolicy",
	needs:     []string{"AttachRolePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.DetachRolePolicy(w.ctx, &iam.DetachRolePolicyInput{RoleName: &w.role, PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "ListAttachedRolePolicies",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.ListAttachedRolePolicies(w.ctx, &iam.ListAttachedRolePoliciesInput{RoleName: &w.role}))
	},
	absent: "NoSuchEntity",
	fill: func(w *world, name string) error {
		w.policy = name
		return w.run("iam/CreatePolicy", "iam/AttachRolePolicy")
	},
	pages: func(w *world) ([]string, error) {
		in := &iam.ListAttachedRolePoliciesInput{RoleName: &w.role, MaxItems: pageOf}
		return shown(w, iam.NewListAttachedRolePoliciesPaginator(w.iam, in), func(p *iam.ListAttachedRolePoliciesOutput) []string {
			return texts(p.AttachedPolicies, func(a types.AttachedPolicy) *string { return a.PolicyName })
		})
	},
}, {
	operation: "PutRolePermissionsBoundary",
	needs:     []string{"CreateRole", "CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.PutRolePermissionsBoundary(w.ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &w.role, PermissionsBoundary: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "DeleteRolePermissionsBoundary",
	needs:     []string{"PutRolePermissionsBoundary"},
	call: func(w *world) error {
		return errorOf(w.iam.DeleteRolePermissionsBoundary(w.ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: &w.role}))
	},
	except: map[string]string{"CreateRole": "NoSuchEntity"},
}, {
	operation: "TagRole",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.TagRole(w.ctx, &iam.TagRoleInput{RoleName: &w.role, Tags: tags(w.tag)}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "UntagRole",
	needs:     []string{"TagRole"},
	call: func(w *world) error {
		return errorOf(w.iam.UntagRole(w.ctx, &iam.UntagRoleInput{RoleName: &w.role, TagKeys: []string{w.tag}}))
	},
	except: map[string]string{"CreateRole": "NoSuchEntity"},
}, {
	operation: "ListRoleTags",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.ListRoleTags(w.ctx, &iam.ListRoleTagsInput{RoleName: &w.role}))
	},
	absent: "NoSuchEntity",
	fill:   func(w *world, name string) error { w.tag = name; return w.run("iam/TagRole") },
	pages: func(w *world) ([]string, error) {
		in := &iam.ListRoleTagsInput{RoleName: &w.role, MaxItems: pageOf}
		return shown(w, iam.NewListRoleTagsPaginator(w.iam, in), func(p *iam.ListRoleTagsOutput) []string { return texts(p.Tags, tagKey) })
	},
}, {
	operation: "ListInstanceProfilesForRole",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		return errorOf(w.iam.ListInstanceProfilesForRole(w.ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: &w.role}))
	},
	absent: "NoSuchEntity",
	whole:  "there are no instance profiles",
}}
