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
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	own   = cloud.Bucket{Name: "tabard-own", Region: region, AccountID: ownAccount}
	owner = cloud.Tag{Key: "tabard.dev/issuer", Value: ownURL}
	other = cloud.Tag{Key: owner.Key, Value: "https://issuer.example/other"}
	allOn = cloud.PublicAccess{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}
)

// keysKey is an object's key; most is how much of it is read.
const (
	keysKey = "a/b/keys.json"
	most    = 1 << 10
)

func (l *lab) createOwn(t *testing.T) error {
	t.Helper()
	return l.buckets.Create(t.Context(), person, own, owner)
}

func (l *lab) deleteOwn(t *testing.T) error {
	t.Helper()
	return l.buckets.Delete(t.Context(), person, own, owner)
}

func (l *lab) bucket(t *testing.T) cloud.BucketState {
	t.Helper()
	seen, err := l.buckets.Get(t.Context(), person, own)
	must.Do(t, err)
	return seen
}

func (l *lab) object(t *testing.T) cloud.Object {
	t.Helper()
	seen, err := l.buckets.Read(t.Context(), person, own, keysKey, most)
	must.Do(t, err)
	return seen
}

func (l *lab) write(t *testing.T, body, ifMatch string) error {
	t.Helper()
	return l.buckets.Write(t.Context(), person, own, keysKey, body, ifMatch)
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
	must.Do(t, err)
}

func TestMissingBucketIsNoFault(t *testing.T) {
	if diff := cmp.Diff(cloud.BucketState{}, newLab(t).bucket(t)); diff != "" {
		t.Errorf("bucket (-want +got):\n%s", diff)
	}
}

func TestCreatedBucketIsOursAndClosed(t *testing.T) {
	l := newLab(t)
	for range 2 {
		must.Do(t, l.createOwn(t))
		want := cloud.BucketState{Exists: true, Region: region, Tags: map[string]string{owner.Key: ownURL}, Access: allOn}
		if diff := cmp.Diff(want, l.bucket(t)); diff != "" {
			t.Errorf("bucket (-want +got):\n%s", diff)
		}
	}
	must.Do(t, l.deleteOwn(t))
	must.Do(t, l.deleteOwn(t))
	if l.bucket(t).Exists {
		t.Error("the bucket is still there")
	}
}

func TestCreationInUsEast1NeedsNoLocationAndAdoptsNothing(t *testing.T) {
	l := newLab(t)
	ref := cloud.Bucket{Name: "tabard-east", Region: "us-east-1", AccountID: ownAccount}
	must.Do(t, l.buckets.Create(t.Context(), person, ref, owner))
	if seen, err := l.buckets.Get(t.Context(), person, ref); err != nil || seen.Region != "us-east-1" || !owner.Of(seen.Tags) {
		t.Errorf("got %+v, %v", seen, err)
	}
	wantFault(t, l.buckets.Create(t.Context(), person, ref, other), fault.Exists, "CreateBucket")
}

func TestCreationFinishesWhatACrashLeft(t *testing.T) {
	l := newLab(t)
	l.make(t)
	must.Do(t, l.createOwn(t))
	if got := l.bucket(t).Tags; !owner.Of(got) {
		t.Errorf("tags %v, want %v", got, owner)
	}
}

func TestCreationTakesNoBucketOfSomebodyElse(t *testing.T) {
	cases := map[string]func(*testing.T, *lab){
		"one with an object": func(t *testing.T, l *lab) {
			l.make(t)
			_, err := l.s3(t).PutObject(t.Context(), &s3.PutObjectInput{
				Bucket: &own.Name, Key: aws.String("theirs"), Body: strings.NewReader("x"),
			})
			must.Do(t, err)
		},
		"one with tags": func(t *testing.T, l *lab) {
			l.make(t)
			_, err := l.s3(t).PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
				Bucket:  &own.Name,
				Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("team"), Value: aws.String("x")}}},
			})
			must.Do(t, err)
		},
		"one of another issuer": func(t *testing.T, l *lab) {
			must.Do(t, l.buckets.Create(t.Context(), person, own, other))
		},
		"one with a policy": func(t *testing.T, l *lab) {
			l.make(t)
			_, err := l.s3(t).PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{
				Bucket: &own.Name, Policy: aws.String(strings.Replace(ownPolicy, `"*"`, `{"AWS":"`+ownAccount+`"}`, 1)),
			})
			must.Do(t, err)
		},
		"one of another account": func(t *testing.T, l *lab) {
			theirs := own
			theirs.AccountID = otherAccount
			must.Do(t, l.as(t, otherAccount).buckets.Create(t.Context(), person, theirs, owner))
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			prepare(t, l)
			wantFault(t, l.createOwn(t), fault.Exists, "CreateBucket")
		})
	}
}

