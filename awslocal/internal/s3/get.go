package s3

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/iampolicy"
)

// getObject answers GET and HEAD.
func (s *Service) getObject(r *request) (*answer, *fault) {
	o, f := s.object(r)
	if f != nil {
		return nil, f
	}
	if f := checkRead(r.HTTP.Header, o); f != nil {
		return nil, f
	}
	if f := checkHeaders(r); f != nil {
		return nil, f
	}
	a := empty(http.StatusOK)
	for _, one := range o.header() {
		a.header[one.key] = []string{one.value}
	}
	if a.header.Get("Content-Type") == "" {
		a.header.Set("Content-Type", "binary/octet-stream")
	}
	if f := override(r, a.header); f != nil {
		return nil, f
	}
	a.header.Set("ETag", o.sums.etag())
	a.header.Set("Last-Modified", o.time().Format(http.TimeFormat))
	a.header.Set("Accept-Ranges", "bytes")
	a.header.Set(encryptionHeader, "AES256")
	s.showTagCount(r, a.header, o)
	if f := a.slice(o.body, r.HTTP.Header.Get("Range")); f != nil {
		return nil, f
	}
	// The stored checksum is that of the whole: a client would find a part to
	// be corrupt.
	if a.status == http.StatusOK && strings.EqualFold(r.HTTP.Header.Get("X-Amz-Checksum-Mode"), "ENABLED") {
		o.sums.show(a.header)
	}
	return a, nil
}

// missing is the answer for an object that is not there: only callers that may
// list the bucket learn that.
func (s *Service) missing(r *request) *fault {
	if f := s.authorize(r, "s3:ListBucket", r.target.bucketARN(), r.conditions()); f != nil {
		return f
	}
	return errNoSuchKey.with("Key", r.target.key)
}

// checkRead judges the conditions of a read.
func checkRead(header http.Header, o *object) *fault {
	switch name := failedCondition(header, "", o); name {
	case "":
		return nil
	case "If-None-Match", "If-Modified-Since":
		return errNotModified.with("ETag", o.sums.etag()).with("Last-Modified", o.time().Format(http.TimeFormat))
	default:
		return errPreconditionFailed.with("Condition", name)
	}
}

// failedCondition is the first condition on an object that does not hold, empty
// for none; the names of the headers begin with the prefix. An ETag that was
// compared outweighs a date (RFC 9110, 13.2.2, and Amazon S3 API reference,
// GetObject).
func failedCondition(header http.Header, prefix string, o *object) string {
	modified := o.time().Truncate(time.Second)
	if match := header.Get(prefix + "If-Match"); match != "" {
		if !matches(match, o.sums.etag()) {
			return "If-Match"
		}
	} else if since, err := http.ParseTime(header.Get(prefix + "If-Unmodified-Since")); err == nil && modified.After(since) {
		return "If-Unmodified-Since"
	}
	if match := header.Get(prefix + "If-None-Match"); match != "" {
		if matches(match, o.sums.etag()) {
			return "If-None-Match"
		}
	} else if since, err := http.ParseTime(header.Get(prefix + "If-Modified-Since")); err == nil && !modified.After(since) {
		return "If-Modified-Since"
	}
	return ""
}

// overrides are the query parameters that replace a header of the answer.
var overrides = map[string]string{
	"response-cache-control":       "Cache-Control",
	"response-content-disposition": "Content-Disposition",
	"response-content-encoding":    "Content-Encoding",
	"response-content-language":    "Content-Language",
	"response-content-type":        "Content-Type",
	"response-expires":             "Expires",
}

// override replaces headers of the answer as a signed request asks.
func override(r *request, header http.Header) *fault {
	for parameter, name := range overrides {
		if !r.query.Has(parameter) {
			continue
		}
		if r.Caller.Principal.Kind == iampolicy.Anonymous {
			return errAnonymousOverride
		}
		header.Set(name, r.query.Get(parameter))
	}
	return nil
}

// slice puts the body, or the range of it that was asked for, into the answer.
func (a *answer) slice(body []byte, asked string) *fault {
	first, last, ok := parseRange(asked, len(body))
	if !ok {
		a.body = body
		a.header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	}
	if first > last {
		return errInvalidRange.with("RangeRequested", asked).with("ActualObjectSize", strconv.Itoa(len(body)))
	}
	a.status = http.StatusPartialContent
	a.body = body[first : last+1]
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	a.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(body)))
	return nil
}

// parseRange reads a Range of one part. Like S3 it takes no notice (not ok) of
// what is no range, of other units and of several parts. A range that lies
// outside the body has a first byte after its last.
func parseRange(asked string, size int) (first, last int, ok bool) {
	spec, found := strings.CutPrefix(asked, "bytes=")
	from, to, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !found || !dash {
		return 0, 0, false
	}
	if from == "" {
		length, err := strconv.ParseUint(to, 10, 63)
		if err != nil {
			return 0, 0, false
		}
		if length == 0 {
			return 1, 0, true
		}
		return size - int(min(length, uint64(size))), size - 1, true
	}
	start, err := strconv.ParseUint(from, 10, 63)
	if err != nil {
		return 0, 0, false
	}
	end := uint64(size)
	if to != "" {
		if end, err = strconv.ParseUint(to, 10, 63); err != nil || end < start {
			return 0, 0, false
		}
	}
	if start >= uint64(size) {
		return 1, 0, true
	}
	return int(start), int(min(end, uint64(size-1))), true
}
