package contract_test

import (
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// loseFromSight takes the object away and makes the caller one that may read
// objects and not list them.
func loseFromSight(w *world) error {
	err := w.run("s3/DeleteObject")
	w.becomeNobody(readDocuments)
	return err
}

var objectRows = []row{{
	operation: "PutObject",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.PutObject(w.ctx, &s3.PutObjectInput{Bucket: &w.bucket, Key: &w.key, Body: strings.NewReader("text")}))
	},
	absent: "NoSuchBucket",
}, {
	operation: "GetObject",
	needs:     []string{"PutObject"},
	call: func(w *world) error {
		got, err := w.s3.GetObject(w.ctx, &s3.GetObjectInput{Bucket: &w.bucket, Key: &w.key})
		if err != nil {
			return err
		}
		return got.Body.Close()
	},
	absent: "NoSuchKey",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
	lose:   loseFromSight,
	lost:   "AccessDenied",
}, {
	operation: "HeadObject",
	needs:     []string{"PutObject"},
	call: func(w *world) error {
		return errorOf(w.s3.HeadObject(w.ctx, &s3.HeadObjectInput{Bucket: &w.bucket, Key: &w.key}))
	},
	absent: "NoSuchKey",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
	lose:   loseFromSight,
	lost:   "AccessDenied",
	head:   true,
}, {
	// Nobody learns whether there was an object.
	operation: "DeleteObject",
	needs:     []string{"PutObject"},
	call: func(w *world) error {
		return errorOf(w.s3.DeleteObject(w.ctx, &s3.DeleteObjectInput{Bucket: &w.bucket, Key: &w.key}))
	},
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "DeleteObjects",
	needs:     []string{"PutObject"},
	call: func(w *world) error {
		answer, err := w.s3.DeleteObjects(w.ctx, &s3.DeleteObjectsInput{
			Bucket: &w.bucket, Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: &w.key}}},
		})
		if err == nil && len(answer.Errors) > 0 {
			err = &partial{aws.ToString(answer.Errors[0].Code), aws.ToString(answer.Errors[0].Message)}
		}
		return err
	},
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
	partly: true,
}, {
	operation: "ListObjectsV2",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.ListObjectsV2(w.ctx, &s3.ListObjectsV2Input{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucket",
	fill:   func(w *world, name string) error { w.key = name; return w.run("s3/PutObject") },
	pages: func(w *world) ([]string, error) {
		in := &s3.ListObjectsV2Input{Bucket: &w.bucket, MaxKeys: pageOf}
		return shown(w, s3.NewListObjectsV2Paginator(w.s3, in), func(p *s3.ListObjectsV2Output) []string {
			return texts(p.Contents, func(o types.Object) *string { return o.Key })
		})
	},
}, {
	operation: "ListObjects",
	needs:     []string{"CreateBucket"},
	call: func(w *world) error {
		return errorOf(w.s3.ListObjects(w.ctx, &s3.ListObjectsInput{Bucket: &w.bucket}))
	},
	absent: "NoSuchBucket",
	whole:  "the SDK has no paginator for the older list",
}, {
	operation: "CopyObject",
	needs:     []string{"PutObject"},
	call: func(w *world) error {
		source := w.bucket + "/" + url.PathEscape(w.key)
		return errorOf(w.s3.CopyObject(w.ctx, &s3.CopyObjectInput{Bucket: &w.bucket, Key: aws.String("copy"), CopySource: &source}))
	},
	absent: "NoSuchKey",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "PutObjectTagging",
	needs:     []string{"PutObject"},
	call: func(w *world) error {
		tagging := &types.Tagging{TagSet: []types.Tag{{Key: &w.tag, Value: aws.String("a")}}}
		return errorOf(w.s3.PutObjectTagging(w.ctx, &s3.PutObjectTaggingInput{Bucket: &w.bucket, Key: &w.key, Tagging: tagging}))
	},
	absent: "NoSuchKey",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "GetObjectTagging",
	needs:     []string{"PutObject"},
	call: func(w *world) error {
		return errorOf(w.s3.GetObjectTagging(w.ctx, &s3.GetObjectTaggingInput{Bucket: &w.bucket, Key: &w.key}))
	},
	absent: "NoSuchKey",
	except: map[string]string{"CreateBucket": "NoSuchBucket"},
}, {
	operation: "DeleteObjectTagging",
	needs:     []string{"PutObjectTagging"},
	call: func(w *world) error {
		return errorOf(w.s3.DeleteObjectTagging(w.ctx, &s3.DeleteObjectTaggingInput{Bucket: &w.bucket, Key: &w.key}))
	},
	except: map[string]string{"CreateBucket": "NoSuchBucket", "PutObject": "NoSuchKey"},
}}
