// Package bucket reads and changes S3 buckets, their policies and their small
// objects. Every call says which account must own the bucket, so that a name that
// changed hands is refused by S3 itself.
//
// What it asks of IAM, on the bucket: s3:ListBucket, s3:GetBucketTagging,
// s3:GetBucketPublicAccessBlock and s3:GetBucketPolicy; to change it
// s3:CreateBucket, s3:PutBucketTagging, s3:PutBucketPublicAccessBlock,
// s3:PutBucketPolicy, s3:DeleteBucketPolicy and s3:DeleteBucket; on the
// objects s3:GetObject, s3:PutObject and s3:DeleteObject. Without s3:ListBucket
// S3 calls a missing object denied.
package bucket

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
)

const (
	api = cloud.API("S3")

	// Codes that decide here.
	codeNoKey    = "NoSuchKey"
	codeNoPolicy = "NoSuchBucketPolicy"
)

// Buckets are the buckets of whichever account an identity leads to. All
// errors are fault.Fault values. It is safe for concurrent use.
type Buckets struct{ auth *awsauth.Auth }

// New makes Buckets that get their identities from auth.
func New(auth *awsauth.Auth) *Buckets { return &Buckets{auth: auth} }

// at is one bucket as one identity in one region sees it.
type at struct {
	client client
	name   string
	// owner is the account that must own the bucket, nil for any.
	owner  *string
	region string
}

// at resolves the identity for calls about one bucket. The region is the
// bucket's, not the identity's.
func (b *Buckets) at(ctx context.Context, id identity.Identity, bucket cloud.Bucket) (at, error) {
	region := bucket.Region
	if region == "" {
		region = id.Region
	}
	config, err := b.auth.Config(ctx, id.In(region))
	if err != nil {
		return at{}, err
	}
	out := at{client: s3.NewFromConfig(config), name: bucket.Name, region: config.Region}
	if bucket.AccountID != "" {
		out.owner = aws.String(bucket.AccountID)
	}
	return out, nil
}
