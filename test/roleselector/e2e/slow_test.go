package e2e

import (
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
)

const (
	// promise is how long a role is used at the most after it was taken away, as the
	// page says; slack is for a machine that has more to do.
	promise = 2 * time.Second
	slack   = 5 * time.Second
	// latency is more than both: without the guard a pass goes on with calls that are so
	// far from each other.
	latency = 8 * time.Second
)

// endsAPass: S3 is so slow that a pass takes many seconds. The journal says which calls
// came in after the Deny was stored: the next of the pass may be on its way, and no other.
func (w *world) endsAPass() {
	w.namespace("slow", nil, nil)
	role := w.aws.role(red, "slow")
	w.selects("slow", role, "slow")
	w.aws.Admin().Inject(awslocal.Fault{Service: "s3", Operation: "HeadBucket", Latency: time.Millisecond, Count: 2}) // which counts them
	w.aws.Admin().Inject(awslocal.Fault{Service: "s3", Latency: latency})
	b := w.bucket("slow", "data")
	// The pass that makes the bucket follows the one that records what is intended: it
	// looks, makes, looks and tags. Its first look is the second of all.
	w.Await(func() error {
		if left := w.aws.Admin().Faults(); len(left) > 1 {
			return errors.New("S3 has not been asked twice for the bucket")
		}
		return nil
	})
	w.Make(&v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: "no-slow"}, Spec: &v1alpha1.IAMRoleSelectorSpec{
		Effect: v1alpha1.Deny, NamespaceSelector: &v1alpha1.NamespaceSelector{Names: []string{"slow"}},
	}})
	denied := w.aws.Admin().Now()
	w.awaitCondition(b, "ACK.Recoverable=True Denied")
	w.aws.Admin().ClearFaults()
	looks := 0
	for _, call := range w.aws.Admin().Journal() {
		if call.Operation == "HeadBucket" && strings.HasSuffix(call.Resource, ":::"+b.Spec.Name) {
			looks++
		}
		late := call.Time.Sub(denied)
		if late > promise+slack && strings.Contains(call.Caller, ":assumed-role/slow/") {
			w.Errorf("%s came in %v after the role was denied", call.Operation, late.Round(time.Millisecond))
		}
	}
	if looks < 2 {
		w.Fatalf("S3 was asked %d times for the bucket: the role was denied before the pass began", looks)
	}
	if account := w.aws.accountOf(b.Spec.Name); account != "" {
		w.Errorf("the bucket was made in %s although its role was denied while nobody had made it", account)
	}
}
