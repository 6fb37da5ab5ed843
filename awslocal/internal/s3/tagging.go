package s3

import (
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limits of tags (AWS Billing user guide, "Tag naming limits"), in characters.
const (
	maxTags         = 50
	maxTagKeyLength = 128
	maxTagLength    = 256
)

var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

func (s *Service) getBucketTagging(r *request) (*answer, *fault) {
	if r.bucket.tags == nil {
		return nil, errNoSuchTagSet.with("BucketName", r.bucket.name)
	}
	set := &tagSet{}
	for _, one := range r.bucket.tags {
		set.Tags = append(set.Tags, tag{Key: &one.key, Value: &one.value})
	}
	return document(tagging{Namespace: namespace, TagSet: set})
}

// putBucketTagging replaces all tags. The tags are condition keys, so they are
// read before the policies are asked.
func (s *Service) putBucketTagging(r *request) (*answer, *fault) {
	var config tagging
	malformed := parseXML(r.Payload, &config)
	extra := r.conditions()
	if malformed == nil {
		keys := make([]string, 0, len(config.TagSet.Tags))
		for _, one := range config.TagSet.Tags {
			keys = append(keys, *one.Key)
			extra.Set("aws:RequestTag/"+*one.Key, *one.Value)
		}
		extra.Set("aws:TagKeys", keys...)
	}
	if f := s.authorize(r, "s3:PutBucketTagging", r.target.bucketARN(), extra); f != nil {
		return nil, f
	}
	if malformed != nil {
		return nil, malformed
	}
	tags, f := checkTags(config.TagSet.Tags)
	if f != nil {
		return nil, f
	}
	r.bucket.tags = tags
	return empty(http.StatusNoContent), nil
}

func (s *Service) deleteBucketTagging(r *request) (*answer, *fault) {
	r.bucket.tags = nil
	return empty(http.StatusNoContent), nil
}

// checkTags refuses tags that S3 would refuse.
func checkTags(tags []tag) ([]keyValue, *fault) {
	if len(tags) > maxTags {
		return nil, errTooManyTags
	}
	seen := map[string]bool{}
	checked := make([]keyValue, 0, len(tags))
	for _, one := range tags {
		key, value := *one.Key, *one.Value
		switch {
		case key == "" || utf8.RuneCountInString(key) > maxTagKeyLength || !tagText.MatchString(key):
			return nil, errInvalidTag.saying("The TagKey you have provided is invalid").with("TagKey", key)
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return nil, errInvalidTag.saying("System tags cannot be added/updated by requester").with("TagKey", key)
		case utf8.RuneCountInString(value) > maxTagLength || !tagText.MatchString(value):
			return nil, errInvalidTag.saying("The TagValue you have provided is invalid").with("TagKey", key).with("TagValue", value)
		case seen[key]:
			return nil, errInvalidTag.saying("Cannot provide multiple Tags with the same key").with("TagKey", key)
		}
		seen[key] = true
		checked = append(checked, keyValue{key, value})
	}
	return checked, nil
}
