package issuer

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// Answers of an anonymous fetch that are told apart.
const (
	statusOK        = 200
	statusForbidden = 403
	statusNotFound  = 404
)

// shelf is what is published and what is to be.
type shelf struct {
	// trouble stands in the way of looking or writing; nil for none.
	trouble *condition.Verdict
	// known says that the bucket's documents were seen.
	known bool
	// published are the keys in the bucket's document, foreign those of them
	// that status does not know.
	published, foreign []Key
	// publicKnown says that the URL answered; public are the keys seen there.
	publicKnown bool
	public      []Key
	// tooMany says that the wanted document would hold more than MaxKeys.
	tooMany bool
	// keys and discovery are the wanted documents; nil if not known.
	keys, discovery []byte
	// ours says that the bucket is Tabard's for this issuer, or is to be made;
	// creating that it (or its tag) is to be made in this pass.
	ours, creating bool
}

// stock compares the ring with what is on the shelf.
func stock(w World, r ring) shelf {
	out := shelf{trouble: bucketTrouble(w)}
	switch status := w.Public.Keys.Status; {
	case status == statusOK:
		out.publicKnown, out.public = true, publishedKeys(w.Public.Keys.Body)
	case status == statusForbidden || status == statusNotFound:
		out.publicKnown = true
	}
	if out.trouble != nil {
		return out
	}
	out.creating = !w.Bucket.Exists || isHalfCreated(w)
	out.ours = out.creating || w.Bucket.Owner == w.Issuer.Spec.URL
	out.known, out.published = true, publishedKeys(w.Bucket.Keys.Body)
	out.foreign = r.foreign(w, out.published)
	wanted := r.wanted(w, out.published)
	isRevoked := func(k Key) bool { return r.isRevoked(w, k) }
	if len(r.read)+len(out.published) == 0 || len(wanted) == 0 && !slices.ContainsFunc(slices.Concat(r.read, out.published), isRevoked) {
		return out
	}
	if leaving := r.leaving(w, out); len(lacking(wanted, out.published)) > 0 && len(wanted)+len(leaving) <= MaxKeys {
		wanted = append(wanted, leaving...) // until the next write: see PutDocument.Urgent
	}
	if out.tooMany = len(wanted) > MaxKeys; !out.tooMany {
		out.keys, out.discovery = JWKS(wanted), Discovery(w.Issuer.Spec.URL, algorithms(wanted))
	}
	return out
}

