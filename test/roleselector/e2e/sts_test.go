package e2e

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// refused: STS says no for a while. That is told, nothing is recorded of it, and STS
// is not asked for each Bucket. A change of the selector asks anew at once; the rest
// recovers by itself, which the function that is returned waits for.
func (w *world) refused() (recovery func(*world)) {
	w.namespace("refused", nil, nil)
	w.namespace("patient", nil, nil)
	role, patience := w.aws.role(red, "refused"), w.aws.role(green, "patient")
	w.aws.trusts(red, "refused", false)
	w.aws.trusts(green, "patient", false)
	w.aws.Admin().ClearJournal()
	selector := w.selects("refused", role, "refused")
	w.selects("patient", patience, "patient")
	var made []*bucket.Bucket
	for i := range 10 {
		made = append(made, w.bucket("refused", fmt.Sprintf("data-%d", i)))
	}
	waiting := w.bucket("patient", "data")
	for _, b := range append(made, waiting) {
		found := w.awaitCondition(b, "ACK.Recoverable=True AssumeRoleFailed: STS AssumeRole: AccessDenied")
		if found.Status.ACKResourceMetadata != nil {
			w.Errorf("a refused role is recorded: %+v", found.Status.ACKResourceMetadata)
		}
	}
	for _, b := range made {
		w.Merge(b, `{"metadata":{"labels":{"touched":"yes"}}}`)
	}
	// A refusal is remembered for half a minute at least; a slow machine may need
	// more than one of those for so many passes.
	if times := w.aws.assumed(role); times < 1 || times > 3 {
		w.Errorf("the role was asked for %d times by %d Buckets, want about once", times, len(made))
	}
	w.aws.trusts(red, "refused", true)
	w.aws.trusts(green, "patient", true)
	w.Merge(selector, `{"spec":{"namespaceSelector":{"names":["refused","nowhere"]}}}`)
	for _, b := range made {
		w.awaitReady(b, red, "refused")
	}
	return func(w *world) {
		w.awaitReady(waiting, green, "patient")
		w.wantEvents(waiting, corev1.EventTypeWarning+" AssumeRoleFailed", 1)
	}
}
