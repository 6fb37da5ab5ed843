package issuer

import (
	"bytes"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// decideDeletion undoes what the issuer made, if its policy says so: trust,
// provider, documents, bucket, each only after the former. A bucket of Tabard's
// is closed and kept: whoever took its name next could become anybody that still
// believes in the URL. Where a person gives the name up, the bucket goes only in
// a pass that has seen all the rest gone.
func decideDeletion(w World) Plan {
	if !slices.Contains(w.Issuer.Finalizers, Finalizer) {
		return Plan{Status: *w.Issuer.Status.DeepCopy(), Again: LookAgain}
	}
	release := []Step{ReleaseFinalizer{}}
	was := w.Issuer.Status
	nothing := was.Publication.Bucket == "" && len(was.Providers) == 0
	if w.Issuer.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete || nothing || olderRival(w) != nil {
		return dying(w, condition.No(ReasonDeleting, "nothing is removed outside the cluster"), release)
	}
	if block := deletionTrouble(w); block != nil {
		return dying(w, *block, nil)
	}
	removal := slices.Concat(providerRemoval(w), publicationRemoval(w))
	name := w.Issuer.Spec.Publication.S3.Bucket
	switch {
	case !isOurs(w):
		return dying(w, condition.No(ReasonDeleting, "what the issuer made is being removed"), append(removal, release...))
	case !releasesName(w):
		return dying(w, condition.No(ReasonDeleting, "what the issuer made is being removed; bucket %s stays, so that nobody else gets its name", name), append(removal, release...))
	case len(removal) > 0:
		return dying(w, condition.No(ReasonDeleting, "what the issuer made is being removed; the name of bucket %s is given up last, as releaseName says", name), removal)
	}
	return dying(w, condition.No(ReasonDeleting, "the name of bucket %s is being given up, as releaseName says", name),
		append([]Step{DeleteBucket{Identity: w.Caller.Identity, Bucket: bucketRef(w), Owner: w.Issuer.Spec.URL}}, release...))
}

// dying is a plan for an issuer that goes. The block is what DeletionBlocked
// says.
func dying(w World, block condition.Verdict, steps []Step) Plan {
	status := *w.Issuer.Status.DeepCopy()
	status.ObservedGeneration = w.Issuer.Generation
	status.Conditions = dyingVerdicts(block).conditions(w)
	plan := Plan{Steps: steps, Status: status, Again: LookAgain}
	if len(steps) > 0 {
		plan.Again = lookSoon
	}
	return plan
}

func dyingVerdicts(block condition.Verdict) verdicts {
	gone := condition.Unknown(ReasonDeleting, "the object is being deleted")
	v := verdicts{published: gone, keys: gone, provider: gone, ready: condition.No(ReasonDeleting, "the object is being deleted"), blocked: &block}
	if block.Reason != ReasonDeleting {
		v.ready = condition.No(block.Reason, "%s: %s", TypeDeletionBlocked, block.Message)
	}
	return v
}

// blocked turns what stands in the way into what DeletionBlocked says: True, or
// Unknown for what passes by itself.
func blocked(v condition.Verdict) *condition.Verdict {
	if v.Reason != ReasonAWSUnavailable {
		v.Status = metav1.ConditionTrue
	}
	return &v
}

// stays is the way out that is always open.
const stays = "; or set deletionPolicy to Retain, then all of it stays in AWS"

// deletionTrouble says what keeps a deletion from going on, nil for nothing.
func deletionTrouble(w World) *condition.Verdict {
	if w.Caller.Fault != nil {
		out := callerTrouble(w)
		if out.Reason == ReasonNotAuthenticated {
			out.Message = "AWS does not accept the operator's token (" + code(*w.Caller.Fault) + "), so nothing can be removed: tabard issuer bootstrap -f FILE, run with an AWS session of your own, finishes the deletion" + stays
		}
		return blocked(out)
	}
	for _, state := range w.Providers {
		if out := providerHolds(w, state); out != nil {
			return blocked(*out)
		}
	}
	return publicationHolds(w)
}

// providerHolds says why a provider keeps the issuer's name from being given up.
func providerHolds(w World, state ProviderState) *condition.Verdict {
	roles := trusting(w, state)
	var out condition.Verdict
	switch {
	case state.Fault != nil:
		out = providerFault(state, *state.Fault)
		out.Message = "account " + state.AccountID + ": " + out.Message + stays
	case len(roles) > 0:
		out = condition.No(ReasonProviderTrusted, "account %s: the trust policies of these roles mention %s: %s; change or delete them, then the deletion goes on within ten minutes (aws iam update-assume-role-policy, aws iam delete-role)"+stays, state.AccountID, state.ARN, strings.Join(roles, ", "))
	case !state.Exists:
		return nil
	case state.Owner != w.Issuer.Spec.URL && holdsName(w):
		out = condition.No(ReasonProviderNotOurs, "account %s: %s was not made by Tabard and is not deleted, but it believes whoever gets the name of bucket %s next: delete it first (aws iam delete-open-id-connect-provider --open-id-connect-provider-arn %s)"+stays, state.AccountID, state.ARN, w.Issuer.Spec.Publication.S3.Bucket, state.ARN)
	default:
		return nil
	}
	return &out
}

// publicationHolds says why the documents or the bucket cannot be removed.
func publicationHolds(w World) *condition.Verdict {
	s3, was := w.Issuer.Spec.Publication.S3, w.Issuer.Status.Publication.Bucket
	switch {
	case was == "":
		return nil
	case was != s3.Bucket && !wasRefused(w):
		out := condition.No(ReasonBucketChanged, "the documents are in bucket %s, the spec says %s: set %s again"+stays, was, s3.Bucket, was)
		return blocked(out)
	case w.Bucket.Fault != nil:
		out := bucketFault(w, *w.Bucket.Fault)
		if out.Reason == ReasonBucketNotYours {
			return nil // nothing of ours can be in it
		}
		out.Message += stays
		return blocked(out)
	case releasesName(w) && w.Bucket.Others:
		return blocked(bucketFull(s3.Bucket))
	}
	if foreign := foreignKeys(w); isOurPlace(w) && len(foreign) > 0 {
		out := condition.No(ReasonForeignKey, "the keys document holds %s, which this cluster never had, so somebody else may need it: take it out with tabard issuer bootstrap --drop-foreign-keys"+stays, keyNames(foreign))
		return blocked(out)
	}
	return nil
}

func foreignKeys(w World) []Key {
	r := ring{keys: w.Issuer.Status.Keys}
	return slices.DeleteFunc(publishedKeys(w.Bucket.Keys.Body), func(k Key) bool { return r.knows(k.ID) })
}

// isOurPlace says that the bucket may hold documents of this issuer: it is not
// another's and in the region that was written to.
func isOurPlace(w World) bool {
	s3, b := w.Issuer.Spec.Publication.S3, w.Bucket
	return w.Issuer.Status.Publication.Bucket == s3.Bucket && b.Fault == nil && b.Exists &&
		(b.Region == "" || b.Region == s3.Region) && (b.Owner == "" || b.Owner == w.Issuer.Spec.URL)
}

// providerRemoval deletes the providers of ours; nobody trusts them any more.
func providerRemoval(w World) []Step {
	var out []Step
	done := map[string]bool{}
	for _, state := range w.Providers {
		if state.Exists && state.Owner == w.Issuer.Spec.URL && !done[state.ARN] {
			done[state.ARN] = true
			out = append(out, DeleteProvider{Identity: state.Identity, ARN: state.ARN, Owner: w.Issuer.Spec.URL})
		}
	}
	return out
}

// publicationRemoval deletes the documents, discovery first, so that none leads
// to keys that are gone; then closes a bucket of ours.
func publicationRemoval(w World) []Step {
	if !isOurPlace(w) {
		return nil
	}
	var out []Step
	keys, discovery := DocumentKeys(w.Issuer.Spec.Publication.S3.Prefix)
	if w.Bucket.Discovery.Exists {
		out = append(out, DeleteDocument{Identity: w.Caller.Identity, Bucket: bucketRef(w), Key: discovery})
	}
	if w.Bucket.Keys.Exists {
		out = append(out, DeleteDocument{Identity: w.Caller.Identity, Bucket: bucketRef(w), Key: keys})
	}
	if !isOurs(w) {
		return out
	}
	policy, err := UnmergePolicy(w.Bucket.Policy, w.Issuer.Spec)
	if err == nil && !bytes.Equal([]byte(policy), w.Bucket.Policy) {
		out = append(out, PutBucketPolicy{Identity: w.Caller.Identity, Bucket: bucketRef(w), Policy: policy})
	}
	return append(out, closing(w)...)
}

// bucketFull says why a bucket's name cannot be given up.
func bucketFull(bucket string) condition.Verdict {
	return condition.No(ReasonBucketNotEmpty, "bucket %s holds objects, or versions of objects, that are not Tabard's, so its name cannot be given up: remove them, or set spec.publication.s3.releaseName to false, then the bucket stays", bucket)
}
