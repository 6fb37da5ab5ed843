package s3_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

func put(t *testing.T, c *s3.Client, bucket, key, body string) *s3.PutObjectOutput {
	t.Helper()
	out, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return out
}

func get(t *testing.T, c *s3.Client, bucket, key string) string {
	t.Helper()
	out, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	body, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	if err := out.Body.Close(); err != nil {
		t.Fatalf("close %s: %v", key, err)
	}
	return string(body)
}

func TestObjectsComeBackAsTheyWereWritten(t *testing.T) {
	c := client(start(t), ours, "us-east-1")
	bucket(t, c, "docs")
	for _, key := range []string{"plain", "dir/a b+é", "x//y", "./dot", "q?x=%41"} {
		put(t, c, "docs", key, "body of "+key)
		if got := get(t, c, "docs", key); got != "body of "+key {
			t.Errorf("%s: got %q", key, got)
		}
	}
}

// TestPlainHTTP writes without TLS, where the SDK signs the body's hash instead
// of sending a trailer.
func TestPlainHTTP(t *testing.T) {
	server := start(t)
	c := client(server, ours, "us-east-1", func(o *s3.Options) {
		o.BaseEndpoint, o.HTTPClient = aws.String(server.PlainURL()), http.DefaultClient
	})
	bucket(t, c, "docs")
	put(t, c, "docs", "a", strings.Repeat("plain ", 50_000))
	if got := get(t, c, "docs", "a"); got != strings.Repeat("plain ", 50_000) {
		t.Errorf("got %d bytes, want 300000", len(got))
	}
}

func TestChecksumsOfTheSDKAreVerifiedAndReturned(t *testing.T) {
	c := client(start(t), ours, "us-east-1")
	bucket(t, c, "docs")
	for _, algorithm := range []types.ChecksumAlgorithm{
		types.ChecksumAlgorithmCrc32, types.ChecksumAlgorithmCrc32c, types.ChecksumAlgorithmCrc64nvme,
		types.ChecksumAlgorithmSha1, types.ChecksumAlgorithmSha256,
	} {
		t.Run(string(algorithm), func(t *testing.T) {
			_, err := c.PutObject(t.Context(), &s3.PutObjectInput{
				Bucket: aws.String("docs"), Key: aws.String("x"), Body: bytes.NewReader(make([]byte, 200_000)), ChecksumAlgorithm: algorithm,
			})
			if err != nil {
				t.Fatalf("put: %v", err)
			}
			out, err := c.GetObject(t.Context(), &s3.GetObjectInput{
				Bucket: aws.String("docs"), Key: aws.String("x"), ChecksumMode: types.ChecksumModeEnabled,
			})
			if err != nil {
				t.Fatalf("get: %v", err)
			}
			// The SDK verifies the sum while the body is read.
			if n, err := io.Copy(io.Discard, out.Body); n != 200_000 || err != nil {
				t.Errorf("read %d bytes: %v", n, err)
			}
			if err := out.Body.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	_, err := c.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String("docs"), Key: aws.String("x"), Body: strings.NewReader("body"), ChecksumSHA1: aws.String("98O8HYCOBHMq32eZZczDTKeuNEE="),
	})
	refused(t, err, http.StatusBadRequest, "BadDigest")
}

func TestConditionalWrites(t *testing.T) {
	c := client(start(t), ours, "us-east-1")
	bucket(t, c, "docs")
	write := func(key, match, noneMatch string) error {
		in := &s3.PutObjectInput{Bucket: aws.String("docs"), Key: &key, Body: strings.NewReader("v2")}
		if match != "" {
			in.IfMatch = &match
		}
		if noneMatch != "" {
			in.IfNoneMatch = &noneMatch
		}
		_, err := c.PutObject(t.Context(), in)
		return err
	}
	etag := *put(t, c, "docs", "a", "v1").ETag
	refused(t, write("a", "", "*"), http.StatusPreconditionFailed, "PreconditionFailed")
	refused(t, write("none", etag, ""), http.StatusNotFound, "NoSuchKey")
	if err := write("a", etag, ""); err != nil {
		t.Errorf("If-Match with the current ETag: %v", err)
	}
	refused(t, write("a", etag, ""), http.StatusPreconditionFailed, "PreconditionFailed")
	if err := write("new", "", "*"); err != nil {
		t.Errorf("If-None-Match on nothing: %v", err)
	}
}

// TestTwoWritersLoseNothing adds lines to one object from two writers, by read,
// merge and conditional write. The rounds over a real connection are fewer than
// those of the server's own test.
func TestTwoWritersLoseNothing(t *testing.T) {
	const rounds = 100
	c := client(start(t), ours, "us-east-1")
	bucket(t, c, "docs")
	put(t, c, "docs", "shared", "")
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		writers.Go(func() {
			for i := range rounds {
				if err := appendLine(t, c, fmt.Sprintf("%s%d\n", name, i)); err != nil {
					t.Errorf("append: %v", err)
					return
				}
			}
		})
	}
	writers.Wait()
	seen := map[string]int{}
	for line := range strings.Lines(get(t, c, "docs", "shared")) {
		seen[line]++
	}
	want := map[string]int{}
	for i := range rounds {
		want[fmt.Sprintf("a%d\n", i)], want[fmt.Sprintf("b%d\n", i)] = 1, 1
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// appendLine adds a line, and begins again whenever another writer was faster.
func appendLine(t *testing.T, c *s3.Client, line string) error {
	for {
		out, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("docs"), Key: aws.String("shared")})
		if err != nil {
			return err
		}
		body, err := io.ReadAll(out.Body)
		if err != nil {
			return err
		}
		if err := out.Body.Close(); err != nil {
			return err
		}
		_, err = c.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String("docs"), Key: aws.String("shared"), Body: strings.NewReader(string(body) + line), IfMatch: out.ETag,
		})
		if err == nil || !strings.Contains(err.Error(), "PreconditionFailed") {
			return err
		}
	}
}

