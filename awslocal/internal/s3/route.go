package s3

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/awslocal/internal/endpoint"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
)

// maxKeyBytes is the longest key (Amazon S3 user guide, "Naming objects").
const maxKeyBytes = 1024

// target is what a request is about: an object, a bucket (no key), or the
// account (neither).
type target struct {
	bucket, key string
	// region is the one that the host names; empty where it names none.
	region    string
	partition partition.Partition
}

// arn is the target's ARN, "*" for the account.
func (t target) arn() string {
	switch {
	case t.bucket == "":
		return "*"
	case t.key == "":
		return t.bucketARN()
	default:
		return t.bucketARN() + "/" + t.key
	}
}

func (t target) bucketARN() string { return bucketARN(t.partition, t.bucket) }

func bucketARN(of partition.Partition, bucket string) string { return of.ARN("s3", "", "", bucket) }

var (
	// serviceHost is an endpoint of S3, with or without a bucket before it.
	serviceHost = pattern.New(`^(?:(.+)\.)?s3(?:-fips)?(?:[.-](?:dualstack\.)?(` + endpoint.RegionPattern + `))?\.(?:` + endpoint.DomainPattern + `|localhost)$`)
	// otherHost is a bucket before an IPv4 address or before "localhost", as
	// clients write it when that is their endpoint and they do not ask for path
	// style.
	otherHost = pattern.New(`^(.+)\.(?:[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|localhost)$`)
)

// locate reads the target from host and path. The path is taken as it was
// escaped: a key may hold "//", "." and "%2F". Where the host is no endpoint of
// S3, its first label counts as a bucket if there is one of that name.
func locate(r *http.Request, exists func(bucket string) bool) (target, *fault) {
	if isControl(r) {
		return target{}, nil
	}
	bucket, region := bucketOfHost(r.Host, exists)
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if bucket == "" {
		bucket, path, _ = strings.Cut(path, "/")
	}
	name, err := url.PathUnescape(bucket)
	if err != nil {
		return target{}, errInvalidURI
	}
	key, err := url.PathUnescape(path)
	if err != nil || !utf8.ValidString(key) || !utf8.ValidString(name) {
		return target{}, errInvalidURI
	}
	t := target{bucket: name, key: key, region: region}
	switch {
	case name == "" && key != "":
		return t, errInvalidBucketName
	case len(key) > maxKeyBytes:
		return t, errKeyTooLong.with("Size", strconv.Itoa(len(key))).with("MaxSizeAllowed", strconv.Itoa(maxKeyBytes))
	}
	return t, nil
}

// bucketOfHost returns the bucket and region that a Host header names.
func bucketOfHost(host string, exists func(bucket string) bool) (bucket, region string) {
	host = endpoint.Name(host)
	if net.ParseIP(strings.Trim(host, "[]")) != nil {
		return "", ""
	}
	if m := serviceHost.FindStringSubmatch(host); m != nil {
		return m[1], m[2]
	}
	if m := otherHost.FindStringSubmatch(host); m != nil {
		return m[1], ""
	}
	if label, _, _ := strings.Cut(host, "."); exists(label) {
		return label, ""
	}
	return "", ""
}

// Has says whether a URL is one of AWS's for a bucket that is here.
func (s *Service) Has(r *http.Request) bool {
	host := endpoint.Name(r.URL.Host)
	if !strings.HasSuffix(host, "."+s.options.Partition.Domain()) || !serviceHost.MatchString(host) {
		return false
	}
	asked := *r
	asked.Host = r.URL.Host
	t, f := locate(&asked, s.hasBucket)
	return f == nil && s.hasBucket(t.bucket)
}

// Endpoint reads a Host header that is one of AWS's endpoints of S3 or S3 Control:
// the region and the bucket that it names, each empty for none.
func Endpoint(host string) (region, bucket string, is bool) {
	host = endpoint.Name(host)
	if strings.HasSuffix(host, "localhost") {
		return "", "", false
	}
	if m := controlHost.FindStringSubmatch(host); m != nil {
		return m[2], "", true
	}
	m := serviceHost.FindStringSubmatch(host)
	if m == nil {
		return "", "", false
	}
	return m[2], m[1], true
}

// BucketRegion is the region of the bucket that a request names, empty where there
// is none.
func (s *Service) BucketRegion(r *http.Request) string {
	t, f := locate(r, s.hasBucket)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.buckets[t.bucket]; f == nil && b != nil {
		return b.region
	}
	return ""
}

// HasHost says whether a Host header is that of an endpoint of S3 or of S3
// Control, with or without a bucket before it.
func HasHost(host string) bool {
	_, control := accountOfHost(host)
	return control || serviceHost.MatchString(endpoint.Name(host))
}
