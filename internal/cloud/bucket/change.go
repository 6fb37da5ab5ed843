package bucket

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// cacheControl lets caches keep an object for a minute: a new key of an issuer is
// published that long before it may be used.
const cacheControl = "max-age=60"

// Create makes the bucket and puts the owner's tag on it. It is idempotent
// and may be repeated after a crash between the two: a bucket in our own
// account that has no tag, no policy and no object is taken for one that such
// a crash left behind, and is tagged. A bucket that carries the owner's tag is
// success; any other one is a fault Exists and is not touched. The tags are read
// even after a successful creation, because in us-east-1 S3 answers success for a
// bucket that the caller owns already.
func (b *Buckets) Create(ctx context.Context, id identity.Identity, bucket cloud.Bucket, owner cloud.Tag) error {
	const operation = "CreateBucket"
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return api.Fault(operation, err)
	}
	input := &s3.CreateBucketInput{Bucket: &a.name}
	if a.region != "us-east-1" {
		input.CreateBucketConfiguration = &types.CreateBucketConfiguration{
			LocationConstraint: types.BucketLocationConstraint(a.region),
		}
	}
	_, err = a.client.CreateBucket(ctx, input)
	if err != nil && !cloud.HasCode(err, "BucketAlreadyOwnedByYou") {
		return api.Fault(operation, err)
	}
	tags, err := a.tags(ctx)
	if err != nil || owner.Of(tags) {
		return err
	}
	used, err := a.isUsed(ctx, tags)
	if err != nil {
		return err
	}
	if used {
		return api.Foreign(operation, "the bucket "+a.name, owner)
	}
	return a.putTags(ctx, map[string]string{owner.Key: owner.Value})
}

// isUsed says whether somebody has begun to use the bucket.
func (a at) isUsed(ctx context.Context, tags map[string]string) (bool, error) {
	if len(tags) > 0 {
		return true, nil
	}
	policy, err := a.policy(ctx)
	if err != nil || policy != nil {
		return true, err
	}
	keys, err := a.keys(ctx, 1)
	return len(keys) > 0, err
}

// putTags replaces all tags of the bucket: S3 has no way to change one.
func (a at) putTags(ctx context.Context, tags map[string]string) error {
	set := make([]types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		set = append(set, types.Tag{Key: &key, Value: aws.String(tags[key])})
	}
	_, err := a.client.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{
		Bucket: &a.name, ExpectedBucketOwner: a.owner, Tagging: &types.Tagging{TagSet: set},
	})
	return api.Fault("PutBucketTagging", err)
}

// SetTag puts a tag on a bucket of the owner, or takes it off; other tags stay. A
// bucket without the owner's tag is a fault Exists.
func (b *Buckets) SetTag(ctx context.Context, id identity.Identity, bucket cloud.Bucket, owner, tag cloud.Tag, on bool) error {
	const operation = "PutBucketTagging"
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return api.Fault(operation, err)
	}
	tags, err := a.tags(ctx)
	switch {
	case err != nil:
		return err
	case !owner.Of(tags):
		return api.Foreign(operation, "the bucket "+a.name, owner)
	}
	wanted := maps.Clone(tags)
	if delete(wanted, tag.Key); on {
		wanted[tag.Key] = tag.Value
	}
	if maps.Equal(wanted, tags) {
		return nil
	}
	return a.putTags(ctx, wanted)
}

// SetPublicAccess sets the four switches of the bucket's public access block.
func (b *Buckets) SetPublicAccess(ctx context.Context, id identity.Identity, bucket cloud.Bucket, access cloud.PublicAccess) error {
	const operation = "PutPublicAccessBlock"
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return api.Fault(operation, err)
	}
	_, err = a.client.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{
		Bucket: &a.name, ExpectedBucketOwner: a.owner,
		PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{
			BlockPublicAcls:       &access.BlockPublicACLs,
			IgnorePublicAcls:      &access.IgnorePublicACLs,
			BlockPublicPolicy:     &access.BlockPublicPolicy,
			RestrictPublicBuckets: &access.RestrictPublicBuckets,
		},
	})
	return api.Fault(operation, err)
}

// Write writes a JSON object if it is still what was read; an empty ifMatch means
// that there must be none. A fault Changed says that it is not so: read again and
// decide again. That is also the answer when the object to replace is gone, and when
// an earlier attempt of ours was written and its answer lost.
func (b *Buckets) Write(ctx context.Context, id identity.Identity, bucket cloud.Bucket, key, body, ifMatch string) error {
	const operation = "PutObject"
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return api.Fault(operation, err)
	}
	input := &s3.PutObjectInput{
		Bucket: &a.name, Key: &key, ExpectedBucketOwner: a.owner,
		Body:        strings.NewReader(body),
		ContentType: aws.String("application/json"), CacheControl: aws.String(cacheControl),
	}
	if ifMatch == "" {
		input.IfNoneMatch = aws.String("*")
	} else {
		input.IfMatch = &ifMatch
	}
	_, err = a.client.PutObject(ctx, input)
	if cloud.HasCode(err, codeNoKey) {
		return fault.Fault{
			Class: fault.Changed, Service: string(api), Operation: operation, Code: codeNoKey,
			Message: "the object to replace is gone",
		}
	}
	return api.Fault(operation, err)
}

// SetPolicy replaces the bucket's policy; an empty one removes it.
func (b *Buckets) SetPolicy(ctx context.Context, id identity.Identity, bucket cloud.Bucket, policy string) error {
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return api.Fault("PutBucketPolicy", err)
	}
	if policy == "" {
		_, err = a.client.DeleteBucketPolicy(ctx,
			&s3.DeleteBucketPolicyInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
		return api.UnlessGone("DeleteBucketPolicy", err, codeNoPolicy, cloud.CodeNoBucket)
	}
	_, err = a.client.PutBucketPolicy(ctx,
		&s3.PutBucketPolicyInput{Bucket: &a.name, Policy: &policy, ExpectedBucketOwner: a.owner})
	return api.Fault("PutBucketPolicy", err)
}

// DeleteObject removes one object; one that is gone is success.
func (b *Buckets) DeleteObject(ctx context.Context, id identity.Identity, bucket cloud.Bucket, key string) error {
	const operation = "DeleteObject"
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return api.Fault(operation, err)
	}
	_, err = a.client.DeleteObject(ctx,
		&s3.DeleteObjectInput{Bucket: &a.name, Key: &key, ExpectedBucketOwner: a.owner})
	return api.UnlessGone(operation, err, codeNoKey, cloud.CodeNoBucket)
}

// Delete removes a bucket that carries the owner's tag, and gives its name up.
// One that is gone is success, one without that tag is a fault Exists, one that
// is not empty is a fault Invalid: S3 refuses to delete what still holds objects
// or versions of them.
func (b *Buckets) Delete(ctx context.Context, id identity.Identity, bucket cloud.Bucket, owner cloud.Tag) error {
	const operation = "DeleteBucket"
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return api.Fault(operation, err)
	}
	tags, err := a.tags(ctx)
	switch {
	case err != nil:
		return api.UnlessGone(operation, err, cloud.CodeNoBucket)
	case !owner.Of(tags):
		return api.Foreign(operation, "the bucket "+a.name, owner)
	}
	_, err = a.client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	return api.UnlessGone(operation, err, cloud.CodeNoBucket)
}
