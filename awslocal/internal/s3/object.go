package s3

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Limits of objects (Amazon S3 user guide, "Working with object metadata") and
// of one DeleteObjects call.
const (
	maxMetadataBytes = 2048
	maxDeletes       = 1000
)

const metadataHeader = "X-Amz-Meta-"

// keptHeaders are stored with an object and come back with it.
var keptHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Expires",
}

// encryptionHeader says how an object is encrypted; AES256 is S3's default and
// all that is played here.
const encryptionHeader = "X-Amz-Server-Side-Encryption"

// unsupportedHeaders ask for what this server would have to leave undone, with
// the one value that asks for nothing.
var unsupportedHeaders = map[string]string{
	"X-Amz-Object-Lock-Mode":                          "",
	"X-Amz-Object-Lock-Legal-Hold":                    "OFF",
	"X-Amz-Object-Lock-Retain-Until-Date":             "",
	"X-Amz-Website-Redirect-Location":                 "",
	"X-Amz-Write-Offset-Bytes":                        "",
	"X-Amz-Storage-Class":                             "STANDARD",
	encryptionHeader:                                  "AES256",
	"X-Amz-Server-Side-Encryption-Customer-Algorithm": "",
	"X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id":     "",
	"X-Amz-Server-Side-Encryption-Context":            "",
	"X-Amz-Server-Side-Encryption-Bucket-Key-Enabled": "false",
	"X-Amz-Mfa":                         "",
	"X-Amz-If-Match-Last-Modified-Time": "",
	"X-Amz-If-Match-Size":               "",
}

// checkHeaders refuses options of objects that are not played.
func checkHeaders(r *request) *fault {
	for name, harmless := range unsupportedHeaders {
		if value := r.HTTP.Header.Get(name); value != "" && value != harmless {
			return unsupported(r.operation.name + " with " + strings.ToLower(name))
		}
	}
	return nil
}

// putObject keeps the payload itself: nobody else uses it after the call.
func (s *Service) putObject(r *request) (*answer, *fault) {
	wanted, f := s.wanted(r)
	if f != nil {
		return nil, f
	}
	if r.HTTP.ContentLength < 0 && r.HTTP.Header.Get("X-Amz-Decoded-Content-Length") == "" {
		return nil, errNotImplemented.with("Header", "Transfer-Encoding")
	}
	if f := s.checkWrite(r); f != nil {
		return nil, f
	}
	o := &object{key: strings.Clone(r.target.key), body: r.Payload, sums: r.digest.sums, modified: r.Now.UnixNano()}
	r.bucket.describe(o, wanted)
	r.bucket.objects.put(o)
	a := empty(http.StatusOK)
	a.header.Set("ETag", o.sums.etag())
	a.header.Set(encryptionHeader, "AES256")
	o.sums.show(a.header)
	return a, nil
}

// wanted are the attributes that the headers of a write ask for. It authorises
// the write: the tags are condition keys, and setting them takes an action more.
func (s *Service) wanted(r *request) (attributes, *fault) {
	tags, badTags := headerTags(r.HTTP.Header)
	extra := r.conditions()
	setTags(extra, "s3:RequestObjectTag/", "s3:RequestObjectTagKeys", tags)
	actions := []string{"s3:PutObject"}
	if r.HTTP.Header.Get(taggingHeader) != "" {
		actions = append(actions, "s3:PutObjectTagging")
	}
	for _, action := range actions {
		if f := s.authorize(r, action, r.target.arn(), extra); f != nil {
			return attributes{}, f
		}
	}
	switch {
	case r.digestFault != nil:
		return attributes{}, r.digestFault
	case !isACLFree(r.HTTP.Header, "private", "bucket-owner-full-control"):
		return attributes{}, errACLNotSupported
	case badTags != nil:
		return attributes{}, badTags
	}
	if f := checkHeaders(r); f != nil {
		return attributes{}, f
	}
	header, f := kept(r.HTTP.Header)
	return attributes{header: header, tags: tags}, f
}

// kept are the headers that are stored with an object.
func kept(header http.Header) ([]keyValue, *fault) {
	var found []keyValue
	for _, name := range keptHeaders {
		value := header.Get(name)
		if name == "Content-Encoding" {
			value = withoutChunks(value)
		}
		if value != "" {
			found = append(found, keyValue{name, value})
		}
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if strings.HasPrefix(name, metadataHeader) {
			value := strings.Join(header[name], ",")
			size += len(name) - len(metadataHeader) + len(value)
			// Clients take the name as it is written, and S3 writes it in lower
			// case.
			found = append(found, keyValue{strings.ToLower(name), value})
		}
	}
	if size > maxMetadataBytes {
		return nil, errMetadataTooLarge
	}
	return found, nil
}

