package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

var userRows = []row{{
	operation: "CreateUser",
	call:      func(w *world) error { return errorOf(w.iam.CreateUser(w.ctx, &iam.CreateUserInput{UserName: &w.user})) },
	again:     "EntityAlreadyExists",
}, {
	operation: "GetUser",
	needs:     []string{"CreateUser"},
	call:      func(w *world) error { return errorOf(w.iam.GetUser(w.ctx, &iam.GetUserInput{UserName: &w.user})) },
	absent:    "NoSuchEntity",
}, {
	operation: "ListUsers",
	call:      func(w *world) error { return errorOf(w.iam.ListUsers(w.ctx, &iam.ListUsersInput{})) },
	fill:      func(w *world, name string) error { w.user = name; return w.run("iam/CreateUser") },
	pages: func(w *world) ([]string, error) {
		return shown(w, iam.NewListUsersPaginator(w.iam, &iam.ListUsersInput{MaxItems: pageOf}), func(p *iam.ListUsersOutput) []string {
			return texts(p.Users, func(u types.User) *string { return u.UserName })
		})
	},
}, {
	// The user has another name after the first call.
	operation: "UpdateUser",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		return errorOf(w.iam.UpdateUser(w.ctx, &iam.UpdateUserInput{UserName: &w.user, NewUserName: aws.String("berta")}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "DeleteUser",
	needs:     []string{"CreateUser"},
	call:      func(w *world) error { return errorOf(w.iam.DeleteUser(w.ctx, &iam.DeleteUserInput{UserName: &w.user})) },
	absent:    "NoSuchEntity",
	again:     "NoSuchEntity",
}, {
	operation: "PutUserPolicy",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		return errorOf(w.iam.PutUserPolicy(w.ctx, &iam.PutUserPolicyInput{UserName: &w.user, PolicyName: &w.inline, PolicyDocument: aws.String(readDocuments)}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "GetUserPolicy",
	needs:     []string{"PutUserPolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.GetUserPolicy(w.ctx, &iam.GetUserPolicyInput{UserName: &w.user, PolicyName: &w.inline}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "ListUserPolicies",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		return errorOf(w.iam.ListUserPolicies(w.ctx, &iam.ListUserPoliciesInput{UserName: &w.user}))
	},
	absent: "NoSuchEntity",
	fill:   func(w *world, name string) error { w.inline = name; return w.run("iam/PutUserPolicy") },
	pages: func(w *world) ([]string, error) {
		in := &iam.ListUserPoliciesInput{UserName: &w.user, MaxItems: pageOf}
		return shown(w, iam.NewListUserPoliciesPaginator(w.iam, in), func(p *iam.ListUserPoliciesOutput) []string { return p.PolicyNames })
	},
}, {
	operation: "DeleteUserPolicy",
	needs:     []string{"PutUserPolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.DeleteUserPolicy(w.ctx, &iam.DeleteUserPolicyInput{UserName: &w.user, PolicyName: &w.inline}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "AttachUserPolicy",
	needs:     []string{"CreateUser", "CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.AttachUserPolicy(w.ctx, &iam.AttachUserPolicyInput{UserName: &w.user, PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "DetachUserPolicy",
	needs:     []string{"AttachUserPolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.DetachUserPolicy(w.ctx, &iam.DetachUserPolicyInput{UserName: &w.user, PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "ListAttachedUserPolicies",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		return errorOf(w.iam.ListAttachedUserPolicies(w.ctx, &iam.ListAttachedUserPoliciesInput{UserName: &w.user}))
	},
	absent: "NoSuchEntity",
	fill: func(w *world, name string) error {
		w.policy = name
		return w.run("iam/CreatePolicy", "iam/AttachUserPolicy")
	},
	pages: func(w *world) ([]string, error) {
		in := &iam.ListAttachedUserPoliciesInput{UserName: &w.user, MaxItems: pageOf}
		return shown(w, iam.NewListAttachedUserPoliciesPaginator(w.iam, in), func(p *iam.ListAttachedUserPoliciesOutput) []string {
			return texts(p.AttachedPolicies, func(a types.AttachedPolicy) *string { return a.PolicyName })
		})
	},
}, {
	operation: "PutUserPermissionsBoundary",
	needs:     []string{"CreateUser", "CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.PutUserPermissionsBoundary(w.ctx, &iam.PutUserPermissionsBoundaryInput{UserName: &w.user, PermissionsBoundary: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "DeleteUserPermissionsBoundary",
	needs:     []string{"PutUserPermissionsBoundary"},
	call: func(w *world) error {
		return errorOf(w.iam.DeleteUserPermissionsBoundary(w.ctx, &iam.DeleteUserPermissionsBoundaryInput{UserName: &w.user}))
	},
	except: map[string]string{"CreateUser": "NoSuchEntity"},
}, {
	operation: "TagUser",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		return errorOf(w.iam.TagUser(w.ctx, &iam.TagUserInput{UserName: &w.user, Tags: tags(w.tag)}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "UntagUser",
	needs:     []string{"TagUser"},
	call: func(w *world) error {
		return errorOf(w.iam.UntagUser(w.ctx, &iam.UntagUserInput{UserName: &w.user, TagKeys: []string{w.tag}}))
	},
	except: map[string]string{"CreateUser": "NoSuchEntity"},
}, {
	operation: "ListUserTags",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		return errorOf(w.iam.ListUserTags(w.ctx, &iam.ListUserTagsInput{UserName: &w.user}))
	},
	absent: "NoSuchEntity",
	fill:   func(w *world, name string) error { w.tag = name; return w.run("iam/TagUser") },
	pages: func(w *world) ([]string, error) {
		in := &iam.ListUserTagsInput{UserName: &w.user, MaxItems: pageOf}
		return shown(w, iam.NewListUserTagsPaginator(w.iam, in), func(p *iam.ListUserTagsOutput) []string { return texts(p.Tags, tagKey) })
	},
}}
