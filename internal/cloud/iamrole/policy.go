package iamrole

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// maxVersions is how many versions a managed policy may have (IAM: "IAM and AWS STS
// quotas").
const maxVersions = 5

// Policy reads the default version of a managed policy as plain JSON. One that is
// gone is exists=false.
func (r *Roles) Policy(ctx context.Context, id identity.Identity, arn string) (document string, exists bool, err error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return "", false, api.Fault("GetPolicy", err)
	}
	_, document, err = managedPolicy(ctx, c, arn)
	if cloud.Is(err, fault.Gone) {
		return "", false, nil
	}
	return plain(document), err == nil, err
}

// managedPolicy reads a policy and its default version, encoded as IAM sends it.
func managedPolicy(ctx context.Context, c client, arn string) (*types.Policy, string, error) {
	got, err := c.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: &arn})
	if err != nil {
		return nil, "", api.Fault("GetPolicy", err)
	}
	if got.Policy == nil {
		return nil, "", withoutPolicy("GetPolicy")
	}
	version, err := c.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: &arn, VersionId: got.Policy.DefaultVersionId})
	if err != nil {
		return nil, "", api.Fault("GetPolicyVersion", err)
	}
	if version.PolicyVersion == nil {
		return nil, "", withoutPolicy("GetPolicyVersion")
	}
	return got.Policy, aws.ToString(version.PolicyVersion.Document), nil
}

func withoutPolicy(operation string) error {
	return fault.Fault{
		Class: fault.Retry, Service: string(api), Operation: operation, Message: "IAM answered without the policy",
	}
}

// EnsurePolicy makes the account's managed policy of that name, or gives it a new
// default version where its document means something else, and says whether it changed
// anything. The path begins and ends with a slash; empty is "/". A policy of that name
// that lacks the owner's tag, or is at another path, which cannot be changed, is a
// fault Exists and is not touched. At five versions the oldest that is not the
// default goes.
func (r *Roles) EnsurePolicy(
	ctx context.Context, id identity.Identity, name, path, document string, owner cloud.Tag,
) (arn string, changed bool, err error) {
	const operation = "CreatePolicy"
	c, err := r.client(ctx, id)
	if err != nil {
		return "", false, api.Fault(operation, err)
	}
	out, err := c.CreatePolicy(ctx, &iam.CreatePolicyInput{
		PolicyName: &name, Path: optional(path), PolicyDocument: &document, Tags: tagList(map[string]string{owner.Key: owner.Value}),
	})
	switch known := api.Fault(operation, err); {
	case known == nil && out.Policy == nil:
		return "", false, withoutPolicy(operation)
	case known == nil:
		return aws.ToString(out.Policy.Arn), true, nil
	case !cloud.Is(known, fault.Exists):
		return "", false, known
	}
	if arn, err = policyNamed(ctx, c, name); err != nil {
		return "", false, err
	}
	changed, err = updatePolicy(ctx, c, arn, cmp.Or(path, "/"), document, owner)
	return arn, changed, err
}

// policyNamed finds the ARN of the account's policy of a name, which is there
// once, whatever its path and its case.
func policyNamed(ctx context.Context, c client, name string) (string, error) {
	pages := iam.NewListPoliciesPaginator(c, &iam.ListPoliciesInput{Scope: types.PolicyScopeTypeLocal, MaxItems: aws.Int32(fullPage)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", api.Fault("ListPolicies", err)
		}
		for i := range page.Policies {
			if strings.EqualFold(aws.ToString(page.Policies[i].PolicyName), name) {
				return aws.ToString(page.Policies[i].Arn), nil
			}
		}
	}
	return "", fault.Fault{
		Class: fault.Changed, Service: string(api), Operation: "ListPolicies",
		Message: "the policy " + name + " was there when it was to be made, and is not listed",
	}
}

// updatePolicy gives the owner's policy a new default version where its document is
// another one.
func updatePolicy(ctx context.Context, c client, arn, path, document string, owner cloud.Tag) (changed bool, err error) {
	policy, current, err := managedPolicy(ctx, c, arn)
	switch {
	case err != nil:
		return false, err
	case !owner.Of(tagsOf(policy.Tags)):
		return false, api.Foreign("CreatePolicy", "the policy "+arn, owner)
	case aws.ToString(policy.Path) != path:
		return false, fault.Fault{
			Class: fault.Exists, Service: string(api), Operation: "CreatePolicy",
			Message: "the policy " + arn + " is there, and not at the path " + path + "; IAM cannot move it: delete it, or ask for its path",
		}
	case sameDocument(current, document):
		return false, nil
	}
	if err := makeRoom(ctx, c, arn); err != nil {
		return false, err
	}
	_, err = c.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{PolicyArn: &arn, PolicyDocument: &document, SetAsDefault: true})
	return err == nil, api.Fault("CreatePolicyVersion", err)
}

// makeRoom deletes the oldest version that is not the default, where no other would
// have room.
func makeRoom(ctx context.Context, c client, arn string) error {
	var versions []types.PolicyVersion
	pages := iam.NewListPolicyVersionsPaginator(c, &iam.ListPolicyVersionsInput{PolicyArn: &arn})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return api.Fault("ListPolicyVersions", err)
		}
		versions = append(versions, page.Versions...)
	}
	if len(versions) < maxVersions {
		return nil
	}
	versions = slices.DeleteFunc(versions, func(v types.PolicyVersion) bool { return v.IsDefaultVersion })
	if len(versions) == 0 {
		return nil
	}
	oldest := slices.MinFunc(versions, func(a, b types.PolicyVersion) int {
		return cmp.Or(
			aws.ToTime(a.CreateDate).Compare(aws.ToTime(b.CreateDate)),
			cmp.Compare(len(aws.ToString(a.VersionId)), len(aws.ToString(b.VersionId))),
			cmp.Compare(aws.ToString(a.VersionId), aws.ToString(b.VersionId)))
	})
	_, err := c.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: &arn, VersionId: oldest.VersionId})
	return api.UnlessGone("DeletePolicyVersion", err)
}