// withoutChunks takes aws-chunked out of a Content-Encoding: it is how the
// upload was sent, not what the object is.
func withoutChunks(encoding string) string {
	var left []string
	for part := range strings.SplitSeq(encoding, ",") {
		if part = strings.TrimSpace(part); part != "" && part != "aws-chunked" {
			left = append(left, part)
		}
	}
	return strings.Join(left, ",")
}

// checkWrite judges If-Match and If-None-Match of a write, under the same lock
// as the write itself.
func (s *Service) checkWrite(r *request) *fault {
	match, noneMatch := r.HTTP.Header.Get("If-Match"), r.HTTP.Header.Get("If-None-Match")
	current := r.bucket.objects.get(r.target.key)
	if noneMatch != "" {
		// S3 can make a write conditional on nothing being there, no more.
		if noneMatch != "*" || match != "" {
			return unsupportedHere(r, "If-None-Match")
		}
		if current != nil {
			return errPreconditionFailed.with("Condition", "If-None-Match")
		}
	}
	if match == "" {
		return nil
	}
	if match == "*" {
		return unsupportedHere(r, "If-Match")
	}
	if f := s.mayCompare(r); f != nil {
		return f
	}
	if current == nil {
		return errNoSuchKey.with("Key", r.target.key)
	}
	if !matches(match, current.sums.etag()) {
		return errPreconditionFailed.with("Condition", "If-Match")
	}
	return nil
}

// mayCompare wants s3:GetObject of a caller that compares ETags: the answer
// tells something of the object (Amazon S3 user guide, "Conditional requests").
func (s *Service) mayCompare(r *request) *fault {
	return s.authorize(r, "s3:GetObject", r.target.arn(), r.conditionsOf("s3:GetObject"))
}

// unsupportedHere is S3's own refusal of a header that it does not know in this
// place.
func unsupportedHere(r *request, header string) *fault {
	return errNotImplemented.with("Header", header).with("additionalMessage",
		r.operation.name+" does not take this value of "+header)
}

// matches says whether an ETag is in an If-Match or If-None-Match list. Clients
// send ETags with and without quotes.
func matches(condition, etag string) bool {
	for part := range strings.SplitSeq(condition, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == "*" || strings.Trim(part, `"`) == strings.Trim(etag, `"`) {
			return true
		}
	}
	return false
}

// deleteObject answers alike whether or not there was an object; with If-Match
// too, an object that is gone is as wanted.
func (s *Service) deleteObject(r *request) (*answer, *fault) {
	if f := checkHeaders(r); f != nil {
		return nil, f
	}
	if f := s.removeIf(r, r.HTTP.Header.Get("If-Match")); f != nil {
		return nil, f
	}
	return empty(http.StatusNoContent), nil
}

// removeIf removes the target's object if it matches the condition.
func (s *Service) removeIf(r *request, match string) *fault {
	if match != "" && match != "*" {
		if f := s.mayCompare(r); f != nil {
			return f
		}
	}
	current := r.bucket.objects.get(r.target.key)
	if current != nil && match != "" && !matches(match, current.sums.etag()) {
		return errPreconditionFailed.with("Condition", "If-Match")
	}
	r.bucket.objects.remove(r.target.key)
	return nil
}

// deleteObjects removes many objects; each is judged by itself, and a refusal
// of one is part of the answer.
func (s *Service) deleteObjects(r *request) (*answer, *fault) {
	if !r.digest.promised {
		return nil, errMissingContentMD5
	}
	if f := checkHeaders(r); f != nil {
		return nil, f
	}
	var order deleteRequest
	if f := parseXML(r.Payload, &order); f != nil {
		return nil, f
	}
	if len(order.Objects) == 0 || len(order.Objects) > maxDeletes {
		return nil, errMalformedXML
	}
	var result deleteResult
	for _, one := range order.Objects {
		if f := s.deleteOne(r, one); f != nil {
			result.Errors = append(result.Errors, deleteFault{one.Key, f.Code, f.Message})
		} else if !order.Quiet {
			result.Deleted = append(result.Deleted, deletedEntry{one.Key})
		}
	}
	return document(result)
}

// deleteOne removes one object of a DeleteObjects call.
func (s *Service) deleteOne(r *request, one deleteObject) *fault {
	if one.Key == "" {
		return errMalformedXML
	}
	if name := one.unsupported(); name != "" {
		return unsupported("DeleteObjects with " + name)
	}
	single := *r
	single.target.key = one.Key
	if f := s.authorize(&single, "s3:DeleteObject", single.target.arn(), single.conditions()); f != nil {
		return f
	}
	return s.removeIf(&single, one.ETag)
}
