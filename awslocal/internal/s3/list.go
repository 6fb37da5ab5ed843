package s3

import (
	"encoding/base64"
	"net/url"
	"slices"
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

// number reads a parameter that limits a list, at most a most.
func number(query url.Values, name string, absent, most int) (int, *fault) {
	if !query.Has(name) {
		return absent, nil
	}
	n, err := strconv.ParseInt(query.Get(name), 10, 32)
	if err != nil || n < 0 {
		return 0, errInvalidArgument.saying("Argument "+name+" must be an integer between 0 and 2147483647").
			with("ArgumentName", name).with("ArgumentValue", query.Get(name))
	}
	return min(int(n), most), nil
}

// page is one page of a list.
type page struct {
	keys, prefixes []string
	truncated      bool
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
	i := b.after(from.last)
	if from.whole {
		i = b.afterPrefix(from.last)
	}
	first, _ := slices.BinarySearch(b.keys, prefix)
	i = max(i, first)
	for i < len(b.keys) && strings.HasPrefix(b.keys[i], prefix) {
		if len(p.keys)+len(p.prefixes) == limit {
			p.truncated = true
			return p
		}
		key := b.keys[i]
		if at := cut(key, prefix, delimiter); at > 0 {
			common := key[:at]
			p.prefixes = append(p.prefixes, common)
			p.next = mark{last: common, whole: true}
			i = b.afterPrefix(common)
			continue
		}
		p.keys = append(p.keys, key)
		p.next = mark{last: key}
		i++
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

func (s *Service) listObjects(r *request) (*answer, *fault) {
	query := r.HTTP.URL.Query()
	limit, f := number(query, "max-keys", maxPage, maxPage)
	if f != nil {
		return nil, f
	}
	from, f := parseToken(query)
	if f != nil {
		return nil, f
	}
	if !query.Has("continuation-token") {
		from.last = query.Get("start-after")
	}
	encode := func(s string) string { return s }
	switch encoding := query.Get("encoding-type"); encoding {
	case "":
	case "url":
		encode = encodeKey
	default:
		return nil, errInvalidEncodingType.with("ArgumentName", "encoding-type").with("ArgumentValue", encoding)
	}
	p := r.bucket.list(query.Get("prefix"), query.Get("delimiter"), from, limit)
	result := listBucketResult{
		Name: r.bucket.name, Prefix: encode(query.Get("prefix")), Delimiter: encode(query.Get("delimiter")),
		StartAfter: encode(query.Get("start-after")), ContinuationToken: query.Get("continuation-token"),
		KeyCount: len(p.keys) + len(p.prefixes), MaxKeys: limit, EncodingType: query.Get("encoding-type"),
		IsTruncated: p.truncated,
	}
	if p.truncated {
		result.NextContinuationToken = p.next.token()
	}
	for _, key := range p.keys {
		entry := r.bucket.objects[key].entry(encode(key))
		if query.Get("fetch-owner") == "true" {
			entry.Owner = &owner{canonicalID(r.bucket.accountID)}
		}
		result.Contents = append(result.Contents, entry)
	}
	for _, prefix := range p.prefixes {
		result.CommonPrefixes = append(result.CommonPrefixes, commonPrefix{encode(prefix)})
	}
	return document(result)
}

// entry is the object's line in a list.
func (o *object) entry(key string) objectEntry {
	return objectEntry{
		Key: key, LastModified: timestamp(o.modified), ETag: o.digest.etag,
		ChecksumAlgorithm: strings.ToUpper(o.digest.algorithm), ChecksumType: "FULL_OBJECT",
		Size: len(o.body), StorageClass: "STANDARD",
	}
}

// encodeKey writes a key as encoding-type=url wants it: slashes stay.
func encodeKey(key string) string {
	return strings.ReplaceAll(url.QueryEscape(key), "%2F", "/")
}
