package issuer

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// A bucket that Tabard made is its issuer's name in the world: whoever owns it
// says which keys are the cluster's. Deleting an issuer therefore closes the
// bucket and keeps it, as a tombstone. Accounts that registered the issuer by
// themselves cannot be seen, so only a person can give the name up, in words.
//
//	            documents written                    documents gone, closed, marked
//	  (none) ───────────────────────▶ in use ─────────────────────────────────▶ tombstone
//	     ▲                              ▲   an issuer of the same URL takes it over │
//	     │                              └───────────────────────────────────────────┤
//	     └──────────────── releaseName, and no provider is seen ────────────────────┘

// closed is all four switches on: nothing in the bucket is public, whatever
// policy somebody puts on it.
var closed = PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}

// isOurs says that the bucket is there and carries this issuer's tag. Nothing
// else counts, status least of all: others may write it.
func isOurs(w World) bool {
	return isOurPlace(w) && w.Bucket.Owner == w.Issuer.Spec.URL
}

// closing are the steps that make a bucket of ours a tombstone. One that holds
// things of others stays as open as they need it; it keeps its name too.
func closing(w World) []Step {
	if w.Bucket.Others {
		return nil
	}
	var out []Step
	if w.Bucket.Access != closed {
		out = append(out, SetPublicAccess{Identity: w.Caller.Identity, Bucket: bucketRef(w), Access: closed})
	}
	if !w.Bucket.Tombstone {
		out = append(out, SetTombstone{Identity: w.Caller.Identity, Bucket: bucketRef(w), Owner: w.Issuer.Spec.URL, On: true})
	}
	return out
}

// reopening takes the mark off a tombstone that its issuer has taken over.
func reopening(w World) []Step {
	if !w.Bucket.Tombstone {
		return nil
	}
	return []Step{SetTombstone{Identity: w.Caller.Identity, Bucket: bucketRef(w), Owner: w.Issuer.Spec.URL}}
}

// releasesName says that a person gives the name of a bucket of ours up, and that
// no other issuer of the cluster waits for it.
func releasesName(w World) bool {
	waits := func(rival v1alpha1.OIDCIssuer) bool {
		return rival.DeletionTimestamp.IsZero() &&
			(rival.Spec.URL == w.Issuer.Spec.URL || rival.Spec.Publication.S3.Bucket == w.Issuer.Spec.Publication.S3.Bucket)
	}
	return w.Issuer.Spec.Publication.S3.ReleaseName && isOurs(w) && !slices.ContainsFunc(w.Rivals, waits)
}

// holdsName says that giving the bucket's name away, now or by what happened to
// it, is this issuer's matter.
func holdsName(w World) bool {
	return isOurs(w) || !w.Bucket.Exists && w.Issuer.Status.Publication.Created
}

// anothersBucket says that the bucket belongs to the issuer of another URL.
func anothersBucket(w World) condition.Verdict {
	bucket, url := w.Issuer.Spec.Publication.S3.Bucket, w.Issuer.Spec.URL
	if w.Bucket.Tombstone {
		return condition.No(ReasonBucketOfAnotherIssuer, "bucket %s is kept so that nobody takes the name of the deleted issuer %s, expected one for %s: choose another bucket", bucket, w.Bucket.Owner, url)
	}
	return condition.No(ReasonBucketOfAnotherIssuer, "bucket %s has the tag %s=%s, expected %s: choose another bucket, or remove the tag if that issuer is gone", bucket, OwnerTag, w.Bucket.Owner, url)
}

// wasPublished says that somebody may know the issuer by this bucket: its
// documents were once fetched from the URL.
func wasPublished(w World) bool {
	return w.Issuer.Status.Publication.Bucket == w.Issuer.Spec.Publication.S3.Bucket &&
		slices.ContainsFunc(w.Issuer.Status.Keys, func(k v1alpha1.SigningKey) bool { return k.ReadableSince != nil })
}

// strangersKeys are keys at the URL that this cluster never had.
func strangersKeys(w World) []Key {
	if w.Public.Keys.Status != statusOK {
		return nil
	}
	r := ring{keys: w.Issuer.Status.Keys}
	return slices.DeleteFunc(publishedKeys(w.Public.Keys.Body), func(k Key) bool { return r.knows(k.ID) })
}

// nameLost says what to do when another account has the name of a bucket that
// documents were published in.
func nameLost(w World, seen string) condition.Verdict {
	url := w.Issuer.Spec.URL
	return condition.No(ReasonBucketNotYours, "%s: whoever has the bucket now can become every role that trusts %s; in each account that registered it, delete the provider, which ends that for all roles of the account "+
		"(aws iam delete-open-id-connect-provider --open-id-connect-provider-arn %s), then have the cluster's tokens name another URL", seen, url, ProviderARN(identity.Partition(w.Issuer.Spec.Publication.S3.Region), "ACCOUNT", url))
}

// missingBucket says that there is no bucket and none is to be made.
func missingBucket(w World) condition.Verdict {
	s3 := w.Issuer.Spec.Publication.S3
	seen := fmt.Sprintf("there is no bucket %s in account %s", s3.Bucket, w.Caller.AccountID)
	if wasPublished(w) {
		seen = bucketGone(w)
	}
	return condition.No(ReasonBucketMissing, "%s; create it in %s, or set spec.publication.s3.create to true", seen, s3.Region)
}

// isSeized says that the URL shows keys, and none of them this cluster's.
func isSeized(w World) bool {
	strange := len(strangersKeys(w))
	return wasPublished(w) && strange > 0 && strange == len(publishedKeys(w.Public.Keys.Body))
}