func TestTheExpectedOwnerIsChecked(t *testing.T) {
	c := client(start(t), ours, "us-east-1")
	bucket(t, c, "docs")
	put(t, c, "docs", "a", "v1")
	_, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("docs"), Key: aws.String("a"), ExpectedBucketOwner: aws.String(theirs)})
	refused(t, err, http.StatusForbidden, "AccessDenied")
	_, err = c.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: aws.String("docs"), ExpectedBucketOwner: aws.String(theirs)})
	refused(t, err, http.StatusForbidden, "AccessDenied")
	_, err = c.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: aws.String("docs"), ExpectedBucketOwner: aws.String(ours)})
	refused(t, err, http.StatusNotFound, "NoSuchBucketPolicy")
}

func TestAnotherAccountSeesNothing(t *testing.T) {
	server := start(t)
	mine, other := client(server, ours, "us-east-1"), client(server, theirs, "us-east-1")
	bucket(t, mine, "docs")
	put(t, mine, "docs", "a", "v1")
	_, err := other.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("docs"), Key: aws.String("a")})
	refused(t, err, http.StatusForbidden, "AccessDenied")
	if !strings.Contains(err.Error(), "Access Denied") {
		t.Errorf("another account should learn no reason: %v", err)
	}
	_, err = other.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("docs")})
	refused(t, err, http.StatusConflict, "BucketAlreadyExists")
	list, err := other.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	if err != nil || len(list.Buckets) != 0 {
		t.Errorf("buckets %v, error %v, want none", list, err)
	}
}

func TestRegions(t *testing.T) {
	server := start(t)
	here, there := client(server, ours, "us-east-1"), client(server, ours, "eu-west-1")
	_, err := there.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("abroad")})
	refused(t, err, http.StatusBadRequest, "IllegalLocationConstraintException")
	_, err = there.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("abroad"),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "eu-west-1"}})
	if err != nil {
		t.Fatalf("create bucket abroad: %v", err)
	}
	_, err = here.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("abroad")})
	refused(t, err, http.StatusMovedPermanently, "PermanentRedirect")
	location, err := here.GetBucketLocation(t.Context(), &s3.GetBucketLocationInput{Bucket: aws.String("abroad")})
	if err != nil || location.LocationConstraint != "eu-west-1" {
		t.Errorf("location %v, error %v", location, err)
	}
	head, err := there.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("abroad")})
	if err != nil || aws.ToString(head.BucketRegion) != "eu-west-1" {
		t.Errorf("head %v, error %v", head, err)
	}
}

