package conformance_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

var content = strings.Repeat("every byte counts\n", 20_000)

// store is a client of S3, and what it sent last.
func (w *world) store(t *testing.T) (*s3.Client, *transport) {
	t.Helper()
	cfg := w.config(t, nil)
	return s3.NewFromConfig(cfg), cfg.HTTPClient.(*transport)
}

func put(t *testing.T, client *s3.Client, key string, body io.Reader, changes ...func(*s3.PutObjectInput)) *s3.PutObjectOutput {
	t.Helper()
	input := &s3.PutObjectInput{Bucket: aws.String("conformance"), Key: &key, Body: body}
	for _, change := range changes {
		change(input)
	}
	return must[*s3.PutObjectOutput](t)(client.PutObject(t.Context(), input))
}

func get(t *testing.T, client *s3.Client, key string, changes ...func(*s3.GetObjectInput)) (*s3.GetObjectOutput, string) {
	t.Helper()
	input := &s3.GetObjectInput{Bucket: aws.String("conformance"), Key: &key, ChecksumMode: types.ChecksumModeEnabled}
	for _, change := range changes {
		change(input)
	}
	answer := must[*s3.GetObjectOutput](t)(client.GetObject(t.Context(), input))
	text := must[[]byte](t)(io.ReadAll(answer.Body))
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	return answer, string(text)
}

var goS3 = map[string]attempt{
	"an object comes back as it was written": func(t *testing.T, w *world) {
		client, _ := w.store(t)
		for _, key := range []string{"plain", "dir/a b+é", "q?x=%41"} {
			written := put(t, client, key, strings.NewReader(content), func(in *s3.PutObjectInput) {
				in.ContentType, in.Metadata = aws.String("text/x-test"), map[string]string{"team": "a"}
			})
			answer, text := get(t, client, key)
			if text != content || *answer.ETag != *written.ETag || *answer.ChecksumCRC32 != *written.ChecksumCRC32 ||
				*answer.ContentType != "text/x-test" || answer.Metadata["team"] != "a" {
				t.Errorf("%s: wrote %+v, read %d bytes and %+v", key, written, len(text), answer)
			}
		}
	},
	// Over plain HTTP the SDK wants to sign the body's hash, and so to read it
	// twice; the checksum goes ahead. Over TLS it follows the body.
	"a stream is written with a checksum": func(t *testing.T, w *world) {
		client, sent := w.store(t)
		if strings.HasPrefix(w.url, "https:") {
			put(t, client, "stream", io.MultiReader(strings.NewReader(content)), func(in *s3.PutObjectInput) {
				in.ContentLength = aws.Int64(int64(len(content)))
			})
			equal(t, sent.last.Get("X-Amz-Content-Sha256"), "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
			equal(t, sent.last.Get("X-Amz-Trailer"), "x-amz-checksum-crc32")
		} else {
			put(t, client, "stream", bytes.NewReader([]byte(content)))
			equal(t, len(sent.last.Get("X-Amz-Content-Sha256")), 64)
			equal(t, len(sent.last.Get("X-Amz-Checksum-Crc32")), 8)
		}
		answer, text := get(t, client, "stream")
		if text != content || answer.ContentEncoding != nil || len(aws.ToString(answer.ChecksumCRC32)) != 8 {
			t.Errorf("read %d bytes and %+v", len(text), answer)
		}
	},
	"a range of an object is read": func(t *testing.T, w *world) {
		client, _ := w.store(t)
		put(t, client, "range", strings.NewReader("0123456789"))
		answer, text := get(t, client, "range", func(in *s3.GetObjectInput) { in.Range = aws.String("bytes=2-4") })
		equal(t, text, "234")
		equal(t, *answer.ContentRange, "bytes 2-4/10")
		_, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("conformance"), Key: aws.String("range"), Range: aws.String("bytes=20-")})
		refused(t, err, "InvalidRange")
	},
	"objects come in pages": func(t *testing.T, w *world) {
		client, _ := w.store(t)
		pager := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: aws.String("pages"), MaxKeys: aws.Int32(10)})
		var names []string
		pages := 0
		for ; pager.HasMorePages(); pages++ {
			for _, one := range must[*s3.ListObjectsV2Output](t)(pager.NextPage(t.Context())).Contents {
				names = append(names, *one.Key)
			}
		}
		demandPages(t, names, "page ", pages)
	},
	"a presigned URL reads an object": func(t *testing.T, w *world) {
		client, _ := w.store(t)
		signed := must[*v4.PresignedHTTPRequest](t)(s3.NewPresignClient(client).PresignGetObject(t.Context(), &s3.GetObjectInput{
			Bucket: aws.String("pages"), Key: aws.String("page 07"),
		}))
		if status, body := w.ask(t, signed.Method, signed.URL, "", signed.SignedHeader.Clone()); status != http.StatusOK || body != "x" {
			t.Errorf("the URL is answered %d %s", status, body)
		}
		other := strings.Replace(signed.URL, "page%2007", "page%2008", 1)
		if status, body := w.ask(t, signed.Method, other, "", nil); status != http.StatusForbidden || !strings.Contains(body, "SignatureDoesNotMatch") {
			t.Errorf("the URL for another object is answered %d %s", status, body)
		}
	},
	"a presigned URL writes an object": func(t *testing.T, w *world) {
		client, _ := w.store(t)
		signed := must[*v4.PresignedHTTPRequest](t)(s3.NewPresignClient(client).PresignPutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String("conformance"), Key: aws.String("uploaded"),
		}))
		if status, body := w.ask(t, signed.Method, signed.URL, "written without the SDK", nil); status != http.StatusOK {
			t.Fatalf("the URL is answered %d %s", status, body)
		}
		_, text := get(t, client, "uploaded")
		equal(t, text, "written without the SDK")
	},
	"a bucket is waited for": func(t *testing.T, w *world) {
		client, _ := w.store(t)
		bucket := &s3.HeadBucketInput{Bucket: aws.String("awaited")}
		w.awaiting(t, "HeadBucket", "NoSuchBucket", func() error {
			waiter := s3.NewBucketExistsWaiter(client, func(o *s3.BucketExistsWaiterOptions) { o.MinDelay, o.MaxDelay = time.Second, time.Second })
			return waiter.Wait(t.Context(), bucket, time.Minute)
		}, func() {
			must[*s3.CreateBucketOutput](t)(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket.Bucket}))
		})
		must[*s3.DeleteBucketOutput](t)(client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: bucket.Bucket}))
		equal(t, s3.NewBucketNotExistsWaiter(client).Wait(t.Context(), bucket, time.Minute), nil)
	},
	"an object that is missing is NoSuchKey": func(t *testing.T, w *world) {
		client, _ := w.store(t)
		_, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("conformance"), Key: aws.String("none")})
		var missing *types.NoSuchKey
		if !errors.As(err, &missing) {
			t.Errorf("the error is %v", err)
		}
		_, err = client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("no-such-bucket")})
		refused(t, err, "NoSuchBucket")
	},
}
