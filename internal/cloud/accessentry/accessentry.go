// Package accessentry reads and changes the access entries of a cluster in EKS, each of
// which says which user and which groups an IAM principal is there.
//
// What it asks of EKS: eks:DescribeAccessEntry, eks:UpdateAccessEntry and
// eks:DeleteAccessEntry on the entry, eks:CreateAccessEntry on the cluster, and
// eks:TagResource on the entry.
package accessentry

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

const api = cloud.API("EKS")

// standard is the type of entries that name groups.
const standard = "STANDARD"

// Entries are the access entries of whichever account an identity leads to. All errors
// are fault.Fault values. It is safe for concurrent use.
type Entries struct{ auth *awsauth.Auth }

// New makes Entries that get their identities from auth.
func New(auth *awsauth.Auth) *Entries { return &Entries{auth: auth} }

func (e *Entries) client(ctx context.Context, id identity.Identity) (client, error) {
	config, err := e.auth.Config(ctx, id)
	if err != nil {
		return nil, err
	}
	return eks.NewFromConfig(config), nil
}

// Get reads one entry. One that is not there, or is of a cluster that is not there, is
// Exists=false.
func (e *Entries) Get(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef) (cloud.AccessEntry, error) {
	const operation = "DescribeAccessEntry"
	c, err := e.client(ctx, id)
	if err != nil {
		return cloud.AccessEntry{}, api.Fault(operation, err)
	}
	out, err := c.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: &ref.Cluster, PrincipalArn: &ref.Principal})
	switch known := api.Fault(operation, err); {
	case cloud.Is(known, fault.Gone):
		return cloud.AccessEntry{}, nil
	case known != nil:
		return cloud.AccessEntry{}, known
	case out.AccessEntry == nil:
		return cloud.AccessEntry{}, fault.Fault{Class: fault.Retry, Service: string(api), Operation: operation, Message: "EKS answered without the access entry"}
	}
	seen := out.AccessEntry
	tags := maps.Clone(seen.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	return cloud.AccessEntry{
		Exists: true, Username: aws.ToString(seen.Username), Groups: seen.KubernetesGroups, Type: aws.ToString(seen.Type), Tags: tags,
	}, nil
}

// Create makes an entry with the owner's tag, in one call. One that is there is a fault
// Exists and is not touched: whether it is bound to the principal of today is not told.
// That EKS does not know the principal, which it may for some seconds after IAM has made
// it, is AWS's InvalidParameterException, a fault Invalid.
func (e *Entries) Create(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef, want cloud.AccessEntryWant, owner cloud.Tag) error {
	const operation = "CreateAccessEntry"
	c, err := e.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	tags := map[string]string{}
	maps.Copy(tags, want.Tags)
	tags[owner.Key] = owner.Value
	_, err = c.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{
		ClusterName: &ref.Cluster, PrincipalArn: &ref.Principal, Username: &want.Username, KubernetesGroups: want.Groups,
		Type: aws.String(standard), Tags: tags,
	})
	return api.Fault(operation, err)
}

// Update writes username and groups of an entry that carries the owner's tag. One without
// the tag is a fault Exists, one that is gone a fault Gone.
func (e *Entries) Update(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef, want cloud.AccessEntryWant, owner cloud.Tag) error {
	const operation = "UpdateAccessEntry"
	c, err := e.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	seen, err := e.Get(ctx, id, ref)
	switch {
	case err != nil:
		return err
	case seen.Exists && !owner.Of(seen.Tags):
		return api.Foreign(operation, "the access entry of "+ref.Principal, owner)
	}
	_, err = c.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{
		ClusterName: &ref.Cluster, PrincipalArn: &ref.Principal, Username: &want.Username, KubernetesGroups: want.Groups,
	})
	return api.Fault(operation, err)
}

// Delete removes an entry that carries the owner's tag. One that is gone is success, one
// without the tag is a fault Exists.
func (e *Entries) Delete(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef, owner cloud.Tag) error {
	const operation = "DeleteAccessEntry"
	c, err := e.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	seen, err := e.Get(ctx, id, ref)
	switch {
	case err != nil || !seen.Exists:
		return err
	case !owner.Of(seen.Tags):
		return api.Foreign(operation, "the access entry of "+ref.Principal, owner)
	}
	_, err = c.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: &ref.Cluster, PrincipalArn: &ref.Principal})
	return api.UnlessGone(operation, err)
}