func TestVirtualHosts(t *testing.T) {
	c := client(start(t), ours, "us-east-1", func(o *s3.Options) {
		o.BaseEndpoint = aws.String("https://s3.us-east-1.amazonaws.com")
	})
	bucket(t, c, "docs")
	put(t, c, "docs", "dir/a b", "virtual")
	if got := get(t, c, "docs", "dir/a b"); got != "virtual" {
		t.Errorf("got %q", got)
	}
}

func TestPagesOfAList(t *testing.T) {
	c := client(start(t), ours, "us-east-1")
	bucket(t, c, "docs")
	for _, key := range []string{"a", "b/1", "b/2", "c/1", "d"} {
		put(t, c, "docs", key, key)
	}
	var got []string
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: aws.String("docs"), Delimiter: aws.String("/"), MaxKeys: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatalf("page: %v", err)
		}
		for _, one := range page.Contents {
			got = append(got, *one.Key)
		}
		for _, one := range page.CommonPrefixes {
			got = append(got, *one.Prefix)
		}
	}
	if diff := cmp.Diff([]string{"a", "b/", "d", "c/"}, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestAPublicPolicyOpensExactlyItsKeys(t *testing.T) {
	server := start(t)
	c := client(server, ours, "us-east-1")
	bucket(t, c, "docs")
	put(t, c, "docs", "open", "for all")
	put(t, c, "docs", "closed", "for us")
	policy := &s3.PutBucketPolicyInput{Bucket: aws.String("docs"), Policy: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/open"}]}`)}
	_, err := c.PutBucketPolicy(t.Context(), policy)
	refused(t, err, http.StatusForbidden, "AccessDenied")
	if !strings.Contains(err.Error(), "public policies are prevented by the BlockPublicPolicy setting") {
		t.Errorf("the refusal should name the setting: %v", err)
	}
	_, err = c.PutPublicAccessBlock(t.Context(), &s3.PutPublicAccessBlockInput{Bucket: aws.String("docs"),
		PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{BlockPublicAcls: aws.Bool(true), IgnorePublicAcls: aws.Bool(true)}})
	if err != nil {
		t.Fatalf("open the bucket: %v", err)
	}
	if _, err := c.PutBucketPolicy(t.Context(), policy); err != nil {
		t.Fatalf("put policy: %v", err)
	}
	for path, want := range map[string]int{"/docs/open": 200, "/docs/closed": 403, "/docs/none": 403, "/docs?list-type=2": 403, "/none/x": 404} {
		if got := anonymously(t, server, server.URL()+path); got != want {
			t.Errorf("anonymous GET %s: status %d, want %d", path, got, want)
		}
	}
}

func anonymously(t *testing.T, server *awstest.Lab, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	server.Must(r, err)
	status, _, _ := server.Send(server.Client(), r)
	return status
}

func TestAPresignedURLReads(t *testing.T) {
	server := start(t)
	c := client(server, ours, "us-east-1")
	bucket(t, c, "docs")
	put(t, c, "docs", "a", "v1")
	signed, err := s3.NewPresignClient(c).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("docs"), Key: aws.String("a")})
	if err != nil {
		t.Fatalf("presign: %v", err)
	}
	if got := anonymously(t, server, signed.URL); got != http.StatusOK {
		t.Errorf("presigned URL: status %d, want 200", got)
	}
	other := strings.Replace(signed.URL, "/docs/a?", "/docs/b?", 1)
	if got := anonymously(t, server, other); got != http.StatusForbidden {
		t.Errorf("presigned URL turned to another object: status %d, want 403", got)
	}
}

func TestWhatIsNotPlayedIsRefusedByName(t *testing.T) {
	c := client(start(t), ours, "us-east-1")
	bucket(t, c, "docs")
	_, err := c.GetBucketAcl(t.Context(), &s3.GetBucketAclInput{Bucket: aws.String("docs")})
	refused(t, err, http.StatusNotImplemented, "NotImplemented")
	if !strings.Contains(err.Error(), "?acl") {
		t.Errorf("the refusal should name the sub-resource: %v", err)
	}
}
