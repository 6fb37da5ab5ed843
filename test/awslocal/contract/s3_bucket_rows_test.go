package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// readByAccount is a policy of the bucket that is not public.
const readByAccount = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"` + account + `"},
	"Action":"s3:GetObject","Resource":"arn:aws:s3:::documents/*"}}`

var bucketRows = []row{{
	operation: "ListBuckets",
	call:      func(w *world) error { return errorOf(w.s3.ListBuckets(w.ctx, &s3.ListBucketsInput{})) },
	fill:      func(w *world, name string) error { w.bucket = name; return w.run("s3/CreateBucket") },
	pages: func(w *world) ([]string, error) {
		return shown(w, s3.NewListBucketsPaginator(w.s3, &s3.ListBucketsInput{MaxBuckets: pageOf}), func(p *s3.ListBucketsOutput) []string {
			return texts(p.Buckets, func(b types.Bucket) *string { return b.Name })
		})
	},
}, {
	operation: "CreateBucket",
	call: func(w *world) error {
		return errorOf(w.s3.CreateBucket(w.ctx, &s3.CreateBucketInput{
			Bucket: &w.bucket, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: region},
		}))
	},
	again: "BucketAlreadyOwnedByYou",
}, {
	operation: "HeadBucket",
	needs:     []string{"CreateBucket"},
	call:      func(w *world) error { return errorOf(w.s3.HeadBucket(w.ctx, &s3.HeadBucketInput{Bucket: &w.bucket})) },
	absent:    "NoSuchBucket",
	head:      true,
}, {
	operation: "DeleteBucket",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.DeleteBucket(w.ctx, &s3.DeleteBucketInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucket",
	again:  "NoSuchBucket",
}, {
	operation: "GetBucketLocation",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.GetBucketLocation(w.ctx, &s3.GetBucketLocationInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucket",
}, {
	operation: "PutBucketTagging",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.PutBucketTagging(w.ctx, &s3.PutBucketTaggingInput{
			Bucket: &w.bucket, Tagging: &types.Tagging{TagSet: []types.Tag{{Key: &w.tag, Value: aws.String("a")}}},
		}))
	},
	absent: "NoSuchBucket",
}, {
	operation: "GetBucketTagging",
	needs:     []string{"PutBucketTagging"},
	call: func(w *world) error {
		return errorOf(w.s3.GetBucketTagging(w.ctx, &s3.GetBucketTaggingInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchTagSet",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "DeleteBucketTagging",
	needs:     []string{"PutBucketTagging"},
	call: func(w *world) error {
		return errorOf(w.s3.DeleteBucketTagging(w.ctx, &s3.DeleteBucketTaggingInput{Bucket: &w.bucket}))
	},
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "PutBucketPolicy",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.PutBucketPolicy(w.ctx, &s3.PutBucketPolicyInput{Bucket: &w.bucket, Policy: aws.String(readByAccount)}))
	},
	absent: "NoSuchBucket",
}, {
	operation: "GetBucketPolicy",
	needs:     []string{"PutBucketPolicy"},
	call: func(w *world) error {
		return errorOf(w.s3.GetBucketPolicy(w.ctx, &s3.GetBucketPolicyInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucketPolicy",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "GetBucketPolicyStatus",
	needs:     []string{"PutBucketPolicy"},
	call: func(w *world) error {
		return errorOf(w.s3.GetBucketPolicyStatus(w.ctx, &s3.GetBucketPolicyStatusInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucketPolicy",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "DeleteBucketPolicy",
	needs:     []string{"PutBucketPolicy"},
	call: func(w *world) error {
		return errorOf(w.s3.DeleteBucketPolicy(w.ctx, &s3.DeleteBucketPolicyInput{Bucket: &w.bucket}))
	},
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "PutPublicAccessBlock",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.PutPublicAccessBlock(w.ctx, &s3.PutPublicAccessBlockInput{
			Bucket: &w.bucket, PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{BlockPublicAcls: aws.Bool(true)},
		}))
	},
	absent: "NoSuchBucket",
}, {
	// A new bucket has one.
	operation: "GetPublicAccessBlock",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.GetPublicAccessBlock(w.ctx, &s3.GetPublicAccessBlockInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucket",
	lose:   func(w *world) error { return w.run("s3/DeletePublicAccessBlock") },
	lost:   "NoSuchPublicAccessBlockConfiguration",
}, {
	operation: "DeletePublicAccessBlock",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.DeletePublicAccessBlock(w.ctx, &s3.DeletePublicAccessBlockInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucket",
}}
