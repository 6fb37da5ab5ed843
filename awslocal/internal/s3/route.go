package s3

import (
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
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
	serviceHost = regexp.MustCompile(`^(?:(.+)\.)?s3(?:[.-](?:dualstack\.)?([a-z]{2,4}(?:-[a-z]+)+-[0-9]+))?\.amazonaws\.(?:com|com\.cn|eu)$`)
	// addressHost is a bucket before an IPv4 address, as clients write it when
	// their endpoint is an address and they do not ask for path style.
	addressHost = regexp.MustCompile(`^(.+)\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$`)
)

// locate reads the target from host and path. The path is taken as it was
// escaped: a key may hold "//", "." and "%2F". Where the host is no endpoint of
// S3, its first label counts as a bucket if there is one of that name.
func locate(r *http.Request, exists func(bucket string) bool) (target, *fault) {
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
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if net.ParseIP(strings.Trim(host, "[]")) != nil {
		return "", ""
	}
	if m := serviceHost.FindStringSubmatch(host); m != nil {
		return m[1], m[2]
	}
	if m := addressHost.FindStringSubmatch(host); m != nil {
		return m[1], ""
	}
	if label, _, _ := strings.Cut(host, "."); exists(label) {
		return label, ""
	}
	return "", ""
}

// operation is one thing that S3 can be asked to do.
type operation struct {
	// name is the one of the API reference.
	name string
	// action is the IAM action that is judged on the target before serve runs;
	// empty where serve judges by itself.
	action string
	// writes says that serve changes the store.
	writes bool
	// anywhere says that the bucket's region does not matter.
	anywhere bool
	// makes says that the bucket need not exist.
	makes bool
	serve func(*Service, *request) (*answer, *fault)
}

// selector is what chooses an operation.
type selector struct {
	scope, method, subresource string
}

// The scopes of operations.
const (
	onAccount = "the account"
	onBucket  = "a bucket"
	onObject  = "an object"
)

var operations = map[selector]operation{
	{onAccount, "GET", ""}: {name: "ListBuckets", makes: true, serve: (*Service).listBuckets},

	{onBucket, "PUT", ""}:             {name: "CreateBucket", writes: true, makes: true, serve: (*Service).createBucket},
	{onBucket, "HEAD", ""}:            {name: "HeadBucket", action: "s3:ListBucket", serve: (*Service).headBucket},
	{onBucket, "DELETE", ""}:          {name: "DeleteBucket", action: "s3:DeleteBucket", writes: true, serve: (*Service).deleteBucket},
	{onBucket, "GET", "location"}:     {name: "GetBucketLocation", action: "s3:GetBucketLocation", anywhere: true, serve: (*Service).getBucketLocation},
	{onBucket, "GET", "list-type"}:    {name: "ListObjectsV2", action: "s3:ListBucket", serve: (*Service).listObjects},
	{onBucket, "POST", "delete"}:      {name: "DeleteObjects", writes: true, serve: (*Service).deleteObjects},
	{onBucket, "GET", "tagging"}:      {name: "GetBucketTagging", action: "s3:GetBucketTagging", serve: (*Service).getBucketTagging},
	{onBucket, "PUT", "tagging"}:      {name: "PutBucketTagging", writes: true, serve: (*Service).putBucketTagging},
	{onBucket, "DELETE", "tagging"}:   {name: "DeleteBucketTagging", action: "s3:PutBucketTagging", writes: true, serve: (*Service).deleteBucketTagging},
	{onBucket, "GET", "policy"}:       {name: "GetBucketPolicy", action: "s3:GetBucketPolicy", serve: (*Service).getBucketPolicy},
	{onBucket, "PUT", "policy"}:       {name: "PutBucketPolicy", action: "s3:PutBucketPolicy", writes: true, serve: (*Service).putBucketPolicy},
	{onBucket, "DELETE", "policy"}:    {name: "DeleteBucketPolicy", action: "s3:DeleteBucketPolicy", writes: true, serve: (*Service).deleteBucketPolicy},
	{onBucket, "GET", "policyStatus"}: {name: "GetBucketPolicyStatus", action: "s3:GetBucketPolicyStatus", serve: (*Service).getBucketPolicyStatus},
	{onBucket, "GET", "publicAccessBlock"}: {
		name: "GetPublicAccessBlock", action: "s3:GetBucketPublicAccessBlock", serve: (*Service).getPublicAccessBlock},
	{onBucket, "PUT", "publicAccessBlock"}: {
		name: "PutPublicAccessBlock", action: "s3:PutBucketPublicAccessBlock", writes: true, serve: (*Service).putPublicAccessBlock},
	{onBucket, "DELETE", "publicAccessBlock"}: {
		name: "DeletePublicAccessBlock", action: "s3:PutBucketPublicAccessBlock", writes: true, serve: (*Service).deletePublicAccessBlock},

	{onObject, "PUT", ""}:    {name: "PutObject", action: "s3:PutObject", writes: true, serve: (*Service).putObject},
	{onObject, "GET", ""}:    {name: "GetObject", action: "s3:GetObject", serve: (*Service).getObject},
	{onObject, "HEAD", ""}:   {name: "HeadObject", action: "s3:GetObject", serve: (*Service).getObject},
	{onObject, "DELETE", ""}: {name: "DeleteObject", action: "s3:DeleteObject", writes: true, serve: (*Service).deleteObject},
}

// subresources are the query parameters that choose an operation, all that the
// API has: one that is unknown here would be answered as if it were not there.
var subresources = []string{
	"abac", "accelerate", "acl", "analytics", "append", "attributes", "cors", "delete", "encryption",
	"intelligent-tiering", "inventory", "legal-hold", "lifecycle", "list-type", "location", "logging",
	"metadataConfiguration", "metadataInventoryTable", "metadataJournalTable", "metadataTable", "metrics",
	"notification", "object-lock", "ownershipControls", "partNumber", "policy", "policyStatus",
	"publicAccessBlock", "renameObject", "replication", "requestPayment", "restore", "retention", "select",
	"session", "tagging", "torrent", "uploadId", "uploads", "versionId", "versioning", "versions", "website",
}

// route finds the operation. When there is none, it returns one that has only
// the name under which the call is refused.
func route(t target, r *http.Request) (operation, *fault) {
	scope := onAccount
	if t.bucket != "" {
		scope = onBucket
	}
	if t.key != "" {
		scope = onObject
	}
	query := r.URL.Query()
	var found []string
	for _, name := range subresources {
		if query.Has(name) {
			found = append(found, name)
		}
	}
	sub := strings.Join(found, "&")
	op, ok := operations[selector{scope, r.Method, sub}]
	if !ok || r.Header.Get("X-Amz-Copy-Source") != "" {
		name := nameUnknown(scope, r.Method, sub, r.Header)
		return operation{name: name}, unsupported(name)
	}
	if sub == "list-type" && query.Get("list-type") != "2" {
		return op, errInvalidListType.with("ArgumentName", "list-type").with("ArgumentValue", query.Get("list-type"))
	}
	return op, nil
}

// nameUnknown says what was asked for in the words of the request.
func nameUnknown(scope, method, sub string, header http.Header) string {
	switch {
	case header.Get("X-Amz-Copy-Source") != "":
		return "CopyObject (" + method + " with x-amz-copy-source)"
	case scope == onBucket && method == "GET" && sub == "":
		return "ListObjects (GET on a bucket without list-type=2)"
	case sub == "":
		return method + " on " + scope
	default:
		return method + " ?" + sub + " on " + scope
	}
}
