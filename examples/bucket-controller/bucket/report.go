package bucket

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/roleselector/kube"
)

// Report is the status after a pass. It is equal to the one before unless
// something that matters has changed.
func Report(o Observed, plan Plan) Status {
	if plan.Again {
		return Status{ACKResourceMetadata: metadata(o, plan.Record), Conditions: o.Bucket.Status.Conditions}
	}
	want := conditions(o, plan)
	for i := range want {
		want[i].ObservedGeneration = o.Bucket.Generation
	}
	have := slices.DeleteFunc(slices.Clone(o.Bucket.Status.Conditions), func(c metav1.Condition) bool {
		return meta.FindStatusCondition(want, c.Type) == nil && isOver(c.Type)
	})
	return Status{
		ACKResourceMetadata: metadata(o, plan.Record),
		Conditions:          kube.Merge(have, want, metav1.NewTime(o.Now.Truncate(time.Second))),
	}
}

// isOver says that a condition which is not wanted does not hold any longer.
func isOver(kind string) bool {
	return slices.Contains([]string{kube.ConditionRecoverable, Terminal, Advisory, kube.ConditionSelected}, kind)
}

// metadata is the record after a pass.
func metadata(o Observed, record Record) *ResourceMetadata {
	before := o.Bucket.Status.ACKResourceMetadata
	switch record {
	case KeepRecord:
		return before
	case Forsake:
		return nil
	}
	s := o.Standing
	after := &ResourceMetadata{OwnerAccountID: s.Account, Region: s.Identity.Region, Partition: s.Partition}
	if record == Confirm {
		after.ARN = fmt.Sprintf("arn:%s:s3:::%s", s.Partition, o.Bucket.Spec.Name)
	}
	if used := s.Course.Selector; used.Name != "" {
		after.IAMRoleSelector = &UsedSelector{
			SelectorName: used.Name, ResourceVersion: used.ResourceVersion, UID: used.UID, Generation: used.Generation,
			RoleARN: used.ARN, DecidedBy: string(s.Decision.DecidedBy),
		}
		if before != nil {
			after.IAMRoleSelector.keep(before.IAMRoleSelector)
		}
	}
	return after
}

// keep takes over the resource version of what is the same selector, saying the
// same: its labels and annotations are no reason to write.
func (u *UsedSelector) keep(before *UsedSelector) {
	if before != nil && u.UID == before.UID && u.Generation == before.Generation {
		u.ResourceVersion = before.ResourceVersion
	}
}

// conditions are all that hold. What the choice of the role has to say comes from
// roleselector/kube, and is all there is to say where it stands against any call.
func conditions(o Observed, plan Plan) []metav1.Condition {
	want := kube.Conditions(o.Standing.Decision, o.Standing.Course)
	if o.Standing.CARM {
		want = slices.DeleteFunc(want, func(c metav1.Condition) bool { return c.Type == kube.ConditionSelected })
	}
	add := func(kind string, status metav1.ConditionStatus, reason, message string) {
		want = append(want, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
	}
	if o.Advice != nil {
		add(Advisory, metav1.ConditionTrue, "CredentialsNotRenewed", o.Advice.FirstLine())
	}
	switch trouble := plan.Trouble; {
	case o.Standing.isBlocked():
	case trouble == nil:
		add(kube.ConditionSynced, metav1.ConditionTrue, "Synced", "The bucket is as it is wanted.")
		add(kube.ConditionReady, metav1.ConditionTrue, "Synced", "The bucket is as it is wanted.")
	case trouble.Condition == kube.ConditionSynced:
		add(kube.ConditionSynced, metav1.ConditionFalse, trouble.Reason, trouble.Message)
		add(kube.ConditionReady, metav1.ConditionFalse, kube.ConditionSynced, trouble.Message)
	default:
		add(trouble.Condition, metav1.ConditionTrue, trouble.Reason, trouble.Message)
		add(kube.ConditionSynced, metav1.ConditionUnknown, trouble.Reason, trouble.Message)
		add(kube.ConditionReady, metav1.ConditionFalse, trouble.Condition, trouble.Message)
	}
	return want
}
