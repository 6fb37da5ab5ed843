package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

var policyRows = []row{{
	operation: "CreatePolicy",
	call: func(w *world) error {
		return errorOf(w.iam.CreatePolicy(w.ctx, &iam.CreatePolicyInput{PolicyName: &w.policy, PolicyDocument: aws.String(readDocuments)}))
	},
	again: "EntityAlreadyExists",
}, {
	operation: "GetPolicy",
	needs:     []string{"CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.GetPolicy(w.ctx, &iam.GetPolicyInput{PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "ListPolicies",
	call:      func(w *world) error { return errorOf(w.iam.ListPolicies(w.ctx, &iam.ListPoliciesInput{})) },
	fill:      func(w *world, name string) error { w.policy = name; return w.run("iam/CreatePolicy") },
	pages: func(w *world) ([]string, error) {
		return shown(w, iam.NewListPoliciesPaginator(w.iam, &iam.ListPoliciesInput{MaxItems: pageOf}), func(p *iam.ListPoliciesOutput) []string {
			return texts(p.Policies, func(one types.Policy) *string { return one.PolicyName })
		})
	},
}, {
	operation: "DeletePolicy",
	needs:     []string{"CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.DeletePolicy(w.ctx, &iam.DeletePolicyInput{PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	// The first one made is v2.
	operation: "CreatePolicyVersion",
	needs:     []string{"CreatePolicy"},
	call: func(w *world) error {
		made, err := w.iam.CreatePolicyVersion(w.ctx, &iam.CreatePolicyVersionInput{PolicyArn: aws.String(w.policyARN()), PolicyDocument: aws.String(readDocuments)})
		if err == nil {
			w.version = *made.PolicyVersion.VersionId
		}
		return err
	},
	absent: "NoSuchEntity",
}, {
	operation: "GetPolicyVersion",
	needs:     []string{"CreatePolicyVersion"},
	call: func(w *world) error {
		return errorOf(w.iam.GetPolicyVersion(w.ctx, &iam.GetPolicyVersionInput{PolicyArn: aws.String(w.policyARN()), VersionId: &w.version}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "ListPolicyVersions",
	needs:     []string{"CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.ListPolicyVersions(w.ctx, &iam.ListPolicyVersionsInput{PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
	fill: func(w *world, _ string) error {
		err := w.run("iam/CreatePolicyVersion")
		w.made = append(w.made, w.version)
		return err
	},
	pages: func(w *world) ([]string, error) {
		in := &iam.ListPolicyVersionsInput{PolicyArn: aws.String(w.policyARN()), MaxItems: pageOf}
		return shown(w, iam.NewListPolicyVersionsPaginator(w.iam, in), func(p *iam.ListPolicyVersionsOutput) []string {
			return texts(p.Versions, func(v types.PolicyVersion) *string { return v.VersionId })
		})
	},
}, {
	operation: "SetDefaultPolicyVersion",
	needs:     []string{"CreatePolicyVersion"},
	call: func(w *world) error {
		return errorOf(w.iam.SetDefaultPolicyVersion(w.ctx, &iam.SetDefaultPolicyVersionInput{PolicyArn: aws.String(w.policyARN()), VersionId: &w.version}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "DeletePolicyVersion",
	needs:     []string{"CreatePolicyVersion"},
	call: func(w *world) error {
		return errorOf(w.iam.DeletePolicyVersion(w.ctx, &iam.DeletePolicyVersionInput{PolicyArn: aws.String(w.policyARN()), VersionId: &w.version}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "ListEntitiesForPolicy",
	needs:     []string{"CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.ListEntitiesForPolicy(w.ctx, &iam.ListEntitiesForPolicyInput{PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
	fill: func(w *world, name string) error {
		w.role, w.user = name, "user-"+name
		w.made = append(w.made, w.role, w.user)
		return w.run("iam/CreateRole", "iam/AttachRolePolicy", "iam/CreateUser", "iam/AttachUserPolicy")
	},
	pages: func(w *world) ([]string, error) {
		in := &iam.ListEntitiesForPolicyInput{PolicyArn: aws.String(w.policyARN()), MaxItems: pageOf}
		return shown(w, iam.NewListEntitiesForPolicyPaginator(w.iam, in), func(p *iam.ListEntitiesForPolicyOutput) []string {
			roles := texts(p.PolicyRoles, func(r types.PolicyRole) *string { return r.RoleName })
			return append(roles, texts(p.PolicyUsers, func(u types.PolicyUser) *string { return u.UserName })...)
		})
	},
}, {
	operation: "TagPolicy",
	needs:     []string{"CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.TagPolicy(w.ctx, &iam.TagPolicyInput{PolicyArn: aws.String(w.policyARN()), Tags: tags(w.tag)}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "UntagPolicy",
	needs:     []string{"TagPolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.UntagPolicy(w.ctx, &iam.UntagPolicyInput{PolicyArn: aws.String(w.policyARN()), TagKeys: []string{w.tag}}))
	},
	except: map[string]string{"CreatePolicy": "NoSuchEntity"},
}, {
	operation: "ListPolicyTags",
	needs:     []string{"CreatePolicy"},
	call: func(w *world) error {
		return errorOf(w.iam.ListPolicyTags(w.ctx, &iam.ListPolicyTagsInput{PolicyArn: aws.String(w.policyARN())}))
	},
	absent: "NoSuchEntity",
	fill:   func(w *world, name string) error { w.tag = name; return w.run("iam/TagPolicy") },
	pages: func(w *world) ([]string, error) {
		in := &iam.ListPolicyTagsInput{PolicyArn: aws.String(w.policyARN()), MaxItems: pageOf}
		return shown(w, iam.NewListPolicyTagsPaginator(w.iam, in), func(p *iam.ListPolicyTagsOutput) []string { return texts(p.Tags, tagKey) })
	},
}}
