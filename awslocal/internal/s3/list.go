package s3

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPage is the most entries of one page of a list.
const maxPage = 1000

// mark is where a list goes on: after a key, or after all keys with a prefix.
type mark struct {
	last string
	// whole says that last is a common prefix, all of which has been listed.
	whole bool
}

// token writes a mark so that nobody is tempted to make one.
func (m mark) token() string {
	kind := "k"
	if m.whole {
		kind = "p"
	}
	return base64.URLEncoding.EncodeToString([]byte(kind + m.last))
}

// parseToken reads the continuation token of a query; none is the beginning.
func parseToken(query url.Values) (mark, *fault) {
	if !query.Has("continuation-token") {
		return mark{}, nil
	}
	text := query.Get("continuation-token")
	refused := errInvalidContinuation.with("ArgumentName", "continuation-token").with("ArgumentValue", text)
	raw, err := base64.URLEncoding.DecodeString(text)
	if err != nil || len(raw) < 2 || !utf8.Valid(raw) || (raw[0] != 'k' && raw[0] != 'p') {
		return mark{}, refused
	}
	return mark{last: string(raw[1:]), whole: raw[0] == 'p'}, nil
}

// number reads a parameter that limits a list, at least a least; one over a most
// counts as that.
func number(query url.Values, name string, least, absent, most int) (int, *fault) {
	if !query.Has(name) {
		return absent, nil
	}
	n, err := strconv.ParseInt(query.Get(name), 10, 32)
	if err != nil || int(n) < least {
		return 0, errInvalidArgument.saying(fmt.Sprintf("Argument %s must be an integer between %d and 2147483647", name, least)).
			with("ArgumentName", name).with("ArgumentValue", query.Get(name))
	}
	return min(int(n), most), nil
}

// page is one page of a list.
type page struct {
	objects   []*object
	prefixes  []string
	truncated bool
	// next is where the following page begins.
	next mark
}

// list makes a page of at most limit keys and common prefixes together.
func (b *bucket) list(prefix, delimiter string, from mark, limit int) page {
	var p page
	if limit == 0 {
		return p
	}
	// "" sorts before every key, so a list without a mark begins at the first.
	at := b.objects.after(from.last)
	if from.whole {
		at = b.objects.afterPrefix(from.last)
	}
	at = later(at, b.objects.from(prefix))
	for o := b.objects.object(at); o != nil && strings.HasPrefix(o.key, prefix); o = b.objects.object(at) {
		if len(p.objects)+len(p.prefixes) == limit {
			p.truncated = true
			return p
		}
		if length := cut(o.key, prefix, delimiter); length > 0 {
			common := o.key[:length]
			p.prefixes = append(p.prefixes, common)
			p.next = mark{last: common, whole: true}
			at = b.objects.afterPrefix(common)
			continue
		}
		p.objects = append(p.objects, o)
		p.next = mark{last: o.key}
		at = b.objects.next(at)
	}
	return p
}

// cut is the length of the common prefix that a key belongs to, 0 for none.
func cut(key, prefix, delimiter string) int {
	if delimiter == "" {
		return 0
	}
	at := strings.Index(key[len(prefix):], delimiter)
	if at < 0 {
		return 0
	}
	return len(prefix) + at + len(delimiter)
}

// listing is what both versions of ListObjects have in common: their
// parameters, and how keys are written.
type listing struct {
	prefix, delimiter, encoding string
	limit                       int
}

func (r *request) listing() (listing, *fault) {
	limit, f := number(r.query, "max-keys", 0, maxPage, maxPage)
	if f != nil {
		return listing{}, f
	}
	l := listing{prefix: r.query.Get("prefix"), delimiter: r.query.Get("delimiter"), encoding: r.query.Get("encoding-type"), limit: limit}
	if l.encoding != "" && l.encoding != "url" {
		return l, errInvalidEncodingType.with("ArgumentName", "encoding-type").with("ArgumentValue", l.encoding)
	}
	return l, nil
}

// encode writes a key, or a part of one, as the client asked for it; slashes
// stay.
func (l listing) encode(key string) string {
	if l.encoding == "" {
		return key
	}
	return strings.ReplaceAll(url.QueryEscape(key), "%2F", "/")
}

// result is a page as both versions show it. Whoever owns the objects is told
// where the client wants it.
func (l listing) result(b *bucket, p page, withOwner bool) listBucketResult {
	result := listBucketResult{
		Name: b.name, Prefix: l.encode(l.prefix), Delimiter: l.encode(l.delimiter),
		MaxKeys: l.limit, EncodingType: l.encoding, IsTruncated: p.truncated,
		Contents: make([]objectEntry, 0, len(p.objects)),
	}
	var by *owner
	if withOwner {
		by = &owner{canonicalID(b.accountID)}
	}
	for _, o := range p.objects {
		result.Contents = append(result.Contents, objectEntry{
			Key: l.encode(o.key), LastModified: timestamp(o.time()), ETag: o.sums.etag(),
			ChecksumAlgorithm: strings.ToUpper(o.sums.algorithm), ChecksumType: "FULL_OBJECT",
			Size: len(o.body), Owner: by, StorageClass: "STANDARD",
		})
	}
	for _, prefix := range p.prefixes {
		result.CommonPrefixes = append(result.CommonPrefixes, commonPrefix{l.encode(prefix)})
	}
	return result
}

func (s *Service) listObjects(r *request) (*answer, *fault) {
	l, f := r.listing()
	if f != nil {
		return nil, f
	}
	from, f := parseToken(r.query)
	if f != nil {
		return nil, f
	}
	if !r.query.Has("continuation-token") {
		from.last = r.query.Get("start-after")
	}
	p := r.bucket.list(l.prefix, l.delimiter, from, l.limit)
	result := l.result(r.bucket, p, r.query.Get("fetch-owner") == "true")
	result.StartAfter, result.ContinuationToken = l.encode(r.query.Get("start-after")), r.query.Get("continuation-token")
	count := len(p.objects) + len(p.prefixes)
	result.KeyCount = &count
	if p.truncated {
		result.NextContinuationToken = p.next.token()
	}
	return document(result)
}

// listObjectsV1 is the older list, which goes on after a key. It names that key
// only where there are common prefixes; else it is the last one of the page.
func (s *Service) listObjectsV1(r *request) (*answer, *fault) {
	l, f := r.listing()
	if f != nil {
		return nil, f
	}
	marker := r.query.Get("marker")
	from := mark{last: marker}
	if strings.HasPrefix(marker, l.prefix) {
		from.whole = marker != "" && cut(marker, l.prefix, l.delimiter) == len(marker)
	}
	p := r.bucket.list(l.prefix, l.delimiter, from, l.limit)
	result := l.result(r.bucket, p, true)
	encoded := l.encode(marker)
	result.Marker = &encoded
	if p.truncated && l.delimiter != "" {
		result.NextMarker = l.encode(p.next.last)
	}
	return document(result)
}