func TestBucketOfAnotherAccountIsDeniedToEveryCall(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	theirs := own
	theirs.AccountID = otherAccount
	ctx := t.Context()
	_, head := l.buckets.Get(ctx, person, theirs)
	_, get := l.buckets.Read(ctx, person, theirs, keysKey, most)
	_, list := l.buckets.Keys(ctx, person, theirs, 3)
	for operation, err := range map[string]error{
		"HeadBucket":           head,
		"GetObject":            get,
		"ListObjectsV2":        list,
		"PutPublicAccessBlock": l.buckets.SetPublicAccess(ctx, person, theirs, cloud.PublicAccess{}),
		"PutObject":            l.buckets.Write(ctx, person, theirs, "k", "{}", ""),
		"PutBucketPolicy":      l.buckets.SetPolicy(ctx, person, theirs, ownPolicy),
		"DeleteBucketPolicy":   l.buckets.SetPolicy(ctx, person, theirs, ""),
		"DeleteObject":         l.buckets.DeleteObject(ctx, person, theirs, "k"),
		"GetBucketTagging":     l.buckets.Delete(ctx, person, theirs, owner),
	} {
		wantFault(t, err, fault.Denied, operation)
	}
}

// TestEveryCallNamesTheAccountOfTheBucket, in a whole life of one. Only its creation does
// not: S3 has no word for it there, and gives a name to one account.
func TestEveryCallNamesTheAccountOfTheBucket(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	must.Do(t, l.createOwn(t))
	open := cloud.PublicAccess{BlockPublicACLs: true, IgnorePublicACLs: true}
	must.Do(t, l.buckets.SetPublicAccess(ctx, person, own, open))
	must.Do(t, l.write(t, "{}", ""))
	must.Do(t, l.write(t, `{"n":1}`, l.object(t).ETag))
	for _, policy := range []string{ownPolicy, ""} {
		must.Do(t, l.buckets.SetPolicy(ctx, person, own, policy))
		l.bucket(t)
	}
	for _, on := range []bool{true, false} {
		must.Do(t, l.setMark(t, on))
	}
	must.Get(l.buckets.Keys(ctx, person, own, 3))(t)
	must.Do(t, l.buckets.DeleteObject(ctx, person, own, keysKey))
	elsewhere := own
	elsewhere.Region = "eu-west-1"
	must.Get(l.buckets.Get(ctx, person, elsewhere))(t)
	must.Do(t, l.deleteOwn(t))
	if diff := cmp.Diff([]string{"PUT /tabard-own"}, l.unowned.list); diff != "" {
		t.Errorf("calls that do not name the account (-want +got):\n%s", diff)
	}
}

func TestBucketInAnotherRegionIsReadThere(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	elsewhere := own
	elsewhere.Region = "eu-west-1"
	if seen, err := l.buckets.Get(t.Context(), person, elsewhere); err != nil || seen.Region != region || !owner.Of(seen.Tags) {
		t.Errorf("got %+v, %v", seen, err)
	}
}

func TestDocumentIsWrittenOnlyOverWhatWasRead(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	wantFault(t, l.write(t, `{"n":0}`, `"00000000000000000000000000000000"`), fault.Changed, "PutObject")
	must.Do(t, l.write(t, `{"n":1}`, ""))
	first := l.object(t)
	if !first.Exists || string(first.Body) != `{"n":1}` || first.ETag == "" {
		t.Fatalf("got %+v", first)
	}
	wantFault(t, l.write(t, `{"n":2}`, ""), fault.Changed, "PutObject")
	must.Do(t, l.write(t, `{"n":3}`, first.ETag))
	wantFault(t, l.write(t, `{"n":4}`, first.ETag), fault.Changed, "PutObject")
	if got := string(l.object(t).Body); got != `{"n":3}` {
		t.Errorf("the document is %s", got)
	}
}

