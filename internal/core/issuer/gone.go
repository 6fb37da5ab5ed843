package issuer

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// A step that fails may be the repair of something that was there and is gone. Then
// that it is gone is the cause, and why the repair fails comes after it: a person who
// reads of a lacking right alone does not learn that no token is accepted.

// goneFromBucket puts before why a step failed what was published and is not there any
// more. It is why itself where the step repairs no such thing, or where why is the cause.
func goneFromBucket(w World, step Step, why condition.Verdict) condition.Verdict {
	if !wasPublished(w) || why.Reason == ReasonBucketNotYours || why.Reason == ReasonPublicAccessBlocked {
		return why
	}
	s3, url := w.Issuer.Spec.Publication.S3, w.Issuer.Spec.URL
	switch s := step.(type) {
	case CreateBucket:
		if !w.Bucket.Exists {
			return condition.No(ReasonBucketMissing, "%s; it could not be made anew: %s", bucketGone(w), why.Message)
		}
	case PutDocument:
		if !isStored(w, s.Key) {
			return condition.No(ReasonDocumentsMissing, "the document %s is not in bucket %s any more: %s; it could not be written anew: %s", s.Key, s3.Bucket, soonRefused, why.Message)
		}
	case SetPublicAccess, PutBucketPolicy:
		if status := w.Public.Keys.Status; s3.PublicRead != v1alpha1.PublicReadNone && (status == statusForbidden || status == statusNotFound) {
			return condition.No(ReasonNotReadable, "GET %s answers %d, and did not before: %s; bucket %s could not be opened for the two documents: %s",
				DocumentURL(url, KeysPath), status, soonRefused, s3.Bucket, why.Message)
		}
	}
	return why
}

// soonRefused is what it means that AWS cannot fetch the documents. For how long a
// cloud goes on with those that it has fetched, it does not say.
const soonRefused = "act at once, AWS accepts the cluster's tokens only as long as it still has a copy of the documents"

// bucketGone says that the bucket that the documents were in is gone, and what comes of
// that.
func bucketGone(w World) string {
	return fmt.Sprintf("there is no bucket %s in account %s any more, it was deleted: %s, and whoever takes the name can become every role that trusts %s",
		w.Issuer.Spec.Publication.S3.Bucket, w.Caller.AccountID, soonRefused, w.Issuer.Spec.URL)
}

// isStored says that a document was seen in the bucket.
func isStored(w World, key string) bool {
	keys, _ := DocumentKeys(w.Issuer.Spec.Publication.S3.Prefix)
	if key == keys {
		return w.Bucket.Keys.Exists
	}
	return w.Bucket.Discovery.Exists
}

// goneProvider puts before why a provider could not be made that there is none. Whether
// there was one before is not told: a status that somebody else may write would say it.
func goneProvider(w World, step CreateProvider, why condition.Verdict) condition.Verdict {
	isThere := func(s ProviderState) bool { return s.ARN == step.ARN && s.Exists }
	if slices.ContainsFunc(w.Providers, isThere) {
		return why
	}
	return condition.No(ReasonProviderNotRegistered, "there is no %s, so AWS refuses the cluster's tokens for every role of the account; it could not be registered: %s", step.ARN, why.Message)
}
