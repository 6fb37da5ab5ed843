package cloud_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var mark = cloud.Tag{Key: "tabard.dev/tombstone", Value: "true"}

func (l *lab) setMark(t *testing.T, on bool) error {
	t.Helper()
	return l.buckets.SetTag(t.Context(), person, own, owner, mark, on)
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
	must.Do(t, err)
}

func (l *lab) tags(t *testing.T) (out []string) {
	t.Helper()
	seen, err := l.s3(t).GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &own.Name})
	must.Do(t, err)
	for _, tag := range seen.TagSet {
		out = append(out, aws.ToString(tag.Key)+"="+aws.ToString(tag.Value))
	}
	return slices.Sorted(slices.Values(out))
}

func TestTombstoneIsMarkedBesideOtherTags(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	before := []string{owner.Key + "=" + ownURL, "team=x"}
	l.setTags(t, before...)
	for _, on := range []bool{true, true, false, false} {
		must.Do(t, l.setMark(t, on))
		want := slices.Clone(before)
		if on {
			want = append(want, mark.Key+"=true")
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), l.tags(t)); diff != "" {
			t.Errorf("tags after %t (-want +got):\n%s", on, diff)
		}
		if seen := l.bucket(t).Tags; mark.Of(seen) != on || !owner.Of(seen) {
			t.Errorf("the tags are %v, want the mark: %t", seen, on)
		}
	}
}

func TestNoBucketOfOthersIsMarkedOrDeleted(t *testing.T) {
	for name, tags := range map[string][]string{
		"without a tag":         nil,
		"with tags of others":   {"team=x"},
		"of another issuer":     {owner.Key + "=https://issuer.example/other"},
		"with the mark alone":   {mark.Key + "=true"},
		"of a longer URL":       {owner.Key + "=" + ownURL + "/b"},
		"with our URL as a key": {"issuer=" + ownURL},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.make(t)
			if len(tags) > 0 {
				l.setTags(t, tags...)
			}
			for _, on := range []bool{true, false} {
				wantFault(t, l.setMark(t, on), fault.Exists, "PutBucketTagging")
			}
			wantFault(t, l.deleteOwn(t), fault.Exists, "DeleteBucket")
			if !l.bucket(t).Exists {
				t.Error("the bucket is gone")
			}
		})
	}
}

func TestKeysAreReadUpToABound(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.createOwn(t))
	want := func(want ...string) {
		t.Helper()
		got, err := l.buckets.Keys(t.Context(), person, own, 3)
		must.Do(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	}
	want()
	for _, key := range []string{"d", "a", "c", "b"} {
		_, err := l.s3(t).PutObject(t.Context(), &s3.PutObjectInput{Bucket: &own.Name, Key: &key, Body: strings.NewReader("x")})
		must.Do(t, err)
	}
	want("a", "b", "c")
}
