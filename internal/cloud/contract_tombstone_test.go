package cloud_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func setTombstone(on bool) issuer.SetTombstone {
	return issuer.SetTombstone{Identity: person, Bucket: own, Owner: ownURL, On: on}
}

func holdsOthers(t *testing.T, l *lab, ref issuer.BucketRef) error {
	t.Helper()
	_, err := l.buckets.HoldsOthers(t.Context(), person, ref, "a/b")
	return err
}

// setTags makes the bucket's tags those, as somebody would by hand.
func (l *lab) setTags(t *testing.T, tags ...string) {
	t.Helper()
	var set []types.Tag
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, "=")
		set = append(set, types.Tag{Key: &key, Value: &value})
	}
	_, err := l.s3(t).PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{Bucket: &own.Name, Tagging: &types.Tagging{TagSet: set}})
	must(t, err)
}

func (l *lab) tags(t *testing.T) (out []string) {
	t.Helper()
	seen, err := l.s3(t).GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &own.Name})
	must(t, err)
	for _, tag := range seen.TagSet {
		out = append(out, aws.ToString(tag.Key)+"="+aws.ToString(tag.Value))
	}
	return slices.Sorted(slices.Values(out))
}

func TestTombstoneIsMarkedBesideOtherTags(t *testing.T) {
	l := newLab(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	before := []string{issuer.OwnerTag + "=" + ownURL, "team=x"}
	l.setTags(t, before...)
	for _, on := range []bool{true, true, false, false} {
		must(t, l.buckets.SetTombstone(t.Context(), setTombstone(on)))
		want := slices.Clone(before)
		if on {
			want = append(want, issuer.TombstoneTag+"=true")
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), l.tags(t)); diff != "" {
			t.Errorf("tags after %t (-want +got):\n%s", on, diff)
		}
		if seen := l.bucket(t); seen.Tombstone != on || seen.Owner != ownURL {
			t.Errorf("the bucket is %+v, want the mark: %t", seen, on)
		}
	}
}

func TestNoBucketOfOthersIsMarkedOrDeleted(t *testing.T) {
	for name, tags := range map[string][]string{
		"without a tag":         nil,
		"with tags of others":   {"team=x"},
		"of another issuer":     {issuer.OwnerTag + "=https://issuer.example/other"},
		"with the mark alone":   {issuer.TombstoneTag + "=true"},
		"of a longer URL":       {issuer.OwnerTag + "=" + ownURL + "/b"},
		"with our URL as a key": {"issuer=" + ownURL},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.make(t)
			if len(tags) > 0 {
				l.setTags(t, tags...)
			}
			for _, on := range []bool{true, false} {
				wantFault(t, l.buckets.SetTombstone(t.Context(), setTombstone(on)), fault.Exists, "PutBucketTagging")
			}
			wantFault(t, l.buckets.Delete(t.Context(), deleteOwn()), fault.Exists, "DeleteBucket")
			if !l.bucket(t).Exists {
				t.Error("the bucket is gone")
			}
		})
	}
}

func TestWhatOthersKeepInABucketIsSeen(t *testing.T) {
	l := newLab(t)
	must(t, l.buckets.Create(t.Context(), createOwn()))
	put := func(key string) {
		_, err := l.s3(t).PutObject(t.Context(), &s3.PutObjectInput{Bucket: &own.Name, Key: &key, Body: strings.NewReader("x")})
		must(t, err)
	}
	want := func(others bool) {
		t.Helper()
		got, err := l.buckets.HoldsOthers(t.Context(), person, own, "a/b")
		if err != nil || got != others {
			t.Errorf("others %t, error %v; want %t", got, err, others)
		}
	}
	want(false)
	put(keysKey)
	put("a/b/" + issuer.DiscoveryPath)
	want(false)
	put("a/b/keys.json.bak")
	want(true)
}
