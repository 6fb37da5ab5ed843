package bucket

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// cacheControl lets caches keep a document for a minute: a new key is
// published that long before it may be used.
const cacheControl = "max-age=60"

// Create makes the bucket and puts the ownership tag on it. It is idempotent
// and may be repeated after a crash between the two: a bucket in our own
// account that has no tag, no policy and no object is taken for one that such
// a crash left behind, and is tagged. A bucket that carries our tag is success;
// any other one is a fault Exists and is not touched. The tags are read even
// after a successful creation, because in us-east-1 S3 answers success for a
// bucket that the caller owns already.
func (b *Buckets) Create(ctx context.Context, step issuer.CreateBucket) error {
	const operation = "CreateBucket"
	a, err := b.at(ctx, step.Identity, step.Bucket)
	if err != nil {
		return faultAt(operation, err)
	}
	input := &s3.CreateBucketInput{Bucket: &a.name}
	if a.region != "us-east-1" {
		input.CreateBucketConfiguration = &types.CreateBucketConfiguration{
			LocationConstraint: types.BucketLocationConstraint(a.region),
		}
	}
	_, err = a.client.CreateBucket(ctx, input)
	if err != nil && !hasCode(err, "BucketAlreadyOwnedByYou") {
		return faultAt(operation, err)
	}
	tags, err := a.tags(ctx)
	switch {
	case err != nil:
		return err
	case tagValue(tags, issuer.OwnerTag) == step.Owner:
		return nil
	case len(tags) > 0:
		return foreign(operation, fmt.Sprintf("the bucket %s exists in this account and was not made for %s; "+
			"name another bucket, or set create to false to publish into this one", a.name, step.Owner))
	}
	if err := a.mustBeEmpty(ctx, step.Owner); err != nil {
		return err
	}
	return a.putTags(ctx, []types.Tag{{Key: aws.String(issuer.OwnerTag), Value: &step.Owner}})
}

// mustBeEmpty refuses a bucket that somebody has begun to use.
func (a at) mustBeEmpty(ctx context.Context, owner string) error {
	policy, err := a.policy(ctx)
	if err != nil {
		return err
	}
	list, err := a.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: &a.name, MaxKeys: aws.Int32(1), ExpectedBucketOwner: a.owner,
	})
	if err != nil {
		return faultAt("ListObjectsV2", err)
	}
	if len(list.Contents) > 0 || policy != nil {
		return foreign("CreateBucket", fmt.Sprintf("the bucket %s exists in this account and is in use; "+
			"name another bucket, or tag it %s=%s if it is this issuer's", a.name, issuer.OwnerTag, owner))
	}
	return nil
}

// putTags replaces all tags of the bucket: S3 has no way to change one.
func (a at) putTags(ctx context.Context, tags []types.Tag) error {
	_, err := a.client.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{
		Bucket: &a.name, ExpectedBucketOwner: a.owner, Tagging: &types.Tagging{TagSet: tags},
	})
	return faultAt("PutBucketTagging", err)
}

// SetTombstone puts the mark on a bucket of the owner, or takes it off; other
// tags stay. A bucket of anybody else is a fault Exists.
func (b *Buckets) SetTombstone(ctx context.Context, step issuer.SetTombstone) error {
	const operation = "PutBucketTagging"
	a, err := b.at(ctx, step.Identity, step.Bucket)
	if err != nil {
		return faultAt(operation, err)
	}
	tags, err := a.tags(ctx)
	switch {
	case err != nil:
		return err
	case tagValue(tags, issuer.OwnerTag) != step.Owner:
		return notOf(operation, a.name, step.Owner)
	case hasTag(tags, issuer.TombstoneTag) == step.On:
		return nil
	case step.On:
		return a.putTags(ctx, append(tags, types.Tag{Key: aws.String(issuer.TombstoneTag), Value: aws.String("true")}))
	}
	return a.putTags(ctx, slices.DeleteFunc(tags, isTag(issuer.TombstoneTag)))
}

// SetPublicAccess sets the four switches of the bucket's public access block.
func (b *Buckets) SetPublicAccess(ctx context.Context, step issuer.SetPublicAccess) error {
	const operation = "PutPublicAccessBlock"
	a, err := b.at(ctx, step.Identity, step.Bucket)
	if err != nil {
		return faultAt(operation, err)
	}
	_, err = a.client.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{
		Bucket: &a.name, ExpectedBucketOwner: a.owner,
		PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{
			BlockPublicAcls:       &step.Access.BlockPublicACLs,
			IgnorePublicAcls:      &step.Access.IgnorePublicACLs,
			BlockPublicPolicy:     &step.Access.BlockPublicPolicy,
			RestrictPublicBuckets: &step.Access.RestrictPublicBuckets,
		},
	})
	return faultAt(operation, err)
}

