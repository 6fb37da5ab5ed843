package issuer_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// going is the conditions of a dying issuer.
func going(ready, blocked string) []string {
	return []string{"IssuerPublished Unknown Deleting", "KeysInSync Unknown Deleting", "ProviderReady Unknown Deleting", "Ready False " + ready, "DeletionBlocked " + blocked}
}

func dying(change func(*model, *issuer.World)) func(*model, *issuer.World) {
	return func(m *model, w *issuer.World) {
		m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
		*w = m.observe()
		change(m, w)
	}
}

func TestDecideOnDeletion(t *testing.T) {
	unblocked := going("Deleting", "False Deleting")
	all := []string{
		"DeleteProvider", "DeleteProvider", "DeleteDocument .well-known/openid-configuration", "DeleteDocument keys.json",
		"PutBucketPolicy", "DeleteBucket", "ReleaseFinalizer",
	}
	release := []string{"ReleaseFinalizer"}
	runDecisions(t, map[string]decision{
		"all of ours goes, in order": {dying(func(*model, *issuer.World) {}), all, unblocked, ""},
		"nothing goes where all is retained": {dying(func(_ *model, w *issuer.World) {
			*w = issuer.World{Issuer: w.Issuer, Now: w.Now}
			w.Issuer.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain
		}), release, unblocked, "nothing is removed outside"},
		"an issuer that made nothing goes though AWS is out of reach": {dying(func(_ *model, w *issuer.World) {
			w.Caller = issuer.Caller{Fault: &fault.Fault{Class: fault.Unauthenticated}}
			w.Issuer.Status = v1alpha1.OIDCIssuerStatus{}
		}), release, unblocked, ""},
		"a refused rival takes nothing of the older one along": {dying(func(_ *model, w *issuer.World) {
			older := testIssuer()
			older.Name, older.CreationTimestamp = "older", metav1.Time{}
			w.Rivals = []v1alpha1.OIDCIssuer{*older}
		}), release, unblocked, ""},
		"roles that trust the provider are named": {dying(func(_ *model, w *issuer.World) { w.Providers[1].TrustedBy = []string{"b", "a"} }),
			nil, going("ProviderTrusted", "True ProviderTrusted"), ": a, b; change or delete them"},
		"the operator's own role does not count": {dying(func(_ *model, w *issuer.World) { w.Providers[0].TrustedBy = []string{"tabard-issuer-demo"} }), all, unblocked, ""},
		"a role of that name in another account counts": {dying(func(_ *model, w *issuer.World) { w.Providers[1].TrustedBy = []string{"tabard-issuer-demo"} }),
			nil, going("ProviderTrusted", "True ProviderTrusted"), "tabard-issuer-demo"},
		"a provider of others keeps the bucket's name": {dying(func(_ *model, w *issuer.World) { w.Providers[1].Owner = "" }),
			nil, going("ProviderNotOurs", "True ProviderNotOurs"), "aws iam delete-open-id-connect-provider"},
		"with a bucket of others it stays and all of ours goes": {dying(func(_ *model, w *issuer.World) { w.Providers[1].Owner, w.Bucket.Owner = "", "" }),
			[]string{"DeleteProvider", "DeleteDocument .well-known/openid-configuration", "DeleteDocument keys.json", "ReleaseFinalizer"}, unblocked, ""},
		"an account out of reach holds the deletion": {dying(func(_ *model, w *issuer.World) {
			w.Providers[1].Fault = &fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "ListRoles"}
		}), nil, going("AccessDenied", "True AccessDenied"), "iam:ListRoles is lacking"},
		"nobody in AWS says how to go on": {dying(func(_ *model, w *issuer.World) {
			w.Caller = issuer.Caller{Fault: &fault.Fault{Class: fault.Unauthenticated, Service: "STS", Operation: "AssumeRoleWithWebIdentity"}}
		}), nil, going("NotAuthenticated", "True NotAuthenticated"), "restores its access; or set deletionPolicy to Retain"},
		"throttling holds it for a while": {dying(func(_ *model, w *issuer.World) {
			w.Bucket = issuer.Bucket{Fault: &fault.Fault{Class: fault.Throttled, Service: "S3", Operation: "HeadBucket"}}
		}), nil, going("AWSUnavailable", "Unknown AWSUnavailable"), ""},
		"a key of others in the document holds it": {dying(func(_ *model, w *issuer.World) { w.Bucket.Keys.Body = keySet(0, foreignPair) }),
			nil, going("ForeignKey", "True ForeignKey"), pairs[foreignPair].ID},
		"a bucket of another issuer is left alone": {dying(func(_ *model, w *issuer.World) { w.Bucket.Owner = "https://other.example.org" }),
			[]string{"DeleteProvider", "DeleteProvider", "ReleaseFinalizer"}, unblocked, ""},
		"a bucket that somebody else has by now too": {dying(func(_ *model, w *issuer.World) { w.Bucket = issuer.Bucket{Fault: &fault.Fault{Class: fault.Exists}} }),
			[]string{"DeleteProvider", "DeleteProvider", "ReleaseFinalizer"}, unblocked, ""},
		"another bucket in the spec than in status": {dying(func(_ *model, w *issuer.World) { w.Issuer.Spec.Publication.S3.Bucket = "moved" }),
			nil, going("BucketChanged", "True BucketChanged"), "set tabard-demo again"},
		"statements of others stay in a bucket that stays": {dying(func(_ *model, w *issuer.World) {
			w.Issuer.Status.Conditions = append(w.Issuer.Status.Conditions, metav1.Condition{Type: issuer.TypeDeletionBlocked, Status: "True", Reason: "BucketNotEmpty"})
		}), append(append([]string{}, all[:5]...), "ReleaseFinalizer"), unblocked, ""},
	})
}

func TestADeadIssuerIsLeftAlone(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.stored.DeletionTimestamp, m.stored.Finalizers = &metav1.Time{Time: m.now}, nil
	if plan := issuer.Decide(m.observe()); len(plan.Steps) > 0 {
		t.Errorf("steps are %v, want none", kinds(plan.Steps))
	}
}

func TestABucketWithThingsOfOthersStays(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.bucket.objects["theirs"] = issuer.Document{Exists: true}
	m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
	m.pass(t, quiet)
	want := going("BucketNotEmpty", "True BucketNotEmpty")
	if diff := cmp.Diff(want, lines(m.stored.Status.Conditions)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	m.pass(t, quiet)
	if len(m.stored.Finalizers) > 0 || m.bucket == nil || len(m.bucket.objects) != 1 || m.bucket.policy != "" {
		t.Errorf("finalizers %v, bucket %+v, want a free object and a closed bucket with theirs", m.stored.Finalizers, m.bucket)
	}
}
