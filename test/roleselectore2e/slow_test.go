package roleselectore2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
)

// promise is how long a role is used at the most after it was taken away, as the page
// says; slack is for a machine that has more to do.
const (
	promise = 2 * time.Second
	slack   = time.Second
	latency = 4 * time.Second
)

// TestARoleThatIsTakenAwayEndsThePass: S3 is so slow that a pass takes many seconds. The
// journal says which calls came in after the Deny was stored.
func TestARoleThatIsTakenAwayEndsThePass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.start(gate).awaitReadiness(200)
	w.namespace("slow", nil, nil)
	role := w.aws.role(red, "slow")
	w.selects("slow", role, "slow")
	w.aws.Admin().Inject(awslocal.Fault{Service: "s3", Operation: "HeadBucket", Latency: latency, Count: 2})
	w.aws.Admin().Inject(awslocal.Fault{Service: "s3", Latency: latency})
	b := w.bucket("slow", "data")
	// The pass that makes the bucket follows the one that records what is intended: it
	// looks, makes, looks and tags. Its first look is the second of all.
	w.await(func() error {
		if left := w.aws.Admin().Faults(); len(left) > 1 {
			return errors.New("S3 has not been asked twice for the bucket")
		}
		return nil
	})
	w.create(&v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: "no-slow"}, Spec: &v1alpha1.IAMRoleSelectorSpec{
		Effect: v1alpha1.Deny, NamespaceSelector: &v1alpha1.NamespaceSelector{Names: []string{"slow"}},
	}})
	denied := w.aws.Admin().Now()
	w.awaitCondition(b, "ACK.Recoverable=True Denied")
	w.aws.Admin().ClearFaults()
	looks := 0
	for _, call := range w.aws.Admin().Journal() {
		if call.Operation == "HeadBucket" {
			looks++
		}
		late := call.Time.Sub(denied)
		if late > promise+slack && strings.Contains(call.Caller, ":assumed-role/slow/") {
			t.Errorf("%s came in %v after the role was denied", call.Operation, late.Round(time.Millisecond))
		}
	}
	if looks < 2 {
		t.Fatalf("S3 was asked %d times for the bucket: the role was denied before the pass began", looks)
	}
	if account := w.aws.accountOf(b.Spec.Name); account != "" {
		t.Errorf("the bucket was made in %s although its role was denied while nobody had made it", account)
	}
}
