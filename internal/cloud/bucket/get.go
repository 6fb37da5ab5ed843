package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// Get reads all that is known of a bucket and of the two documents below the
// prefix. A missing bucket is Exists=false; anything else that could not be
// read is the bucket's Fault. A bucket in another region than the reference
// says is read there, and Region tells.
func (b *Buckets) Get(ctx context.Context, id identity.Identity, ref issuer.BucketRef, prefix string) issuer.Bucket {
	seen, err := b.get(ctx, id, ref, prefix)
	switch known := cloud.Classify(service, headBucket, err); {
	case known == nil:
		return seen
	case known.Code == codeNoBucket, known.Operation == headBucket && known.Class == fault.Gone:
		return issuer.Bucket{}
	default:
		return issuer.Bucket{Fault: known}
	}
}

func (b *Buckets) get(ctx context.Context, id identity.Identity, ref issuer.BucketRef, prefix string) (issuer.Bucket, error) {
	a, err := b.locate(ctx, id, ref)
	if err != nil {
		return issuer.Bucket{}, err
	}
	seen := issuer.Bucket{Exists: true, Region: a.region}
	tags, err := a.tags(ctx)
	if err != nil {
		return seen, err
	}
	seen.Owner, seen.Tombstone = tagValue(tags, issuer.OwnerTag), hasTag(tags, issuer.TombstoneTag)
	if seen.Access, err = a.access(ctx); err != nil {
		return seen, err
	}
	if seen.Policy, err = a.policy(ctx); err != nil {
		return seen, err
	}
	keys, discovery := issuer.DocumentKeys(prefix)
	if seen.Keys, err = a.document(ctx, keys); err != nil {
		return seen, err
	}
	seen.Discovery, err = a.document(ctx, discovery)
	return seen, err
}

// locate finds the region that the bucket really is in.
func (b *Buckets) locate(ctx context.Context, id identity.Identity, ref issuer.BucketRef) (at, error) {
	a, err := b.head(ctx, id, ref)
	if region := redirect(err); region != "" && region != ref.Region {
		ref.Region = region
		a, err = b.head(ctx, id, ref)
	}
	return a, faultAt(headBucket, err)
}

// head asks whether the bucket is there and may be looked at.
func (b *Buckets) head(ctx context.Context, id identity.Identity, ref issuer.BucketRef) (at, error) {
	a, err := b.at(ctx, id, ref)
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

// HoldsOthers says that the bucket holds objects beside the two documents below
// the prefix. Old versions of objects are not looked at.
func (b *Buckets) HoldsOthers(ctx context.Context, id identity.Identity, ref issuer.BucketRef, prefix string) (bool, error) {
	a, err := b.at(ctx, id, ref)
	if err != nil {
		return false, faultAt("ListObjectsV2", err)
	}
	keys, discovery := issuer.DocumentKeys(prefix)
	list, err := a.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: &a.name, MaxKeys: aws.Int32(3), ExpectedBucketOwner: a.owner,
	})
	if err != nil {
		return false, faultAt("ListObjectsV2", err)
	}
	return slices.ContainsFunc(list.Contents, func(o types.Object) bool {
		key := aws.ToString(o.Key)
		return key != keys && key != discovery
	}), nil
}

// tags are all tags of the bucket.
func (a at) tags(ctx context.Context) ([]types.Tag, error) {
	out, err := a.client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	if hasCode(err, "NoSuchTagSet") {
		return nil, nil
	}
	if err != nil {
		return nil, faultAt("GetBucketTagging", err)
	}
	return out.TagSet, nil
}

func isTag(key string) func(types.Tag) bool {
	return func(t types.Tag) bool { return aws.ToString(t.Key) == key }
}

func hasTag(tags []types.Tag, key string) bool { return slices.ContainsFunc(tags, isTag(key)) }

// tagValue is the value of a tag, empty for one that is not there.
func tagValue(tags []types.Tag, key string) string {
	if i := slices.IndexFunc(tags, isTag(key)); i >= 0 {
		return aws.ToString(tags[i].Value)
	}
	return ""
}

// access is the bucket's own public access block; none is all switches off.
func (a at) access(ctx context.Context) (issuer.PublicAccessBlock, error) {
	out, err := a.client.GetPublicAccessBlock(ctx,
		&s3.GetPublicAccessBlockInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	if hasCode(err, "NoSuchPublicAccessBlockConfiguration") {
		return issuer.PublicAccessBlock{}, nil
	}
	if err != nil {
		return issuer.PublicAccessBlock{}, faultAt("GetPublicAccessBlock", err)
	}
	block := out.PublicAccessBlockConfiguration
	if block == nil {
		return issuer.PublicAccessBlock{}, nil
	}
	return issuer.PublicAccessBlock{
		BlockPublicACLs:       aws.ToBool(block.BlockPublicAcls),
		IgnorePublicACLs:      aws.ToBool(block.IgnorePublicAcls),
		BlockPublicPolicy:     aws.ToBool(block.BlockPublicPolicy),
		RestrictPublicBuckets: aws.ToBool(block.RestrictPublicBuckets),
	}, nil
}

// policy is the bucket policy, nil for none.
func (a at) policy(ctx context.Context) ([]byte, error) {
	out, err := a.client.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &a.name, ExpectedBucketOwner: a.owner})
	if hasCode(err, "NoSuchBucketPolicy") {
		return nil, nil
	}
	if err != nil {
		return nil, faultAt("GetBucketPolicy", err)
	}
	return []byte(aws.ToString(out.Policy)), nil
}

// document reads one object, at most issuer.MaxDocumentBytes of it: more is no
// document of ours, and half of it would be taken for a broken one.
func (a at) document(ctx context.Context, key string) (issuer.Document, error) {
	out, err := a.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &a.name, Key: &key, ExpectedBucketOwner: a.owner})
	if hasCode(err, codeNoKey) {
		return issuer.Document{}, nil
	}
	if err != nil {
		return issuer.Document{}, faultAt("GetObject", err)
	}
	defer out.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(out.Body, issuer.MaxDocumentBytes+1))
	if err != nil {
		return issuer.Document{}, faultAt("GetObject", err)
	}
	if len(body) > issuer.MaxDocumentBytes {
		return issuer.Document{}, fault.Fault{
			Class: fault.Invalid, Service: service, Operation: "GetObject", Code: "DocumentTooLarge",
			Message: fmt.Sprintf("the object %s is larger than %d bytes, which no document of an issuer is; remove it",
				key, issuer.MaxDocumentBytes),
		}
	}
	return issuer.Document{Exists: true, Body: body, ETag: aws.ToString(out.ETag)}, nil
}

const (
	headBucket = "HeadBucket"
	// Codes that decide here.
	codeNoBucket = "NoSuchBucket"
	codeNoKey    = "NoSuchKey"
)

// hasCode says whether the error is a fault or an answer of that code.
func hasCode(err error, code string) bool {
	var known fault.Fault
	if errors.As(err, &known) {
		return known.Code == code
	}
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}
