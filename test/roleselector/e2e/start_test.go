package e2e

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

const gate = "--feature-gates=IAMRoleSelector=true"

// TestNothingIsCalledBeforeSelectorsAreKnown: a cluster without the kind of
// selectors, where the controller also says why it does not start beside others.
func TestNothingIsCalledBeforeSelectorsAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.refusals()

	p := w.start(gate, "--no-selector-policy=Deny")
	p.awaitReadiness(500)
	w.namespace("early", nil, nil)
	b := w.bucket("early", "data")
	w.awaitCondition(b, "ACK.Recoverable=True NotSynced")
	w.wantQuiet(b)
	if found := w.reread(b); len(found.Finalizers) > 0 || found.Status.ACKResourceMetadata != nil {
		t.Errorf("the Bucket has the finalizers %v and the record %v, want none", found.Finalizers, found.Status.ACKResourceMetadata)
	}

	w.InstallCRDs(t)
	p.awaitReadiness(200)
	w.awaitCondition(b, "ACK.Recoverable=True NoSelectorPolicy")
	w.wantQuiet(b)
	w.selects("early", w.aws.role(red, "early"), "early")
	w.awaitReady(b, red, "early")
	w.wantCallers(b, red+"/early")
}

// refusals: the controller does not start where it would do harm, or could not
// do anything.
func (w *world) refusals() {
	w.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	crd.SetName("buckets." + bucket.Kind.Group)
	seconds, holder := int32(60), "somebody"
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ack-system", Name: "ack-s3.services.k8s.aws"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &metav1.MicroTime{Time: time.Now()}},
	}
	nothing := func() {}
	for _, c := range []struct {
		what  string
		env   map[string]string
		flags []string
		before,
		after func()
		want string
	}{
		{what: "both ways to a role", flags: []string{gate, "--enable-carm=true"},
			want: "cannot enable feature gate 'IAMRoleSelector' when flag 'enable-carm' is set to true"},
		{what: "an unknown gate", flags: []string{"--feature-gates=RoleSelector=true"}, want: "RoleSelector=true"},
		{what: "no web identity", env: map[string]string{"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": ""}, flags: []string{gate},
			want: "roles are assumed from a web identity"},
		{what: "half a web identity", env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": ""}, flags: []string{gate},
			want: "AWS_WEB_IDENTITY_TOKEN_FILE is missing"},
		{what: "somebody else's kind", flags: []string{gate},
			before: func() { w.Merge(crd, `{"metadata":{"annotations":{"tabard.dev/served-by":null}}}`) },
			after:  func() { w.Merge(crd, `{"metadata":{"annotations":{"tabard.dev/served-by":"bucket-controller"}}}`) },
			want:   "is not this controller's"},
		{what: "ACK's own controller", flags: []string{gate},
			before: func() { w.Make(lease) }, after: func() { w.Remove(lease) },
			want: "ACK's S3 controller runs: it holds the lease ack-system/ack-s3.services.k8s.aws"},
	} {
		if c.before == nil {
			c.before, c.after = nothing, nothing
		}
		c.before()
		if said := w.refusal(c.env, c.flags...); !strings.Contains(said, c.want) {
			w.Errorf("%s: the controller says\n%s\nwant %q", c.what, said, c.want)
		}
		c.after()
	}
}