// PutDocument writes a document if it is still what was read. A fault Changed
// says that it is not: read again and decide again. That is also the answer
// when the object to replace is gone, and when an earlier attempt of ours was
// written and its answer lost.
func (b *Buckets) PutDocument(ctx context.Context, step issuer.PutDocument) error {
	const operation = "PutObject"
	a, err := b.at(ctx, step.Identity, step.Bucket)
	if err != nil {
		return faultAt(operation, err)
	}
	input := &s3.PutObjectInput{
		Bucket: &a.name, Key: &step.Key, ExpectedBucketOwner: a.owner,
		Body:        strings.NewReader(step.Body),
		ContentType: aws.String("application/json"), CacheControl: aws.String(cacheControl),
	}
	if step.IfMatch == "" {
		input.IfNoneMatch = aws.String("*")
	} else {
		input.IfMatch = &step.IfMatch
	}
	_, err = a.client.PutObject(ctx, input)
	if hasCode(err, codeNoKey) {
		return fault.Fault{
			Class: fault.Changed, Service: service, Operation: operation, Code: codeNoKey,
			Message: "the object to replace is gone",
		}
	}
	return faultAt(operation, err)
}

// PutPolicy replaces the bucket's policy; an empty one removes it.
func (b *Buckets) PutPolicy(ctx context.Context, step issuer.PutBucketPolicy) error {
	a, err := b.at(ctx, step.Identity, step.Bucket)
	if err != nil {
		return faultAt("PutBucketPolicy", err)
	}
	if step.Policy == "" {
		_, err = a.client.DeleteBucketPolicy(ctx,
			&s3.DeleteBucketPolicyInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
		return unlessGone("DeleteBucketPolicy", err, "NoSuchBucketPolicy", codeNoBucket)
	}
	_, err = a.client.PutBucketPolicy(ctx,
		&s3.PutBucketPolicyInput{Bucket: &a.name, Policy: &step.Policy, ExpectedBucketOwner: a.owner})
	return faultAt("PutBucketPolicy", err)
}

// DeleteDocument removes one document; one that is gone is success.
func (b *Buckets) DeleteDocument(ctx context.Context, step issuer.DeleteDocument) error {
	const operation = "DeleteObject"
	a, err := b.at(ctx, step.Identity, step.Bucket)
	if err != nil {
		return faultAt(operation, err)
	}
	_, err = a.client.DeleteObject(ctx,
		&s3.DeleteObjectInput{Bucket: &a.name, Key: &step.Key, ExpectedBucketOwner: a.owner})
	return unlessGone(operation, err, codeNoKey, codeNoBucket)
}

// Delete removes a bucket that carries the owner's tag, and gives its name up.
// One that is gone is success, one without that tag is a fault Exists, one that
// is not empty is a fault Invalid: S3 refuses to delete what still holds objects
// or versions of them.
func (b *Buckets) Delete(ctx context.Context, step issuer.DeleteBucket) error {
	const operation = "DeleteBucket"
	a, err := b.at(ctx, step.Identity, step.Bucket)
	if err != nil {
		return faultAt(operation, err)
	}
	tags, err := a.tags(ctx)
	switch {
	case hasCode(err, codeNoBucket):
		return nil
	case err != nil:
		return err
	case tagValue(tags, issuer.OwnerTag) != step.Owner:
		return notOf(operation, a.name, step.Owner)
	}
	_, err = a.client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	return unlessGone(operation, err, codeNoBucket)
}

// notOf is the fault of a bucket without the owner's tag.
func notOf(operation, name, owner string) error {
	return foreign(operation, fmt.Sprintf("the bucket %s has no tag %s=%s, so it is not this issuer's to change", name, issuer.OwnerTag, owner))
}

// unlessGone is the error's fault, and nil for codes that say that it is done
// already.
func unlessGone(operation string, err error, codes ...string) error {
	for _, code := range codes {
		if hasCode(err, code) {
			return nil
		}
	}
	return faultAt(operation, err)
}
