package s3

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Limits of tags (AWS Billing user guide, "Tag naming limits", and Amazon S3
// user guide, "Categorizing your objects using tags"); lengths in characters.
const (
	maxBucketTags   = 50
	maxObjectTags   = 10
	maxTagKeyLength = 128
	maxTagLength    = 256
)

var tagText = pattern.New(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

const taggingHeader = "X-Amz-Tagging"

func (s *Service) getBucketTagging(r *request) (*answer, *fault) {
	if r.bucket.tags == nil {
		return nil, errNoSuchTagSet.with("BucketName", r.bucket.name)
	}
	return document(newTagging(r.bucket.tags))
}

// putBucketTagging replaces all tags. The tags are condition keys, so they are
// read before the policies are asked.
func (s *Service) putBucketTagging(r *request) (*answer, *fault) {
	given, malformed := readTags(r.Payload)
	extra := r.conditions()
	setTags(extra, "aws:RequestTag/", "aws:TagKeys", given)
	if f := s.authorize(r, "s3:PutBucketTagging", r.target.bucketARN(), extra); f != nil {
		return nil, f
	}
	if f := r.checkGiven(given, malformed, maxBucketTags, errTooManyBucketTags); f != nil {
		return nil, f
	}
	r.bucket.tags = given
	return empty(http.StatusNoContent), nil
}

// checkGiven checks the tags of a body, of which malformed is what is wrong as a
// document: first that the body is the one that was signed.
func (r *request) checkGiven(given []keyValue, malformed *fault, most int, tooMany *fault) *fault {
	switch {
	case r.digestFault != nil:
		return r.digestFault
	case malformed != nil:
		return malformed
	case len(given) > most:
		return tooMany
	}
	return checkTags(given)
}

func (s *Service) deleteBucketTagging(r *request) (*answer, *fault) {
	r.bucket.tags = nil
	return empty(http.StatusNoContent), nil
}

// getObjectTagging shows an empty set for an object without tags.
func (s *Service) getObjectTagging(r *request) (*answer, *fault) {
	o, f := s.object(r)
	if f != nil {
		return nil, f
	}
	return document(newTagging(o.tags()))
}

func (s *Service) putObjectTagging(r *request) (*answer, *fault) {
	given, malformed := readTags(r.Payload)
	extra := r.conditionsOf("s3:PutObjectTagging")
	setTags(extra, "s3:RequestObjectTag/", "s3:RequestObjectTagKeys", given)
	if f := s.authorize(r, "s3:PutObjectTagging", r.target.arn(), extra); f != nil {
		return nil, f
	}
	if f := r.checkGiven(given, malformed, maxObjectTags, errTooManyObjectTags); f != nil {
		return nil, f
	}
	if f := s.retag(r, given); f != nil {
		return nil, f
	}
	return empty(http.StatusOK), nil
}

func (s *Service) deleteObjectTagging(r *request) (*answer, *fault) {
	if f := s.retag(r, nil); f != nil {
		return nil, f
	}
	return empty(http.StatusNoContent), nil
}

// retag replaces the target by itself with other tags. Neither its ETag nor its
// date changes.
func (s *Service) retag(r *request, tags []keyValue) *fault {
	o, f := s.object(r)
	if f != nil {
		return f
	}
	changed := *o
	changed.attributes = nil
	r.bucket.describe(&changed, attributes{header: o.header(), tags: tags})
	r.bucket.objects.put(&changed)
	return nil
}

// object is the target's object.
func (s *Service) object(r *request) (*object, *fault) {
	if o := r.bucket.objects.get(r.target.key); o != nil {
		return o, nil
	}
	return nil, s.missing(r)
}

// headerTags reads the tags that come with an object, in a header that is
// written like a query.
func headerTags(header http.Header) ([]keyValue, *fault) {
	text := header.Get(taggingHeader)
	if text == "" {
		return nil, nil
	}
	refused := errTaggingHeader.with("ArgumentName", "x-amz-tagging").with("ArgumentValue", text)
	var tags []keyValue
	for part := range strings.SplitSeq(text, "&") {
		if len(tags) == maxObjectTags {
			return nil, errTooManyObjectTags
		}
		name, value, _ := strings.Cut(part, "=")
		name, badName := url.QueryUnescape(name)
		value, badValue := url.QueryUnescape(value)
		if badName != nil || badValue != nil || !utf8.ValidString(name+value) || hasTag(tags, name) {
			return nil, refused
		}
		tags = append(tags, keyValue{name, value})
	}
	return tags, checkTags(tags)
}

// newTagging is the document of some tags.
func newTagging(tags []keyValue) tagging {
	set := &tagSet{}
	for _, one := range tags {
		set.Tags = append(set.Tags, tag{Key: &one.key, Value: &one.value})
	}
	return tagging{Namespace: namespace, TagSet: set}
}

// readTags reads the document that newTagging makes.
func readTags(payload []byte) ([]keyValue, *fault) {
	var config tagging
	if f := parseXML(payload, &config); f != nil {
		return nil, f
	}
	if config.TagSet == nil {
		return nil, errMalformedXML
	}
	tags := make([]keyValue, 0, len(config.TagSet.Tags))
	for _, one := range config.TagSet.Tags {
		if one.Key == nil || one.Value == nil {
			return nil, errMalformedXML
		}
		tags = append(tags, keyValue{*one.Key, *one.Value})
	}
	return tags, nil
}

// setTags makes condition keys of the tags that a request brings.
func setTags(keys iampolicy.Context, prefix, names string, tags []keyValue) {
	if len(tags) == 0 {
		return
	}
	all := make([]string, 0, len(tags))
	for _, one := range tags {
		keys.Set(prefix+one.key, one.value)
		all = append(all, one.key)
	}
	keys.Set(names, all...)
}

// checkTags refuses tags that S3 would refuse.
func checkTags(tags []keyValue) *fault {
	for i, one := range tags {
		switch {
		case one.key == "" || utf8.RuneCountInString(one.key) > maxTagKeyLength || !tagText.MatchString(one.key):
			return errInvalidTag.saying("The TagKey you have provided is invalid").with("TagKey", one.key)
		case strings.HasPrefix(strings.ToLower(one.key), "aws:"):
			return errInvalidTag.saying("System tags cannot be added/updated by requester").with("TagKey", one.key)
		case utf8.RuneCountInString(one.value) > maxTagLength || !tagText.MatchString(one.value):
			return errInvalidTag.saying("The TagValue you have provided is invalid").with("TagKey", one.key).with("TagValue", one.value)
		case hasTag(tags[:i], one.key):
			return errInvalidTag.saying("Cannot provide multiple Tags with the same key").with("TagKey", one.key)
		}
	}
	return nil
}

func hasTag(tags []keyValue, key string) bool {
	for _, one := range tags {
		if one.key == key {
			return true
		}
	}
	return false
}

// showTagCount says how many tags an object has, to callers that may read them.
func (s *Service) showTagCount(r *request, header http.Header, o *object) {
	if len(o.tags()) > 0 && s.authorize(r, "s3:GetObjectTagging", r.target.arn(), r.conditionsOf("s3:GetObjectTagging")) == nil {
		header.Set("X-Amz-Tagging-Count", strconv.Itoa(len(o.tags())))
	}
}
