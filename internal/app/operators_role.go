package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// readsRoles reads roles and managed policies by the person's AWS session.
type readsRoles interface {
	Get(ctx context.Context, id identity.Identity, name string) (cloud.Role, error)
	Policy(ctx context.Context, id identity.Identity, arn string) (document string, exists bool, err error)
}

// sessionRoleDocuments reads the policies of a role by the session of whoever runs the program.
func sessionRoleDocuments(ctx context.Context, arn string) (sufficiency.Documents, error) {
	defer waitingForAWS()()
	auth, err := newAuth()
	if err != nil {
		return sufficiency.Documents{}, err
	}
	region := cmp.Or(auth.Region(), homeRegion[identity.PartitionOfARN(arn)], "us-east-1")
	return roleDocuments(ctx, iamrole.New(auth), session(region), arn)
}

// homeRegion is where IAM is in partitions beside aws, for sessions without a region
// (https://docs.aws.amazon.com/general/latest/gr/iam-service.html).
var homeRegion = map[string]string{"aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}

// roleDocuments reads the policies of a role. What may not be read is part of the answer.
func roleDocuments(ctx context.Context, roles readsRoles, as identity.Identity, arn string) (sufficiency.Documents, error) {
	wanted, ok := identity.ParseRoleARN(arn)
	if !ok {
		return sufficiency.Documents{}, fmt.Errorf("%.300q is no ARN of a role", arn)
	}
	out := sufficiency.Documents{ARN: arn}
	role, err := roles.Get(ctx, as, wanted.Name)
	switch {
	case cloud.Is(err, fault.Denied):
		out.Trust.Unread, out.Unlisted = line.Of(err.Error()), "the role's policies were not read: "+line.Of(err.Error())
		return out, nil
	case err != nil:
		return out, err
	case !role.Exists:
		return out, fmt.Errorf("there is no role %s in the account of the AWS session", wanted.Name)
	case role.ARN != arn:
		return out, fmt.Errorf("the AWS session finds %s, which has the same name and is another role: use a session of account %s, and the role's whole path", role.ARN, wanted.Account)
	}
	out.Trust = sufficiency.Document{Name: "the trust policy", Text: role.Trust}
	for _, name := range slices.Sorted(maps.Keys(role.Policies)) {
		out.Policies = append(out.Policies, sufficiency.Document{Name: "the inline policy " + name, Text: role.Policies[name]})
	}
	for _, attached := range role.Attached {
		document, err := managedDocument(ctx, roles, as, attached)
		if err != nil {
			return out, err
		}
		out.Policies = append(out.Policies, document)
	}
	if role.Boundary != "" {
		document, err := managedDocument(ctx, roles, as, role.Boundary)
		if err != nil {
			return out, err
		}
		document.Name = "the permissions boundary " + path.Base(role.Boundary)
		out.Boundary = &document
	}
	return out, nil
}

func managedDocument(ctx context.Context, roles readsRoles, as identity.Identity, arn string) (sufficiency.Document, error) {
	out := sufficiency.Document{Name: "the managed policy " + path.Base(arn)}
	text, exists, err := roles.Policy(ctx, as, arn)
	switch {
	case cloud.Is(err, fault.Denied):
		out.Unread = line.Of(err.Error())
	case err != nil:
		return out, err
	case !exists:
		out.Unread = "it is gone"
	default:
		out.Text = text
	}
	return out, nil
}
