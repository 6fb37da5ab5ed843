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
		*w = m.Observe()
		change(m, w)
	}
}

func TestDecideOnDeletion(t *testing.T) {
	unblocked := going("Deleting", "False Deleting")
	all := []string{
		"DeleteProvider", "DeleteProvider", "DeleteDocument .well-known/openid-configuration", "DeleteDocument keys.json",
		"PutBucketPolicy", "SetPublicAccess", "SetTombstone", "ReleaseFinalizer",
	}
	removal := all[:7]
	given := func(change func(*model, *issuer.World)) func(*model, *issuer.World) {
		return dying(func(m *model, w *issuer.World) {
			w.Issuer.Spec.Publication.S3.ReleaseName = true
			change(m, w)
		})
	}
	gone := func(w *issuer.World) {
		w.Providers[0].Exists, w.Providers[1].Exists = false, false
		w.Bucket.Keys, w.Bucket.Discovery, w.Bucket.Policy = issuer.Document{}, issuer.Document{}, nil
		w.Bucket.Access, w.Bucket.Tombstone = newBucket().access, true
	}
	release := []string{"ReleaseFinalizer"}
	runDecisions(t, map[string]decision{
		"all of ours goes, in order, and the bucket stays":         {dying(func(*model, *issuer.World) {}), all, unblocked, "bucket tabard-demo stays, so that nobody else gets its name"},
		"a name is not given up by the pass that removes the rest": {given(func(*model, *issuer.World) {}), removal, unblocked, "is given up last"},
		"it is by one that sees the rest gone":                     {given(func(_ *model, w *issuer.World) { gone(w) }), []string{"DeleteBucket", "ReleaseFinalizer"}, unblocked, "is being given up"},
		"nor while a role waits for a provider to be made again": {given(func(_ *model, w *issuer.World) {
			gone(w)
			w.Providers[0].TrustedBy = []string{"app"}
		}), nil, going("ProviderTrusted", "True ProviderTrusted"), ": app; change or delete them"},
		"nor while another issuer waits for it": {given(func(_ *model, w *issuer.World) {
			younger := testIssuer()
			younger.Name, younger.CreationTimestamp = "younger", metav1.NewTime(testTime)
			w.Rivals = []v1alpha1.OIDCIssuer{*younger}
			gone(w)
		}), release, unblocked, "bucket tabard-demo stays"},
		"nor of a bucket with things of others": {given(func(_ *model, w *issuer.World) { w.Bucket.Others = true }),
			nil, going("BucketNotEmpty", "True BucketNotEmpty"), "set spec.publication.s3.releaseName to false"},
		"nor of a bucket that is not ours, whatever status says": {given(func(_ *model, w *issuer.World) {
			gone(w)
			w.Bucket.Owner, w.Issuer.Status.Publication.Created = "", true
		}), release, unblocked, ""},
		"a bucket with things of others stays open": {dying(func(_ *model, w *issuer.World) { w.Bucket.Others = true }),
			append(append([]string{}, all[:5]...), "ReleaseFinalizer"), unblocked, ""},
		"what is closed already is not closed again": {dying(func(_ *model, w *issuer.World) { gone(w) }), release, unblocked, ""},
		"a provider of others keeps the name of a bucket that is gone too": {dying(func(_ *model, w *issuer.World) {
			w.Bucket = issuer.Bucket{}
			w.Providers[0].Owner = ""
		}), nil, going("ProviderNotOurs", "True ProviderNotOurs"), "believes whoever gets the name of bucket tabard-demo next"},
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
		"nor does it where a person looks": {dying(func(_ *model, w *issuer.World) {
			w.Caller.ARN = "arn:aws:iam::" + testAccount + ":user/administrator"
			w.Providers[0].TrustedBy = []string{issuer.RoleName("demo", testURL)}
		}), all, unblocked, ""},
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
		}), nil, going("NotAuthenticated", "True NotAuthenticated"), "finishes the deletion; or set deletionPolicy to Retain"},
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
	})
}

func TestADeadIssuerIsLeftAlone(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.stored.DeletionTimestamp, m.stored.Finalizers = &metav1.Time{Time: m.now}, nil
	if plan := issuer.Decide(m.Observe()); len(plan.Steps) > 0 {
		t.Errorf("steps are %v, want none", kinds(plan.Steps))
	}
}

func TestTheOwnAccountIsLookedAtWhateverTheObjectSays(t *testing.T) {
	own, other := issuer.ProviderARN("aws", testAccount, testURL), issuer.ProviderARN("aws", "444455556666", testURL)
	forged := v1alpha1.ProviderStatus{AccountID: testAccount, ARN: "arn:aws:iam::" + testAccount + ":oidc-provider/theirs"}
	elsewhere := v1alpha1.ProviderStatus{AccountID: "444455556666", ARN: other}
	tests := map[string]struct {
		status []v1alpha1.ProviderStatus
		living bool
		want   []string
	}{
		"the object knows of none":                     {nil, false, []string{own}},
		"status has another ARN":                       {[]v1alpha1.ProviderStatus{forged}, false, []string{own}},
		"a living one is not registered where unasked": {nil, true, nil},
		"another account without a role cannot be asked": {[]v1alpha1.ProviderStatus{elsewhere}, false,
			[]string{other + " AnotherAccount", own}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			if !test.living {
				m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
			}
			m.stored.Spec.Providers, m.stored.Status.Providers = nil, test.status
			var got []string
			for _, target := range issuer.ProviderTargets(m.Observe()) {
				line := target.ARN
				if target.Fault != nil {
					line += " " + target.Fault.Code
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}
