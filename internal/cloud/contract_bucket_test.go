package cloud_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

var (
	own     = issuer.BucketRef{Name: "tabard-own", Region: region, AccountID: ownAccount}
	allOn   = issuer.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}
	keysKey = "a/b/" + issuer.KeysPath
)

func createOwn() issuer.CreateBucket {
	return issuer.CreateBucket{Identity: person, Bucket: own, Owner: ownURL}
}

func deleteOwn() issuer.DeleteBucket {
	return issuer.DeleteBucket{Identity: person, Bucket: own, Owner: ownURL}
}

func (l *lab) bucket(t *testing.T) issuer.Bucket {
	t.Helper()
	seen := l.buckets.Get(t.Context(), person, own, "a/b")
	if seen.Fault != nil {
		t.Fatalf("Get: %v", seen.Fault)
	}
	return seen
}

func (l *lab) s3(t *testing.T) *s3.Client {
	t.Helper()
	return s3.NewFromConfig(l.config(t))
}

// make creates the bucket as somebody would by hand.
func (l *lab) make(t *testing.T) {
	t.Helper()
	_, err := l.s3(t).CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: &own.Name, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: region},
	})
	must(t, err)
}

func TestMissingBucketIsNoFault(t *testing.T) {
	if diff := cmp.Diff(issuer.Bucket{}, newLab(t).bucket(t)); diff != "" {
		t.Errorf("bucket (-want +got):\n%s", diff)
	}
}

func TestCreatedBucketIsOursAndClosed(t *testing.T) {
	l := newLab(t)
	for range 2 {
		must(t, l.buckets.Create(t.Context(), createOwn()))
		want := issuer.Bucket{Exists: true, Region: region, Owner: ownURL, Access: allOn}
		if diff := cmp.Diff(want, l.bucket(t)); diff != "" {
			t.Errorf("bucket (-want +got):\n%s", diff)
		}
	}
	must(t, l.buckets.Delete(t.Context(), deleteOwn()))
	must(t, l.buckets.Delete(t.Context(), deleteOwn()))
	if l.bucket(t).Exists {
		t.Error("the bucket is still there")
	}
}

func TestCreationInUsEast1NeedsNoLocationAndAdoptsNothing(t *testing.T) {
	l := newLab(t)
	ref := issuer.BucketRef{Name: "tabard-east", Region: "us-east-1", AccountID: ownAccount}
	must(t, l.buckets.Create(t.Context(), issuer.CreateBucket{Identity: person, Bucket: ref, Owner: ownURL}))
	if seen := l.buckets.Get(t.Context(), person, ref, ""); seen.Region != "us-east-1" || seen.Owner != ownURL {
		t.Errorf("got %+v", seen)
	}
	err := l.buckets.Create(t.Context(), issuer.CreateBucket{Identity: person, Bucket: ref, Owner: ownURL + "2"})
	wantFault(t, err, fault.Exists, "CreateBucket")
}

func TestCreationFinishesWhatACrashLeft(t *testing.T) {
	l := newLab(t)
	l.make(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	if got := l.bucket(t).Owner; got != ownURL {
		t.Errorf("owner %q, want %q", got, ownURL)
	}
}

func TestCreationTakesNoBucketOfSomebodyElse(t *testing.T) {
	cases := map[string]func(*testing.T, *lab){
		"one with an object": func(t *testing.T, l *lab) {
			l.make(t)
			_, err := l.s3(t).PutObject(t.Context(), &s3.PutObjectInput{
				Bucket: &own.Name, Key: aws.String("theirs"), Body: strings.NewReader("x"),
			})
			must(t, err)
		},
		"one with tags": func(t *testing.T, l *lab) {
			l.make(t)
			_, err := l.s3(t).PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
				Bucket:  &own.Name,
				Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("team"), Value: aws.String("x")}}},
			})
			must(t, err)
		},
		"one of another issuer": func(t *testing.T, l *lab) {
			step := createOwn()
			step.Owner = "https://issuer.example/other"
			must(t, l.buckets.Create(t.Context(), step))
		},
		"one with a policy": func(t *testing.T, l *lab) {
			l.make(t)
			_, err := l.s3(t).PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{
				Bucket: &own.Name, Policy: aws.String(strings.Replace(ownPolicy, `"*"`, `{"AWS":"`+ownAccount+`"}`, 1)),
			})
			must(t, err)
		},
		"one of another account": func(t *testing.T, l *lab) {
			step := createOwn()
			step.Bucket.AccountID = otherAccount
			must(t, l.as(t, otherAccount).buckets.Create(t.Context(), step))
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			prepare(t, l)
			wantFault(t, l.buckets.Create(t.Context(), createOwn()), fault.Exists, "CreateBucket")
		})
	}
}

