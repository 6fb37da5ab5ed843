package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

const headBucket = "HeadBucket"

// Get reads all that is known of a bucket but its objects. A missing one is
// Exists=false. A bucket in another region than is said is read there, and Region
// tells.
func (b *Buckets) Get(ctx context.Context, id identity.Identity, bucket cloud.Bucket) (cloud.BucketState, error) {
	seen, err := b.get(ctx, id, bucket)
	switch known := cloud.Classify(string(api), headBucket, err); {
	case known == nil:
		return seen, nil
	case known.Code == cloud.CodeNoBucket, known.Operation == headBucket && known.Class == fault.Gone:
		return cloud.BucketState{}, nil
	default:
		return cloud.BucketState{}, *known
	}
}

func (b *Buckets) get(ctx context.Context, id identity.Identity, bucket cloud.Bucket) (cloud.BucketState, error) {
	a, err := b.locate(ctx, id, bucket)
	if err != nil {
		return cloud.BucketState{}, err
	}
	seen := cloud.BucketState{Exists: true, Region: a.region}
	if seen.Tags, err = a.tags(ctx); err != nil {
		return seen, err
	}
	if seen.Access, err = a.access(ctx); err != nil {
		return seen, err
	}
	seen.Policy, err = a.policy(ctx)
	return seen, err
}

// locate finds the region that the bucket really is in.
func (b *Buckets) locate(ctx context.Context, id identity.Identity, bucket cloud.Bucket) (at, error) {
	a, err := b.head(ctx, id, bucket)
	if region := redirect(err); region != "" && region != bucket.Region {
		bucket.Region = region
		a, err = b.head(ctx, id, bucket)
	}
	return a, api.Fault(headBucket, err)
}

// head asks whether the bucket is there and may be looked at.
func (b *Buckets) head(ctx context.Context, id identity.Identity, bucket cloud.Bucket) (at, error) {
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return at{}, err
	}
	out, err := a.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	if err != nil {
		return at{}, err
	}
	if region := aws.ToString(out.BucketRegion); region != "" {
		a.region = region
	}
	return a, nil
}

// redirect is the region that an answer sends us to, empty for none. S3 names
// the region in refusals too; there it is nothing to follow (S3 API: HeadBucket).
func redirect(err error) string {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil {
		return ""
	}
	switch response.HTTPStatusCode() {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest:
		return response.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return ""
}

// tags are all tags of the bucket.
func (a at) tags(ctx context.Context) (map[string]string, error) {
	out, err := a.client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	if cloud.HasCode(err, "NoSuchTagSet") {
		return nil, nil
	}
	if err != nil {
		return nil, api.Fault("GetBucketTagging", err)
	}
	tags := make(map[string]string, len(out.TagSet))
	for _, tag := range out.TagSet {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return tags, nil
}

// access is the bucket's own public access block; none is all switches off.
func (a at) access(ctx context.Context) (cloud.PublicAccess, error) {
	out, err := a.client.GetPublicAccessBlock(ctx,
		&s3.GetPublicAccessBlockInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	switch {
	case cloud.HasCode(err, "NoSuchPublicAccessBlockConfiguration"):
		return cloud.PublicAccess{}, nil
	case err != nil:
		return cloud.PublicAccess{}, api.Fault("GetPublicAccessBlock", err)
	case out.PublicAccessBlockConfiguration == nil:
		return cloud.PublicAccess{}, nil
	}
	block := out.PublicAccessBlockConfiguration
	return cloud.PublicAccess{
		BlockPublicACLs:       aws.ToBool(block.BlockPublicAcls),
		IgnorePublicACLs:      aws.ToBool(block.IgnorePublicAcls),
		BlockPublicPolicy:     aws.ToBool(block.BlockPublicPolicy),
		RestrictPublicBuckets: aws.ToBool(block.RestrictPublicBuckets),
	}, nil
}

// policy is the bucket policy, nil for none.
func (a at) policy(ctx context.Context) ([]byte, error) {
	out, err := a.client.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	if cloud.HasCode(err, codeNoPolicy) {
		return nil, nil
	}
	if err != nil {
		return nil, api.Fault("GetBucketPolicy", err)
	}
	return []byte(aws.ToString(out.Policy)), nil
}

// Keys are the first keys in the bucket, at most so many. Old versions of objects
// are not looked at.
func (b *Buckets) Keys(ctx context.Context, id identity.Identity, bucket cloud.Bucket, most int32) ([]string, error) {
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return nil, api.Fault("ListObjectsV2", err)
	}
	return a.keys(ctx, most)
}

func (a at) keys(ctx context.Context, most int32) ([]string, error) {
	list, err := a.client.ListObjectsV2(ctx,
		&s3.ListObjectsV2Input{Bucket: &a.name, MaxKeys: &most, ExpectedBucketOwner: a.owner})
	if err != nil {
		return nil, api.Fault("ListObjectsV2", err)
	}
	var keys []string
	for _, object := range list.Contents {
		keys = append(keys, aws.ToString(object.Key))
	}
	return keys, nil
}

// Read reads one object; a missing one is Exists=false. One of more bytes than most
// is a fault Invalid: half of it would be taken for a broken one.
func (b *Buckets) Read(ctx context.Context, id identity.Identity, bucket cloud.Bucket, key string, most int64) (cloud.Object, error) {
	const operation = "GetObject"
	a, err := b.at(ctx, id, bucket)
	if err != nil {
		return cloud.Object{}, api.Fault(operation, err)
	}
	out, err := a.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &a.name, Key: &key, ExpectedBucketOwner: a.owner})
	if err != nil {
		return cloud.Object{}, api.UnlessGone(operation, err, codeNoKey)
	}
	defer out.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(out.Body, most+1))
	if err != nil {
		return cloud.Object{}, api.Fault(operation, err)
	}
	if int64(len(body)) > most {
		return cloud.Object{}, fault.Fault{
			Class: fault.Invalid, Service: string(api), Operation: operation, Code: "DocumentTooLarge",
			Message: fmt.Sprintf("the object %s is larger than the %d bytes that are read of one; remove it", key, most),
		}
	}
	return cloud.Object{Exists: true, Body: body, ETag: aws.ToString(out.ETag)}, nil
}