func TestDocumentIsServedAsJSONForAMinute(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	must.Do(t, l.write(t, "{}", ""))
	head, err := l.s3(t).HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &own.Name, Key: aws.String(keysKey)})
	must.Do(t, err)
	got := []string{aws.ToString(head.ContentType), aws.ToString(head.CacheControl)}
	if diff := cmp.Diff([]string{"application/json", "max-age=60"}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestDocumentsAreDeletedOnce(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	must.Do(t, l.createOwn(t))
	must.Do(t, l.write(t, "{}", ""))
	err := l.deleteOwn(t)
	wantFault(t, err, fault.Invalid, "DeleteBucket")
	for range 2 {
		must.Do(t, l.buckets.DeleteObject(ctx, person, own, keysKey))
	}
	if l.object(t).Exists {
		t.Error("the document is still there")
	}
	must.Do(t, l.deleteOwn(t))
	must.Do(t, l.buckets.DeleteObject(ctx, person, own, keysKey))
}

func TestTooLargeADocumentIsNotReadHalf(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	for size, large := range map[int]bool{most: false, most + 1: true} {
		_, err := l.s3(t).PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: &own.Name, Key: aws.String(keysKey), Body: bytes.NewReader(make([]byte, size)),
		})
		must.Do(t, err)
		seen, err := l.buckets.Read(t.Context(), person, own, keysKey, most)
		if large {
			wantFault(t, err, fault.Invalid, "GetObject")
		} else if err != nil || len(seen.Body) != size {
			t.Errorf("%d bytes: %v, read %d", size, err, len(seen.Body))
		}
		if large && !strings.Contains(err.Error(), keysKey) {
			t.Errorf("the fault does not name the object: %v", err)
		}
	}
}

const ownPolicy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",` +
	`"Action":"s3:GetObject","Resource":"arn:aws:s3:::tabard-own/keys.json"}]}`

func TestPolicyAndPublicAccess(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	must.Do(t, l.createOwn(t))
	policy := func(text string) error {
		return l.buckets.SetPolicy(ctx, person, own, text)
	}
	wantFault(t, policy(ownPolicy), fault.Denied, "PutBucketPolicy")
	open := cloud.PublicAccess{BlockPublicACLs: true, IgnorePublicACLs: true}
	must.Do(t, l.buckets.SetPublicAccess(ctx, person, own, open))
	must.Do(t, policy(ownPolicy))
	seen := l.bucket(t)
	if seen.Access != open || string(seen.Policy) != ownPolicy {
		t.Errorf("access %+v, policy %s", seen.Access, seen.Policy)
	}
	wantFault(t, policy(`{"Version":`), fault.Invalid, "PutBucketPolicy")
	must.Do(t, policy(""))
	must.Do(t, policy(""))
	if seen := l.bucket(t); seen.Policy != nil {
		t.Errorf("policy %s", seen.Policy)
	}
}

func TestBucketIsDeniedToWhoeverMayNot(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	nobody := l.powerless(t)
	_, err := l.buckets.Get(t.Context(), nobody, own)
	wantFault(t, err, fault.Denied, "HeadBucket")
	wantFault(t, l.buckets.Write(t.Context(), nobody, own, keysKey, "{}", ""), fault.Denied, "PutObject")
	another := own
	another.Name = "tabard-another"
	wantFault(t, l.buckets.Create(t.Context(), nobody, another, owner), fault.Denied, "CreateBucket")
}

func TestCallsWithoutIdentityAreNoCalls(t *testing.T) {
	l := newLab(t)
	before := l.calls.Load()
	_, err := l.buckets.Get(t.Context(), identity.Identity{Base: identity.WebIdentity}, own)
	wantFault(t, err, fault.Unauthenticated, "HeadBucket")
	if !cloud.HasCode(err, "CredentialsMissing") {
		t.Errorf("Get: %v", err)
	}
	if n := l.calls.Load() - before; n != 0 {
		t.Errorf("%d calls", n)
	}
}
