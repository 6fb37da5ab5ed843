package issuer_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// shelf is a bucket of objects; calls of other kinds are none of its.
type shelf struct {
	issuer.Buckets
	keys []string
	// gone is how many calls are answered before the bucket goes.
	gone int
}

func (s *shelf) next() error {
	if s.gone--; s.gone < 0 {
		return fault.Fault{Class: fault.Gone, Service: "S3", Operation: "GetObject", Code: cloud.CodeNoBucket}
	}
	return nil
}

func (s *shelf) Get(context.Context, identity.Identity, cloud.Bucket) (cloud.BucketState, error) {
	return cloud.BucketState{Exists: true, Region: "eu-west-1", Tags: map[string]string{core.OwnerTag: "u", core.TombstoneTag: ""}}, s.next()
}

func (s *shelf) Read(_ context.Context, _ identity.Identity, b cloud.Bucket, key string, _ int64) (cloud.Object, error) {
	return cloud.Object{Exists: true, Body: []byte(b.Region + " " + key)}, s.next()
}

func (s *shelf) Keys(context.Context, identity.Identity, cloud.Bucket, int32) ([]string, error) {
	return s.keys, s.next()
}

func TestABucketIsSeenAsADecisionNeedsIt(t *testing.T) {
	const keys, discovery = "a/b/keys.json", "a/b/.well-known/openid-configuration"
	see := func(s *shelf, others bool) core.Bucket {
		return issuer.AWS{Buckets: s}.Bucket(t.Context(), identity.Identity{}, core.BucketRef{Region: "us-west-2"}, "a/b", others)
	}
	want := core.Bucket{
		Exists: true, Region: "eu-west-1", Owner: "u", Tombstone: true,
		Keys:      core.Document{Exists: true, Body: []byte("eu-west-1 " + keys)},
		Discovery: core.Document{Exists: true, Body: []byte("eu-west-1 " + discovery)},
	}
	for name, test := range map[string]struct {
		keys        []string
		asks, holds bool
	}{
		"nothing":                   {nil, true, false},
		"the two documents":         {[]string{discovery, keys}, true, false},
		"one that is another":       {[]string{discovery, keys, keys + ".bak"}, true, true},
		"those of another prefix":   {[]string{"keys.json"}, true, true},
		"others, and nobody asks":   {[]string{"x"}, false, false},
		"another before the others": {[]string{".a", discovery, keys}, true, true},
	} {
		want.Others = test.holds
		if diff := cmp.Diff(want, see(&shelf{keys: test.keys, gone: 9}, test.asks)); diff != "" {
			t.Errorf("%s: bucket (-want +got):\n%s", name, diff)
		}
	}
	for gone := range 4 {
		if diff := cmp.Diff(core.Bucket{}, see(&shelf{gone: gone}, true)); diff != "" {
			t.Errorf("a bucket that goes after %d calls is none, and no fault (-want +got):\n%s", gone, diff)
		}
	}
}
