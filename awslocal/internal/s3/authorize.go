package s3

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

var accountPattern = pattern.New(`^[0-9]{12}$`)

// admit finds the bucket and says whether the caller may do what it asks for:
// first whether this is the bucket's region, then whether it is whose the
// caller expects, then what the policies say.
func (s *Service) admit(r *request) *fault {
	if r.operation.makes {
		return nil
	}
	b := s.buckets[r.target.bucket]
	if b == nil {
		return errNoSuchBucket.with("BucketName", r.target.bucket)
	}
	r.bucket = b
	if !r.operation.anywhere && r.elsewhere() {
		return errPermanentRedirect.
			with("Endpoint", b.name+".s3."+b.region+"."+s.options.Partition.Domain()).with("Bucket", b.name)
	}
	if f := r.checkOwner("X-Amz-Expected-Bucket-Owner"); f != nil {
		return f
	}
	if r.operation.action == "" {
		return nil
	}
	return s.authorize(r, r.operation.action, r.target.arn(), r.conditionsOf(r.operation.action))
}

// elsewhere says that the request was sent to another region than its bucket's.
// An unsigned request is sent to the region of its host, if that names one.
func (r *request) elsewhere() bool {
	if r.Caller.Principal.Kind == iampolicy.Anonymous {
		return r.target.region != "" && r.target.region != r.bucket.region
	}
	return r.Region != r.bucket.region
}

// checkOwner refuses a bucket that is not of the account that the client
// expects, in the header of that name.
func (r *request) checkOwner(header string) *fault {
	values := r.HTTP.Header.Values(header)
	if len(values) == 0 {
		return nil
	}
	if !accountPattern.MatchString(values[0]) {
		return errInvalidBucketOwner
	}
	if values[0] != r.bucket.accountID {
		return errAccessDenied
	}
	return nil
}

// authorize asks the policies about one action on one resource in the
// request's bucket or, where it has none, in the caller's account.
func (s *Service) authorize(r *request, action, resource string, extra iampolicy.Context) *fault {
	caller := r.Caller.Principal
	side := call.Side{AccountID: caller.AccountID}
	if r.bucket != nil {
		side = call.Side{
			AccountID:             r.bucket.accountID,
			Policy:                r.bucket.policy,
			RestrictPublicBuckets: s.accessBlock(r.bucket).RestrictPublicBuckets,
		}
	}
	if isWayBack(caller, side.AccountID, action) {
		return nil
	}
	decision := r.Authorize(action, resource, side, extra)
	if decision.Allowed() {
		return nil
	}
	return denied(caller, side.AccountID, action, resource, decision)
}

// isWayBack keeps the owner's root user from being locked out by a bucket
// policy (Amazon S3 API reference, PutBucketPolicy).
func isWayBack(caller iampolicy.Principal, owner, action string) bool {
	return caller.Kind == iampolicy.Root && caller.AccountID == owner &&
		slices.Contains([]string{"s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy"}, action)
}

// policyKinds are the kinds of policies as AWS names them, with their article.
var policyKinds = map[iampolicy.Kind][2]string{
	iampolicy.IdentityPolicy: {"an", "identity-based policy"},
	iampolicy.ResourcePolicy: {"a", "resource-based policy"},
	iampolicy.BoundaryPolicy: {"a", "permissions boundary"},
	iampolicy.SessionPolicy:  {"a", "session policy"},
}

// denied is the refusal as S3 words it: the reason is only for callers of the
// account that owns the bucket.
func denied(caller iampolicy.Principal, owner, action, resource string, d iampolicy.Decision) *fault {
	if caller.Kind == iampolicy.Anonymous || caller.AccountID != owner {
		return errAccessDenied
	}
	kind, ok := policyKinds[d.Kind]
	if !ok {
		kind = policyKinds[iampolicy.IdentityPolicy]
	}
	reason := "because no " + kind[1] + " allows the " + action + " action"
	if d.Effect == iampolicy.ExplicitDeny {
		reason = "with an explicit deny in " + kind[0] + " " + kind[1]
	}
	return errAccessDenied.saying(refusal(caller.ARN, action, resource) + reason)
}

