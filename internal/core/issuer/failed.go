package issuer

import (
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// bucketNotEmpty is S3's code for a bucket that still holds objects.
const bucketNotEmpty = "BucketNotEmpty"

// Failed is the status to write after a step of the plan has failed: that of the
// plan, with the condition of the step's link telling why. What another writer
// changed in between needs no telling: the next look sees it.
func Failed(plan Plan, step Step, f fault.Fault, w World) v1alpha1.OIDCIssuerStatus {
	status := *plan.Status.DeepCopy()
	if f.Class == fault.Changed {
		return status
	}
	v := verdictsOf(plan.Status)
	switch s := step.(type) {
	case CreateBucket, SetPublicAccess, PutDocument, PutBucketPolicy, DeleteDocument, SetTombstone, DeleteBucket:
		v.published = goneFromBucket(w, step, bucketFault(w, f))
	case CreateProvider:
		v.provider = stepVerdict(w, step, s.Identity.RoleARN(), s.ARN, f)
	case AddAudience:
		v.provider = stepVerdict(w, step, s.Identity.RoleARN(), s.ARN, f)
	case RemoveAudience:
		v.provider = stepVerdict(w, step, s.Identity.RoleARN(), s.ARN, f)
	case DeleteProvider:
		v.provider = stepVerdict(w, step, s.Identity.RoleARN(), s.ARN, f)
	default:
		return status
	}
	if v.blocked != nil {
		v = dyingVerdicts(deletionFault(step, v, f))
	} else {
		v.ready = readiness(w, v)
		v.ready.Message += aside(plan.Status.Keys)
	}
	status.Conditions = v.conditions(w)
	return status
}

func stepVerdict(w World, step Step, role, arn string, f fault.Fault) condition.Verdict {
	state := ProviderState{ARN: arn}
	state.Identity = state.Identity.Assuming(role)
	out := providerFault(state, f)
	if creation, is := step.(CreateProvider); is {
		out = goneProvider(w, creation, out)
	}
	out.Message = "account " + accountOfStep(w, role) + ": " + out.Message
	return out
}

func accountOfStep(w World, role string) string {
	if role == "" {
		return w.Caller.AccountID
	}
	return arnAccount(role)
}

// deletionFault is what DeletionBlocked says after a failed step.
func deletionFault(step Step, v verdicts, f fault.Fault) condition.Verdict {
	if s, is := step.(DeleteBucket); is && f.Code == bucketNotEmpty {
		return *blocked(bucketFull(s.Bucket.Name))
	}
	out := v.published
	switch step.(type) {
	case CreateProvider, AddAudience, RemoveAudience, DeleteProvider:
		out = v.provider
	}
	out.Message += stays
	return *blocked(out)
}
