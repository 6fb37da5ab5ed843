package installing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
)

// Written is what was done.
type Written struct {
	// Made are the objects that were made, also where a later one failed.
	Made []*unstructured.Unstructured
	// Overridden says that a risk was taken, and that an Event tells of it unless there is an Untold.
	Overridden bool
	// Untold says why no Event tells of it; nil where one does, or none is needed. Without the right to
	// write Events the change is made all the same.
	Untold error
}

// The reasons of Events.
const (
	permissionsApproved   = "PermissionsApproved"
	permissionsOverridden = "PermissionsOverridden"
)

// Approve approves a plan as it was judged, if the person may, and tells of it by an Event. The verdict
// is noted on the plan, as judged at a time.
//
// A plan that somebody changed since it was judged is read and judged anew, and approved if it came to
// the same: the controller "operators" may have noted a verdict on it.
func (p Planner) Approve(ctx context.Context, w Waiting, going Going, at time.Time) (Written, error) {
	if err := permitted(ctx, p.Client, olm.Approves(w.Namespace)); err != nil {
		return Written{}, err
	}
	if err := going.sure(); err != nil {
		return Written{}, err
	}
	judged, digest := operator.Sum(w.Judged)
	checked := operator.Checked{Verdict: going.Verdict, Digest: digest, At: at}.String()
	err := p.approve(ctx, w, checked)
	if errors.Is(err, olm.ErrChanged) {
		again, failed := p.Waiting(ctx, w.Namespace, w.Plan.Name)
		if failed != nil {
			return Written{}, failed
		}
		if w.IsAs(again) {
			err = p.approve(ctx, again, checked)
		}
	}
	if err != nil {
		return Written{}, fmt.Errorf("not approved: %w", err)
	}
	kind, reason, note := "Normal", permissionsApproved, fmt.Sprintf("approved with the verdict %s", judged)
	out := Written{Overridden: going.Verdict == operator.VerdictOverridden}
	if out.Overridden {
		kind, reason, note = "Warning", permissionsOverridden, noted(note, going.Reason)
	}
	out.Untold = p.Client.Record(ctx, olm.About{Kind: operator.KindPlan, Namespace: w.Namespace, Name: w.Plan.Name}, kind, reason, note)
	return out, nil
}

// approve approves the plan if the roles that it was judged by are those of now.
func (p Planner) approve(ctx context.Context, w Waiting, checked string) error {
	now, err := p.Client.List(ctx, w.Namespace)
	if err != nil {
		return err
	}
	if !w.Unchanged(now) {
		return errors.New("the role in a Subscription was changed in between: look again")
	}
	return p.Client.Approve(ctx, w.Namespace, w.Plan, checked)
}
