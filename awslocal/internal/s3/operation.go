package s3

import (
	"net/http"
	"net/url"
	"strings"
)

// operation is one thing that S3 can be asked to do.
type operation struct {
	// name is the one of the API reference.
	name string
	// action is the IAM action that is judged on the target before serve runs;
	// empty where serve judges by itself.
	action string
	// judges says that serve returns digestFault by itself, after it has judged.
	judges bool
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

// copySource stands for a sub-resource where the header of that name makes
// another operation of a request.
const copySource = "x-amz-copy-source"

var operations = map[selector]operation{
	{onAccount, "GET", ""}: {name: "ListBuckets", makes: true, serve: (*Service).listBuckets},

	{onBucket, "PUT", ""}:             {name: "CreateBucket", writes: true, makes: true, serve: (*Service).createBucket},
	{onBucket, "HEAD", ""}:            {name: "HeadBucket", action: "s3:ListBucket", serve: (*Service).headBucket},
	{onBucket, "DELETE", ""}:          {name: "DeleteBucket", action: "s3:DeleteBucket", writes: true, serve: (*Service).deleteBucket},
	{onBucket, "GET", "location"}:     {name: "GetBucketLocation", action: "s3:GetBucketLocation", anywhere: true, serve: (*Service).getBucketLocation},
	{onBucket, "GET", "list-type"}:    {name: "ListObjectsV2", action: "s3:ListBucket", serve: (*Service).listObjects},
	{onBucket, "GET", ""}:             {name: "ListObjects", action: "s3:ListBucket", serve: (*Service).listObjectsV1},
	{onBucket, "POST", "delete"}:      {name: "DeleteObjects", writes: true, serve: (*Service).deleteObjects},
	{onBucket, "GET", "tagging"}:      {name: "GetBucketTagging", action: "s3:GetBucketTagging", serve: (*Service).getBucketTagging},
	{onBucket, "PUT", "tagging"}:      {name: "PutBucketTagging", judges: true, writes: true, serve: (*Service).putBucketTagging},
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

	{onObject, "PUT", ""}:           {name: "PutObject", judges: true, writes: true, serve: (*Service).putObject},
	{onObject, "PUT", copySource}:   {name: "CopyObject", judges: true, writes: true, serve: (*Service).copyObject},
	{onObject, "GET", ""}:           {name: "GetObject", action: "s3:GetObject", serve: (*Service).getObject},
	{onObject, "HEAD", ""}:          {name: "HeadObject", action: "s3:GetObject", serve: (*Service).getObject},
	{onObject, "DELETE", ""}:        {name: "DeleteObject", action: "s3:DeleteObject", writes: true, serve: (*Service).deleteObject},
	{onObject, "GET", "tagging"}:    {name: "GetObjectTagging", action: "s3:GetObjectTagging", serve: (*Service).getObjectTagging},
	{onObject, "PUT", "tagging"}:    {name: "PutObjectTagging", judges: true, writes: true, serve: (*Service).putObjectTagging},
	{onObject, "DELETE", "tagging"}: {name: "DeleteObjectTagging", action: "s3:DeleteObjectTagging", writes: true, serve: (*Service).deleteObjectTagging},
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
func route(t target, query url.Values, r *http.Request) (operation, *fault) {
	if isControl(r) {
		return routeControl(r)
	}
	scope := onAccount
	if t.bucket != "" {
		scope = onBucket
	}
	if t.key != "" {
		scope = onObject
	}
	var found []string
	for _, name := range subresources {
		if query.Has(name) {
			found = append(found, name)
		}
	}
	if r.Header.Get(copySourceHeader) != "" {
		found = append(found, copySource)
	}
	chosen := selector{scope, r.Method, strings.Join(found, "&")}
	op, ok := operations[chosen]
	if !ok {
		name := nameUnplayed(chosen)
		return operation{name: name}, unsupported(name)
	}
	if op.name == "ListObjectsV2" && query.Get("list-type") != "2" {
		return op, errInvalidListType.with("ArgumentName", "list-type").with("ArgumentValue", query.Get("list-type"))
	}
	return op, nil
}
