package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// inAWS is one bucket as one identity sees it. Every call about a bucket that is
// there says which account owns it, so that S3 itself refuses anybody else's.
type inAWS struct {
	client *s3.Client
	name   *string
	owner  *string
	region string
}

func at(ctx context.Context, auth *awsauth.Auth, name string, standing bucket.Standing) (inAWS, error) {
	config, err := auth.Config(ctx, standing.Identity)
	if err != nil {
		return inAWS{}, err
	}
	if standing.MayCall != nil {
		config = awsauth.Guarded(config, standing.MayCall)
	}
	return inAWS{s3.NewFromConfig(config), &name, &standing.Account, standing.Identity.Region}, nil
}

// look says what is there, without changing anything.
func (a inAWS) look(ctx context.Context, owner string) (bucket.Sight, error) {
	_, err := a.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: a.name, ExpectedBucketOwner: a.owner})
	if hasCode(err, "NotFound", "NoSuchBucket") {
		return bucket.Sight{Presence: bucket.Absent}, nil
	}
	if err != nil {
		return bucket.Sight{}, fault.Of("S3", "HeadBucket", err)
	}
	tags, err := a.tags(ctx)
	if err != nil {
		return bucket.Sight{}, err
	}
	seen := bucket.Sight{Presence: bucket.Foreign, Tags: tags}
	if tags[bucket.OwnerTag] == owner {
		seen.Presence = bucket.Ours
	}
	if len(tags) > 0 {
		return seen, nil
	}
	found, err := a.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: a.name, MaxKeys: aws.Int32(1), ExpectedBucketOwner: a.owner})
	if err != nil {
		return bucket.Sight{}, fault.Of("S3", "ListObjectsV2", err)
	}
	if len(found.Contents) == 0 {
		seen.Presence = bucket.Bare
	}
	return seen, nil
}

func (a inAWS) tags(ctx context.Context) (map[string]string, error) {
	out, err := a.client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: a.name, ExpectedBucketOwner: a.owner})
	if hasCode(err, "NoSuchTagSet") {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Of("S3", "GetBucketTagging", err)
	}
	tags := map[string]string{}
	for _, tag := range out.TagSet {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return tags, nil
}

// create makes the bucket; one that this account has made before is fine.
func (a inAWS) create(ctx context.Context) error {
	input := &s3.CreateBucketInput{Bucket: a.name}
	if a.region != "us-east-1" { // which has no name as a place
		input.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(a.region)}
	}
	_, err := a.client.CreateBucket(ctx, input)
	if hasCode(err, "BucketAlreadyOwnedByYou") {
		return nil
	}
	return faultOf("CreateBucket", err)
}

// tag replaces all tags of a bucket that is the owner's, or has none: who owns it
// is asked again, because its name may have changed hands since it was looked at.
func (a inAWS) tag(ctx context.Context, owner string, tags map[string]string) error {
	if err := a.mustBe(ctx, owner); err != nil {
		return err
	}
	var set []types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		set = append(set, types.Tag{Key: &key, Value: aws.String(tags[key])})
	}
	_, err := a.client.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{
		Bucket: a.name, ExpectedBucketOwner: a.owner, Tagging: &types.Tagging{TagSet: set},
	})
	return faultOf("PutBucketTagging", err)
}

// remove deletes the bucket; one that is gone is fine.
func (a inAWS) remove(ctx context.Context, owner string) error {
	if err := a.mustBe(ctx, owner); err != nil {
		if hasCode(err, "NoSuchBucket") {
			return nil
		}
		return err
	}
	_, err := a.client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: a.name, ExpectedBucketOwner: a.owner})
	if hasCode(err, "NoSuchBucket") {
		return nil
	}
	return faultOf("DeleteBucket", err)
}

// mustBe refuses a bucket with tags of which the owner's is not one.
func (a inAWS) mustBe(ctx context.Context, owner string) error {
	tags, err := a.tags(ctx)
	if err != nil || len(tags) == 0 || tags[bucket.OwnerTag] == owner {
		return err
	}
	return &fault.Fault{
		Class: fault.Request, Service: "S3", Operation: "GetBucketTagging", Code: "BucketNotOurs",
		Message: "the bucket is not this Bucket's any more",
	}
}

func faultOf(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Of("S3", operation, err)
}

func hasCode(err error, codes ...string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains(codes, api.ErrorCode())
}
