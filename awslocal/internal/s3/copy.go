package s3

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/iampolicy"
)

const copySourceHeader = "X-Amz-Copy-Source"

// The directives of a copy: take from the source what the headers do not give,
// or take only what they give.
const (
	directiveCopy    = "COPY"
	directiveReplace = "REPLACE"
)

// copyObject makes an object of another. It is a read of the source and a write
// of the target: both are judged.
func (s *Service) copyObject(r *request) (*answer, *fault) {
	source, f := s.copySource(r)
	if f != nil {
		return nil, f
	}
	// The target is judged before the source: what the caller may not write, it
	// need not read.
	wanted, f := s.wanted(r)
	if f != nil {
		return nil, f
	}
	from, f := s.readSource(source)
	if f != nil {
		return nil, f
	}
	if f := s.inherit(r, source, from, &wanted); f != nil {
		return nil, f
	}
	if f := s.checkWrite(r); f != nil {
		return nil, f
	}
	o := &object{key: strings.Clone(r.target.key), body: from.body, sums: from.sums, modified: r.Now.UnixNano()}
	if algorithm := strings.ToLower(r.HTTP.Header.Get("X-Amz-Checksum-Algorithm")); algorithm != "" {
		if algorithms[algorithm] == nil {
			return nil, errUnknownChecksum
		}
		o.sums = sumUp(from.body, algorithm)
	}
	r.bucket.describe(o, wanted)
	r.bucket.objects.put(o)
	a, f := document(copyObjectResult{
		Namespace:    namespace,
		LastModified: timestamp(o.time()), ETag: o.sums.etag(), ChecksumType: "FULL_OBJECT",
		Checksum: checksumElement{XMLName: xml.Name{Local: "Checksum" + strings.ToUpper(o.sums.algorithm)}, Value: o.sums.text()},
	})
	a.header.Set(encryptionHeader, "AES256")
	return a, f
}

// copySource is the request as one for the source, whose bucket exists and is
// whose the caller expects.
func (s *Service) copySource(r *request) (*request, *fault) {
	text := r.HTTP.Header.Get(copySourceHeader)
	path, version, _ := strings.Cut(text, "?versionId=")
	if version != "" {
		return nil, unsupported("CopyObject of a version")
	}
	plain, err := url.PathUnescape(path)
	if err != nil || !utf8.ValidString(plain) {
		return nil, errCopySource.with("ArgumentName", "x-amz-copy-source").with("ArgumentValue", text)
	}
	if strings.HasPrefix(plain, "arn:") {
		return nil, unsupported("CopyObject from an access point")
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(plain, "/"), "/")
	if bucket == "" || key == "" {
		return nil, errCopySource.with("ArgumentName", "x-amz-copy-source").with("ArgumentValue", text)
	}
	source := *r
	source.target = target{bucket: bucket, key: key, partition: r.target.partition}
	source.bucket = s.buckets[bucket]
	if source.bucket == nil {
		return nil, errNoSuchBucket.with("BucketName", bucket)
	}
	return &source, source.checkOwner("X-Amz-Source-Expected-Bucket-Owner")
}

// readSource judges the read of the source, and its conditions.
func (s *Service) readSource(source *request) (*object, *fault) {
	if f := s.authorize(source, "s3:GetObject", source.target.arn(), source.conditionsOf("s3:GetObject")); f != nil {
		return nil, f
	}
	from, f := s.object(source)
	if f != nil {
		return nil, f
	}
	return from, checkCopySource(source.HTTP.Header, from)
}

// checkCopySource judges the conditions on the source, all of which fail alike
// (Amazon S3 API reference, CopyObject).
func checkCopySource(header http.Header, from *object) *fault {
	if name := failedCondition(header, copySourceHeader+"-", from); name != "" {
		return errPreconditionFailed.with("Condition", "x-amz-copy-source-"+name)
	}
	return nil
}

// inherit takes headers and tags from the source, as the directives say. Taking
// tags over is reading them and setting them.
func (s *Service) inherit(r, source *request, from *object, wanted *attributes) *fault {
	metadata, f := directive(r.HTTP.Header, "X-Amz-Metadata-Directive", errMetadataDirective)
	if f != nil {
		return f
	}
	tagging, f := directive(r.HTTP.Header, "X-Amz-Tagging-Directive", errTaggingDirective)
	if f != nil {
		return f
	}
	if metadata == directiveCopy {
		if r.bucket == source.bucket && r.target.key == from.key {
			return errCopyToItself
		}
		wanted.header = from.header()
	}
	if tagging == directiveReplace {
		return nil
	}
	wanted.tags = from.tags()
	if len(wanted.tags) == 0 {
		return nil
	}
	if f := s.authorize(source, "s3:GetObjectTagging", source.target.arn(), source.conditionsOf("s3:GetObjectTagging")); f != nil {
		return f
	}
	return s.authorize(r, "s3:PutObjectTagging", r.target.arn(), r.copiedTags(wanted.tags))
}

// copiedTags are the condition keys of tags that a copy takes over.
func (r *request) copiedTags(tags []keyValue) iampolicy.Context {
	keys := r.conditionsOf("s3:PutObjectTagging")
	setTags(keys, "s3:RequestObjectTag/", "s3:RequestObjectTagKeys", tags)
	return keys
}

// directive reads one of the two directives of a copy.
func directive(header http.Header, name string, refusal *fault) (string, *fault) {
	value := header.Get(name)
	if value == "" {
		return directiveCopy, nil
	}
	if !slices.Contains([]string{directiveCopy, directiveReplace}, value) {
		return "", refusal.with("ArgumentName", strings.ToLower(name)).with("ArgumentValue", value)
	}
	return value, nil
}
