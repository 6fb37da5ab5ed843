package s3

// unplayed are operations of S3 that are refused, by their names in the API
// reference: those that clients are likely to ask for.
var unplayed = map[selector]string{
	{onBucket, "GET", "acl"}:                  "GetBucketAcl",
	{onBucket, "PUT", "acl"}:                  "PutBucketAcl",
	{onBucket, "GET", "cors"}:                 "GetBucketCors",
	{onBucket, "PUT", "cors"}:                 "PutBucketCors",
	{onBucket, "DELETE", "cors"}:              "DeleteBucketCors",
	{onBucket, "GET", "encryption"}:           "GetBucketEncryption",
	{onBucket, "PUT", "encryption"}:           "PutBucketEncryption",
	{onBucket, "DELETE", "encryption"}:        "DeleteBucketEncryption",
	{onBucket, "GET", "lifecycle"}:            "GetBucketLifecycleConfiguration",
	{onBucket, "PUT", "lifecycle"}:            "PutBucketLifecycleConfiguration",
	{onBucket, "DELETE", "lifecycle"}:         "DeleteBucketLifecycle",
	{onBucket, "GET", "logging"}:              "GetBucketLogging",
	{onBucket, "PUT", "logging"}:              "PutBucketLogging",
	{onBucket, "GET", "notification"}:         "GetBucketNotificationConfiguration",
	{onBucket, "PUT", "notification"}:         "PutBucketNotificationConfiguration",
	{onBucket, "GET", "object-lock"}:          "GetObjectLockConfiguration",
	{onBucket, "PUT", "object-lock"}:          "PutObjectLockConfiguration",
	{onBucket, "GET", "ownershipControls"}:    "GetBucketOwnershipControls",
	{onBucket, "PUT", "ownershipControls"}:    "PutBucketOwnershipControls",
	{onBucket, "DELETE", "ownershipControls"}: "DeleteBucketOwnershipControls",
	{onBucket, "GET", "replication"}:          "GetBucketReplication",
	{onBucket, "PUT", "replication"}:          "PutBucketReplication",
	{onBucket, "DELETE", "replication"}:       "DeleteBucketReplication",
	{onBucket, "GET", "requestPayment"}:       "GetBucketRequestPayment",
	{onBucket, "GET", "session"}:              "CreateSession",
	{onBucket, "GET", "uploads"}:              "ListMultipartUploads",
	{onBucket, "GET", "versioning"}:           "GetBucketVersioning",
	{onBucket, "PUT", "versioning"}:           "PutBucketVersioning",
	{onBucket, "GET", "versions"}:             "ListObjectVersions",
	{onBucket, "GET", "website"}:              "GetBucketWebsite",
	{onBucket, "PUT", "website"}:              "PutBucketWebsite",
	{onBucket, "DELETE", "website"}:           "DeleteBucketWebsite",
	{onBucket, "POST", ""}:                    "PostObject",

	{onObject, "GET", "acl"}:                               "GetObjectAcl",
	{onObject, "PUT", "acl"}:                               "PutObjectAcl",
	{onObject, "GET", "attributes"}:                        "GetObjectAttributes",
	{onObject, "GET", "legal-hold"}:                        "GetObjectLegalHold",
	{onObject, "PUT", "legal-hold"}:                        "PutObjectLegalHold",
	{onObject, "GET", "retention"}:                         "GetObjectRetention",
	{onObject, "PUT", "retention"}:                         "PutObjectRetention",
	{onObject, "POST", "restore"}:                          "RestoreObject",
	{onObject, "POST", "select"}:                           "SelectObjectContent",
	{onObject, "PUT", "renameObject"}:                      "RenameObject",
	{onObject, "POST", "uploads"}:                          "CreateMultipartUpload",
	{onObject, "PUT", "partNumber&uploadId"}:               "UploadPart",
	{onObject, "PUT", "partNumber&uploadId&" + copySource}: "UploadPartCopy",
	{onObject, "GET", "uploadId"}:                          "ListParts",
	{onObject, "POST", "uploadId"}:                         "CompleteMultipartUpload",
	{onObject, "DELETE", "uploadId"}:                       "AbortMultipartUpload",
}

// nameUnplayed says what was asked for: the operation, or the words of the
// request.
func nameUnplayed(asked selector) string {
	words := asked.method + " on " + asked.scope
	if asked.subresource != "" {
		words = asked.method + " ?" + asked.subresource + " on " + asked.scope
	}
	if name, known := unplayed[asked]; known {
		return name + " (" + words + ")"
	}
	return words
}