func TestBucketOfAnotherAccountIsDeniedToEveryCall(t *testing.T) {
	l := newLab(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	theirs := own
	theirs.AccountID = otherAccount
	ctx := t.Context()
	if seen := l.buckets.Get(ctx, person, theirs, ""); seen.Fault == nil || seen.Fault.Class != fault.Denied || seen.Fault.Operation != "HeadBucket" {
		t.Errorf("Get: %v", seen.Fault)
	}
	for operation, err := range map[string]error{
		"PutPublicAccessBlock": l.buckets.SetPublicAccess(ctx, issuer.SetPublicAccess{Identity: person, Bucket: theirs}),
		"PutObject":            l.buckets.PutDocument(ctx, issuer.PutDocument{Identity: person, Bucket: theirs, Key: "k", Body: "{}"}),
		"PutBucketPolicy":      l.buckets.PutPolicy(ctx, issuer.PutBucketPolicy{Identity: person, Bucket: theirs, Policy: ownPolicy}),
		"DeleteBucketPolicy":   l.buckets.PutPolicy(ctx, issuer.PutBucketPolicy{Identity: person, Bucket: theirs}),
		"DeleteObject":         l.buckets.DeleteDocument(ctx, issuer.DeleteDocument{Identity: person, Bucket: theirs, Key: "k"}),
		"ListObjectsV2":        holdsOthers(t, l, theirs),
		"GetBucketTagging":     l.buckets.Delete(ctx, issuer.DeleteBucket{Identity: person, Bucket: theirs, Owner: ownURL}),
	} {
		wantFault(t, err, fault.Denied, operation)
	}
}

func TestBucketInAnotherRegionIsReadThere(t *testing.T) {
	l := newLab(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	must(t, l.buckets.PutDocument(t.Context(), issuer.PutDocument{Identity: person, Bucket: own, Key: issuer.KeysPath, Body: "{}"}))
	elsewhere := own
	elsewhere.Region = "eu-west-1"
	seen := l.buckets.Get(t.Context(), person, elsewhere, "")
	if seen.Fault != nil || seen.Region != region || !seen.Keys.Exists {
		t.Errorf("got %+v, fault %v", seen, seen.Fault)
	}
}

func TestDocumentIsWrittenOnlyOverWhatWasRead(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	must(t, l.buckets.Create(ctx, createOwn()))
	put := func(body, etag string) error {
		return l.buckets.PutDocument(ctx, issuer.PutDocument{Identity: person, Bucket: own, Key: keysKey, Body: body, IfMatch: etag})
	}
	wantFault(t, put(`{"n":0}`, `"00000000000000000000000000000000"`), fault.Changed, "PutObject")
	must(t, put(`{"n":1}`, ""))
	first := l.bucket(t).Keys
	if !first.Exists || string(first.Body) != `{"n":1}` || first.ETag == "" {
		t.Fatalf("got %+v", first)
	}
	wantFault(t, put(`{"n":2}`, ""), fault.Changed, "PutObject")
	must(t, put(`{"n":3}`, first.ETag))
	wantFault(t, put(`{"n":4}`, first.ETag), fault.Changed, "PutObject")
	if got := string(l.bucket(t).Keys.Body); got != `{"n":3}` {
		t.Errorf("the document is %s", got)
	}
}

func TestDocumentIsServedAsJSONForAMinute(t *testing.T) {
	l := newLab(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	must(t, l.buckets.PutDocument(t.Context(), issuer.PutDocument{Identity: person, Bucket: own, Key: keysKey, Body: "{}"}))
	head, err := l.s3(t).HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &own.Name, Key: &keysKey})
	must(t, err)
	got := []string{aws.ToString(head.ContentType), aws.ToString(head.CacheControl)}
	if diff := cmp.Diff([]string{"application/json", "max-age=60"}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestDocumentsAreDeletedOnce(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	must(t, l.buckets.Create(ctx, createOwn()))
	must(t, l.buckets.PutDocument(ctx, issuer.PutDocument{Identity: person, Bucket: own, Key: keysKey, Body: "{}"}))
	err := l.buckets.Delete(ctx, deleteOwn())
	wantFault(t, err, fault.Invalid, "DeleteBucket")
	for range 2 {
		must(t, l.buckets.DeleteDocument(ctx, issuer.DeleteDocument{Identity: person, Bucket: own, Key: keysKey}))
	}
	if l.bucket(t).Keys.Exists {
		t.Error("the document is still there")
	}
	must(t, l.buckets.Delete(ctx, deleteOwn()))
	must(t, l.buckets.DeleteDocument(ctx, issuer.DeleteDocument{Identity: person, Bucket: own, Key: keysKey}))
}

func TestTooLargeADocumentIsNotReadHalf(t *testing.T) {
	l := newLab(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	for size, large := range map[int]bool{issuer.MaxDocumentBytes: false, issuer.MaxDocumentBytes + 1: true} {
		_, err := l.s3(t).PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: &own.Name, Key: &keysKey, Body: bytes.NewReader(make([]byte, size)),
		})
		must(t, err)
		seen := l.buckets.Get(t.Context(), person, own, "a/b")
		if large != (seen.Fault != nil) || !large && len(seen.Keys.Body) != size {
			t.Errorf("%d bytes: fault %v, read %d", size, seen.Fault, len(seen.Keys.Body))
		}
		if large && seen.Fault != nil && (seen.Fault.Class != fault.Invalid || !strings.Contains(seen.Fault.Message, keysKey)) {
			t.Errorf("fault %+v", seen.Fault)
		}
	}
}

const ownPolicy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",` +
	`"Action":"s3:GetObject","Resource":"arn:aws:s3:::tabard-own/keys.json"}]}`

func TestPolicyAndPublicAccess(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	must(t, l.buckets.Create(ctx, createOwn()))
	policy := func(text string) error {
		return l.buckets.PutPolicy(ctx, issuer.PutBucketPolicy{Identity: person, Bucket: own, Policy: text})
	}
	wantFault(t, policy(ownPolicy), fault.Denied, "PutBucketPolicy")
	open := issuer.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true}
	must(t, l.buckets.SetPublicAccess(ctx, issuer.SetPublicAccess{Identity: person, Bucket: own, Access: open}))
	must(t, policy(ownPolicy))
	seen := l.bucket(t)
	if seen.Access != open || string(seen.Policy) != ownPolicy {
		t.Errorf("access %+v, policy %s", seen.Access, seen.Policy)
	}
	wantFault(t, policy(`{"Version":`), fault.Invalid, "PutBucketPolicy")
	must(t, policy(""))
	must(t, policy(""))
	if seen := l.bucket(t); seen.Policy != nil {
		t.Errorf("policy %s", seen.Policy)
	}
}

func TestBucketIsDeniedToWhoeverMayNot(t *testing.T) {
	l := newLab(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	nobody := l.powerless(t)
	if seen := l.buckets.Get(t.Context(), nobody, own, ""); seen.Fault == nil || seen.Fault.Class != fault.Denied {
		t.Errorf("Get: %v", seen.Fault)
	}
	err := l.buckets.PutDocument(t.Context(), issuer.PutDocument{Identity: nobody, Bucket: own, Key: keysKey, Body: "{}"})
	wantFault(t, err, fault.Denied, "PutObject")
	step := createOwn()
	step.Identity, step.Bucket.Name = nobody, "tabard-another"
	wantFault(t, l.buckets.Create(t.Context(), step), fault.Denied, "CreateBucket")
}

func TestCallsWithoutIdentityAreNoCalls(t *testing.T) {
	l := newLab(t)
	before := l.calls.Load()
	seen := l.buckets.Get(t.Context(), identity.Identity{Base: identity.WebIdentity}, own, "")
	if seen.Fault == nil || seen.Fault.Class != fault.Unauthenticated || seen.Fault.Code != "CredentialsMissing" {
		t.Errorf("Get: %+v", seen.Fault)
	}
	if n := l.calls.Load() - before; n != 0 {
		t.Errorf("%d calls", n)
	}
}
