package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

var keyRows = []row{{
	// A user may have two keys.
	operation: "CreateAccessKey",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		made, err := w.iam.CreateAccessKey(w.ctx, &iam.CreateAccessKeyInput{UserName: &w.user})
		if err == nil {
			w.accessKey = *made.AccessKey.AccessKeyId
		}
		return err
	},
	absent: "NoSuchEntity",
}, {
	operation: "ListAccessKeys",
	needs:     []string{"CreateUser"},
	call: func(w *world) error {
		return errorOf(w.iam.ListAccessKeys(w.ctx, &iam.ListAccessKeysInput{UserName: &w.user}))
	},
	absent: "NoSuchEntity",
	most:   2,
	fill: func(w *world, _ string) error {
		err := w.run("iam/CreateAccessKey")
		w.made = append(w.made, w.accessKey)
		return err
	},
	pages: func(w *world) ([]string, error) {
		in := &iam.ListAccessKeysInput{UserName: &w.user, MaxItems: aws.Int32(1)}
		return shown(w, iam.NewListAccessKeysPaginator(w.iam, in), func(p *iam.ListAccessKeysOutput) []string {
			return texts(p.AccessKeyMetadata, func(k types.AccessKeyMetadata) *string { return k.AccessKeyId })
		})
	},
}, {
	operation: "UpdateAccessKey",
	needs:     []string{"CreateAccessKey"},
	call: func(w *world) error {
		return errorOf(w.iam.UpdateAccessKey(w.ctx, &iam.UpdateAccessKeyInput{UserName: &w.user, AccessKeyId: &w.accessKey, Status: types.StatusTypeInactive}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "GetAccessKeyLastUsed",
	needs:     []string{"CreateAccessKey"},
	call: func(w *world) error {
		return errorOf(w.iam.GetAccessKeyLastUsed(w.ctx, &iam.GetAccessKeyLastUsedInput{AccessKeyId: &w.accessKey}))
	},
	absent: "NoSuchEntity",
}, {
	operation: "DeleteAccessKey",
	needs:     []string{"CreateAccessKey"},
	call: func(w *world) error {
		return errorOf(w.iam.DeleteAccessKey(w.ctx, &iam.DeleteAccessKeyInput{UserName: &w.user, AccessKeyId: &w.accessKey}))
	},
	absent: "NoSuchEntity",
	again:  "NoSuchEntity",
}, {
	operation: "ListAccountAliases",
	call:      func(w *world) error { return errorOf(w.iam.ListAccountAliases(w.ctx, &iam.ListAccountAliasesInput{})) },
	whole:     "accounts have no alias",
}}