// refusal is how every long refusal begins.
func refusal(arn, action, resource string) string {
	return "User: " + arn + " is not authorized to perform: " + action + ` on resource: "` + resource + `" `
}

// conditionHeaders are the request headers that are condition keys
// (Service Authorization Reference, "Condition keys for Amazon S3").
var conditionHeaders = []string{
	"x-amz-acl", "x-amz-content-sha256", "x-amz-copy-source", "x-amz-grant-full-control", "x-amz-grant-read",
	"x-amz-grant-read-acp", "x-amz-grant-write", "x-amz-grant-write-acp", "x-amz-metadata-directive",
	"x-amz-object-ownership", "x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id",
	"x-amz-storage-class", "x-amz-website-redirect-location",
}

// conditionOperations are the parameters that are condition keys in some
// operations only.
var conditionOperations = map[string][]string{
	"ListObjects":   {"prefix", "delimiter", "max-keys"},
	"ListObjectsV2": {"prefix", "delimiter", "max-keys"},
	"PutObject":     {"if-match", "if-none-match"},
	"CopyObject":    {"if-match", "if-none-match"},
	"DeleteObject":  {"if-match"},
}

// conditions are S3's own condition keys of a request. The global ones are the
// gateway's.
func (r *request) conditions() iampolicy.Context {
	keys := iampolicy.NewContext()
	header, query := r.HTTP.Header, r.query
	for _, name := range conditionHeaders {
		if values := header.Values(name); len(values) > 0 {
			keys.Set("s3:"+name, values[0])
		}
	}
	for _, name := range conditionOperations[r.operation.name] {
		if query.Has(name) {
			keys.Set("s3:"+name, query.Get(name))
		}
		if values := header.Values(name); len(values) > 0 {
			keys.Set("s3:"+name, values[0])
		}
	}
	if r.bucket != nil {
		keys.Set("s3:ResourceAccount", r.bucket.accountID)
	}
	if state := r.HTTP.TLS; state != nil {
		keys.Set("s3:TlsVersion", tlsVersion(state.Version))
	}
	if r.Caller.Principal.Kind != iampolicy.Anonymous {
		r.signatureConditions(keys)
	}
	return keys
}

// tagActions are the actions that see the tags of the object they are about.
// Overwriting and deleting do not (Amazon S3 user guide, "Tagging and access
// control policies").
var tagActions = []string{"s3:GetObject", "s3:GetObjectTagging", "s3:PutObjectTagging", "s3:DeleteObjectTagging"}

// conditionsOf are the condition keys of an action on the target.
func (r *request) conditionsOf(action string) iampolicy.Context {
	keys := r.conditions()
	if !slices.Contains(tagActions, action) {
		return keys
	}
	if o := r.bucket.objects.get(r.target.key); o != nil {
		for _, one := range o.tags() {
			keys.Set("s3:ExistingObjectTag/"+one.key, one.value)
		}
	}
	return keys
}

// signatureConditions are the keys that say how a request was signed.
func (r *request) signatureConditions(keys iampolicy.Context) {
	keys.Set("s3:signatureversion", "AWS4-HMAC-SHA256")
	keys.Set("s3:authType", "REST-HEADER")
	date := r.HTTP.Header.Get("X-Amz-Date")
	if r.query.Has("X-Amz-Signature") {
		keys.Set("s3:authType", "REST-QUERY-STRING")
		date = r.query.Get("X-Amz-Date")
	}
	if signed, err := time.Parse("20060102T150405Z", date); err == nil {
		keys.Set("s3:signatureAge", strconv.FormatInt(max(0, r.Now.Sub(signed).Milliseconds()), 10))
	}
}

// tlsVersion writes a version as policies compare it: "1.2", "1.3".
func tlsVersion(version uint16) string {
	return "1." + strconv.Itoa(int(version&0xff)-1)
}

// isACLFree says that a request sets no access control list but those that
// change nothing where ACLs are off.
func isACLFree(header http.Header, allowed ...string) bool {
	for name := range header {
		if strings.HasPrefix(name, "X-Amz-Grant-") {
			return false
		}
	}
	acl := header.Get("X-Amz-Acl")
	return acl == "" || slices.Contains(allowed, acl)
}