// missing are the keys that some view of the published set lacks. The URL's own
// answer counts when it shows a document; that nobody may read it is another
// condition's matter, unless it is the only view.
func (s shelf) missing(w World, wanted []Key) []string {
	var out []string
	if s.known {
		out = lacking(wanted, s.published)
	}
	if s.publicKnown && (!s.known || w.Public.Keys.Status == statusOK) {
		out = append(out, lacking(wanted, s.public)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bucketTrouble says what stands in the way of publishing, nil for nothing.
func bucketTrouble(w World) *condition.Verdict {
	s3 := w.Issuer.Spec.Publication.S3
	var out condition.Verdict
	switch was := w.Issuer.Status.Publication.Bucket; {
	case w.Caller.Fault != nil:
		out = callerTrouble(w)
	case was != "" && was != s3.Bucket && !wasRefused(w):
		out = condition.No(ReasonBucketChanged, "the documents are in bucket %s, the spec says %s: set %s again, or delete this object with deletionPolicy Retain and create it anew", was, s3.Bucket, was)
	case w.Bucket.Fault != nil:
		out = bucketFault(w, *w.Bucket.Fault)
	case !w.Bucket.Exists && !s3.Create:
		out = missingBucket(w)
	case !w.Bucket.Exists:
		return nil
	case w.Bucket.Region != "" && w.Bucket.Region != s3.Region:
		out = condition.No(ReasonWrongRegion, "bucket %s is in %s, the spec says %s: set spec.publication.s3.region to %s", s3.Bucket, w.Bucket.Region, s3.Region, w.Bucket.Region)
	case w.Bucket.Owner != "" && w.Bucket.Owner != w.Issuer.Spec.URL:
		out = anothersBucket(w)
	default:
		return nil
	}
	return &out
}

// wasRefused says that the bucket's name belonged to somebody else at the last
// attempt: then nothing of ours can be in it.
func wasRefused(w World) bool {
	return verdictsOf(w.Issuer.Status).published.Reason == ReasonBucketNotYours
}

// isHalfCreated recognises a bucket between its creation and its tag: status
// said beforehand that it would be created, and there is nothing in it.
func isHalfCreated(w World) bool {
	was, b := w.Issuer.Status.Publication, w.Bucket
	return b.Exists && b.Owner == "" && !b.Tombstone && was.Created && was.Bucket == w.Issuer.Spec.Publication.S3.Bucket &&
		!b.Keys.Exists && !b.Discovery.Exists && len(b.Policy) == 0
}

// bucketRef is the bucket of the spec, in the account that must own it.
func bucketRef(w World) BucketRef {
	s3 := w.Issuer.Spec.Publication.S3
	return BucketRef{Name: s3.Bucket, Region: s3.Region, AccountID: w.Caller.AccountID}
}

// documentSteps write what differs: keys first, so that a discovery document
// never leads to keys that are not there.
func (s shelf) documentSteps(w World) []Step {
	if s.keys == nil {
		return nil
	}
	var out []Step
	keys, discovery := DocumentKeys(w.Issuer.Spec.Publication.S3.Prefix)
	put := func(key string, want []byte, seen Document, urgent bool) {
		if seen.Exists && bytes.Equal(seen.Body, want) {
			return
		}
		out = append(out, PutDocument{Identity: w.Caller.Identity, Bucket: bucketRef(w), Key: key, Body: string(want), IfMatch: seen.ETag, Urgent: urgent})
	}
	put(keys, s.keys, w.Bucket.Keys, s.isUrgent(w))
	put(discovery, s.discovery, w.Bucket.Discovery, false)
	return out
}

// isUrgent says that the keys document is to be written even if no status can be
// stored first: see PutDocument.
func (s shelf) isUrgent(w World) bool {
	isHeld := slices.Contains(w.Issuer.Finalizers, Finalizer)
	isKnown := !s.creating && w.Issuer.Status.Publication.Bucket == w.Issuer.Spec.Publication.S3.Bucket
	wanted := publishedKeys(s.keys)
	added, revoked := len(lacking(wanted, s.published)) > 0, false
	for _, key := range s.published {
		switch {
		case hasKey(wanted, key.ID):
		case revocation(w, key) == nil:
			return false
		default:
			revoked = true
		}
	}
	return isHeld && isKnown && (added || revoked)
}

// openingSteps open a bucket of ours for two objects. They come after the
// documents: a right that is missing here must not hold up a new key.
func (s shelf) openingSteps(w World) ([]Step, error) {
	if !s.ours {
		return nil, nil
	}
	open := w.Issuer.Spec.Publication.S3.PublicRead != v1alpha1.PublicReadNone
	var out []Step
	if access := w.Bucket.Access; s.creating || open && (access.BlockPublicPolicy || access.RestrictPublicBuckets) {
		out = append(out, SetPublicAccess{Identity: w.Caller.Identity, Bucket: bucketRef(w), Access: PublicAccessBlock{
			BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: !open, RestrictPublicBuckets: !open,
		}})
	}
	edit := UnmergePolicy
	if open {
		edit = MergePolicy
	}
	policy, err := edit(w.Bucket.Policy, w.Issuer.Spec)
	if err == nil && policy != string(w.Bucket.Policy) {
		out = append(out, PutBucketPolicy{Identity: w.Caller.Identity, Bucket: bucketRef(w), Policy: policy})
	}
	return append(out, reopening(w)...), err
}

// publication is the outcome of looking at L1.
type publication struct {
	steps   []Step
	status  v1alpha1.PublicationStatus
	verdict condition.Verdict
}

// decidePublication brings the shelf to what is wanted, and judges what anybody
// sees of it.
func decidePublication(w World, r ring, s shelf) publication {
	out := publication{status: *w.Issuer.Status.Publication.DeepCopy()}
	switch {
	case s.trouble != nil:
		out.verdict = *s.trouble
		return out
	case s.tooMany:
		out.verdict = condition.Unknown(ReasonNotReached, "nothing is written, because the keys document would hold too many keys: see %s", TypeKeysInSync)
		return out
	case s.keys == nil:
		out.verdict = noKeysYet(r)
		return out
	}
	if s.creating {
		out.steps = append(out.steps, CreateBucket{Identity: w.Caller.Identity, Bucket: bucketRef(w), Owner: w.Issuer.Spec.URL})
	}
	documents := s.documentSteps(w)
	opening, err := s.openingSteps(w)
	out.steps = slices.Concat(out.steps, documents, opening)
	out.status.Bucket, out.status.Created = w.Issuer.Spec.Publication.S3.Bucket, s.ours
	switch {
	case len(documents) > 0:
		out.verdict = condition.No(ReasonPublishing, "the documents in bucket %s are not those of the cluster's keys: they are being written", out.status.Bucket)
	default:
		out.verdict = s.publicVerdict(w, len(opening) > 0)
	}
	if err != nil && !out.verdict.IsTrue() {
		out.verdict = condition.No(ReasonBucketPolicyUnreadable, "%v, so the statement for public reading cannot be added to it: repair the policy of bucket %s", err, out.status.Bucket)
	}
	out.status = s.observed(w, out.status, out.verdict.IsTrue())
	return out
}

func noKeysYet(r ring) condition.Verdict {
	if r.refused != nil {
		return condition.No(r.refused.Reason, "nothing is published, because the key source is refused: see %s", TypeKeysInSync)
	}
	return condition.Unknown(ReasonNoKeys, "nothing is published, because no API server has told its keys yet: see %s", TypeKeysInSync)
}

// observed notes the digest of what is wanted, and when it was first seen from
// outside.
func (s shelf) observed(w World, status v1alpha1.PublicationStatus, visible bool) v1alpha1.PublicationStatus {
	digest := Digest(s.keys, s.discovery)
	if status.Digest != digest {
		status.Digest, status.ObservedAnonymouslyAt = digest, nil
	}
	if visible && status.ObservedAnonymouslyAt == nil {
		status.ObservedAnonymouslyAt = new(metav1.Time)
		*status.ObservedAnonymouslyAt = condition.Instant(w.Now)
	}
	return status
}

// publicVerdict judges the two anonymous fetches when the bucket holds what is
// wanted.
func (s shelf) publicVerdict(w World, opening bool) condition.Verdict {
	url := w.Issuer.Spec.URL
	fetches := []struct {
		Fetch
		url  string
		want []byte
	}{{w.Public.Keys, DocumentURL(url, KeysPath), s.keys}, {w.Public.Discovery, DocumentURL(url, DiscoveryPath), s.discovery}}
	for _, f := range fetches {
		switch {
		case f.Redirect != "":
			return condition.No(ReasonRedirected, "GET %s redirects to %.200q, expected the document itself: AWS fetches from the URL that tokens name, over https, and does not say that it follows; let what serves the URL answer by itself, or set spec.url to where the documents are", f.url, f.Redirect)
		case f.Status == statusOK && bytes.Equal(f.Body, f.want):
			continue
		case f.Error != "" || f.Status == 0:
			return condition.Unknown(ReasonNotReachableFromHere, "GET %s gave no answer (%s): fetch it from elsewhere; if that works, let the operator reach it", f.url, condition.Steady(f.Error))
		case f.Status == statusForbidden || f.Status == statusNotFound:
			return s.unreadable(w, f.url, f.Status, opening)
		case f.Status != statusOK:
			return condition.Unknown(ReasonNotReachableFromHere, "GET %s answered %d, expected 200: check what serves the URL", f.url, f.Status)
		case s.isOlder(w):
			return condition.No(ReasonNotYetVisible, "%s is an older version than the bucket holds: wait for the cache in between, or invalidate it", f.url)
		}
		return condition.No(ReasonDocumentsDiffer, "%s is not the document in bucket %s: check where the URL leads, and who else publishes there", f.url, w.Issuer.Spec.Publication.S3.Bucket)
	}
	return condition.Yes(ReasonPublished, "both documents were fetched from %s without credentials and are what was written%s", url, nameRemark(w.Issuer.Spec))
}

// unreadable explains a 403 or 404 at the URL.
func (s shelf) unreadable(w World, at string, status int, opening bool) condition.Verdict {
	s3 := w.Issuer.Spec.Publication.S3
	switch {
	case s3.PublicRead == v1alpha1.PublicReadNone:
		return condition.No(ReasonNotReadable, "GET %s answered %d, expected 200: publicRead is None, so let your CDN read both documents of bucket %s", at, status, s3.Bucket)
	case !s.ours:
		return condition.No(ReasonPublicReadMissing, "GET %s answered %d, expected 200; Tabard did not create bucket %s and does not open it: add this statement to its policy: %s", at, status, s3.Bucket, PublicReadStatement(w.Issuer.Spec))
	case opening:
		return condition.No(ReasonPublishing, "GET %s answered %d, expected 200: bucket %s is being opened for the two documents", at, status, s3.Bucket)
	}
	return condition.No(ReasonNotReadable, "GET %s answered %d, expected 200; bucket %s lets anybody read both documents: check that the URL leads to the bucket and its prefix %q, and that the account does not block public access", at, status, s3.Bucket, s3.Prefix)
}

// isOlder says that what the URL shows is this issuer's, of an earlier day: its
// discovery document names the issuer, and it shares a key with the wanted set.
func (s shelf) isOlder(w World) bool {
	if w.Public.Discovery.Status != statusOK {
		return false
	}
	if _, err := readDiscovery(w.Public.Discovery.Body, w.Issuer.Spec.URL, DocumentURL(w.Issuer.Spec.URL, KeysPath)); err != nil {
		return false
	}
	wanted := publishedKeys(s.keys)
	return len(lacking(wanted, s.public)) < len(wanted)
}
