package issuer

import (
	"cmp"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// actions are the IAM actions whose names differ from the operation's. AWS:
// "Actions, resources, and condition keys for Amazon S3".
var actions = map[string]string{
	"HeadBucket":           "ListBucket",
	"HeadObject":           "GetObject",
	"ListObjectsV2":        "ListBucket",
	"GetPublicAccessBlock": "GetBucketPublicAccessBlock",
	"PutPublicAccessBlock": "PutBucketPublicAccessBlock",
}

// actionOf is the right that a denied call lacked.
func actionOf(f fault.Fault) string {
	return strings.ToLower(f.Service) + ":" + cmp.Or(actions[f.Operation], f.Operation)
}

// callerTrouble says why the operator is nobody in AWS. If the documents are
// gone too, that is the likely cause, and comes first: AWS needs them to verify the
// operator's own token, so only a person can bring them back.
func callerTrouble(w World) condition.Verdict {
	f, url := *w.Caller.Fault, w.Issuer.Spec.URL
	if f.Passing() {
		return unavailable(f)
	}
	if out := clockTrouble(f); out != nil {
		return *out
	}
	if isSeized(w) {
		out := nameLost(w, "AWS does not accept the operator's token ("+code(f)+"), and "+url+" shows only keys that this cluster never had: unless your own account published them, another one has the name of bucket "+w.Issuer.Spec.Publication.S3.Bucket)
		out.Reason = ReasonNotAuthenticated
		return out
	}
	for _, seen := range []struct {
		path   string
		status int
	}{{KeysPath, w.Public.Keys.Status}, {DiscoveryPath, w.Public.Discovery.Status}} {
		if seen.status == statusNotFound || seen.status == statusForbidden {
			return condition.No(ReasonNotAuthenticated,
				"GET %s answers %d: without the document AWS verifies no token of this cluster, and does not accept the operator's (%s); act at once: run tabard issuer bootstrap -f FILE with an AWS session of your own, it publishes the documents again", DocumentURL(url, seen.path), seen.status, code(f))
		}
	}
	return condition.No(ReasonNotAuthenticated,
		"AWS does not accept the operator's token (%s): the OIDC provider or the operator's role is missing or does not fit; tabard issuer bootstrap -f FILE, run with an AWS session of your own, repairs both", code(f))
}

// code is what of a fault is the same at every attempt.
func code(f fault.Fault) string {
	return strings.TrimSpace(f.Service + " " + f.Operation + ": " + cmp.Or(f.Code, string(f.Class)))
}

func unavailable(f fault.Fault) condition.Verdict {
	return condition.Unknown(ReasonAWSUnavailable, "AWS did not answer as expected (%s): it is tried again by itself", code(f))
}

// bucketFault explains a fault of S3, in looking or in a step.
func bucketFault(w World, f fault.Fault) condition.Verdict {
	if out := clockTrouble(f); out != nil {
		return *out
	}
	bucket := w.Issuer.Spec.Publication.S3.Bucket
	switch {
	case f.Code == "BucketAlreadyExists" && wasPublished(w):
		return nameLost(w, "bucket "+bucket+", which held the documents, was deleted, and another account than "+w.Caller.AccountID+" has its name")
	case f.Class == fault.Exists:
		return condition.No(ReasonBucketNotYours, "bucket %s is there already and is not this issuer's to use from account %s (%s): choose another name in spec.publication.s3.bucket", bucket, w.Caller.AccountID, f.Message)
	case f.Class == fault.Denied && f.Operation == "PutBucketPolicy" && strings.Contains(f.Message, "BlockPublicPolicy"):
		return condition.No(ReasonPublicAccessBlocked, "S3 Block Public Access of account %s, or of its organisation, forbids a public policy on bucket %s: allow public policies there, or set publicRead to None and serve the documents through a CDN", w.Caller.AccountID, bucket)
	case f.Class == fault.Denied && f.Operation == "HeadBucket" && wasPublished(w) && len(strangersKeys(w)) > 0:
		return nameLost(w, "bucket "+bucket+", which held the documents, may not be looked at, and the URL shows "+keyNames(strangersKeys(w))+", which this cluster never had: unless account "+w.Caller.AccountID+
			" still owns the bucket (aws s3api head-bucket --bucket "+bucket+" --expected-bucket-owner "+w.Caller.AccountID+"), another account has its name")
	case f.Class == fault.Denied && f.Operation == "HeadBucket":
		return condition.No(ReasonAccessDenied, "the operator (%s) may not look at bucket %s: either it lacks %s on %s, then tabard issuer bootstrap -f FILE grants it, or the bucket belongs to another account, then choose another name", w.Caller.ARN, bucket, actionOf(f), bucketARN(w.Issuer.Spec.Publication.S3))
	case f.Class == fault.Denied:
		return condition.No(ReasonAccessDenied, "the operator (%s) lacks %s for bucket %s: grant it, or run tabard issuer bootstrap -f FILE with an AWS session of your own", w.Caller.ARN, actionOf(f), bucket)
	}
	return otherFault(f)
}

// providerFault explains a fault of IAM, or of becoming somebody in an account.
func providerFault(state ProviderState, f fault.Fault) condition.Verdict {
	if out := clockTrouble(f); out != nil {
		return *out
	}
	role := state.Identity.RoleARN()
	switch {
	case role != "" && (f.Class == fault.Unauthenticated || f.Operation == "AssumeRole" && f.Class == fault.Denied):
		return condition.No(ReasonNotAuthenticated, "the operator may not become %s (%s): let that role trust the operator's role, and the operator's role assume it", role, code(f))
	case f.Class == fault.Denied:
		return condition.No(ReasonAccessDenied, "%s is lacking on %s: grant it, or run tabard issuer bootstrap -f FILE with an AWS session of your own", actionOf(f), state.ARN)
	}
	return otherFault(f)
}

// clockTrouble recognises a signature that AWS finds too old or too new.
func clockTrouble(f fault.Fault) *condition.Verdict {
	switch f.Code {
	case "RequestTimeTooSkewed", "RequestExpired":
		out := condition.No(ReasonNotAuthenticated, "AWS says that the operator's clock is wrong (%s): set it by NTP on the node", code(f))
		return &out
	}
	return nil
}

// otherFault explains what is the same for all services.
func otherFault(f fault.Fault) condition.Verdict {
	switch {
	case f.Passing() || f.Class == fault.Gone:
		return unavailable(f)
	case f.Class == fault.Unauthenticated:
		return condition.No(ReasonNotAuthenticated, "AWS does not accept the operator's credentials (%s): tabard issuer bootstrap -f FILE, run with an AWS session of your own, repairs role and provider", code(f))
	case f.Class == fault.Denied:
		return condition.No(ReasonAccessDenied, "%s is lacking: grant it, or run tabard issuer bootstrap -f FILE with an AWS session of your own", actionOf(f))
	}
	return condition.No(ReasonAWSRefused, "AWS refused: %s", f.Error())
}
