package hubaccess

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// say is a plan that says one thing of the record.
func say(w World, v condition.Verdict, steps []Step, again time.Duration) Plan {
	return Plan{Steps: steps, Status: statusOf(w, v), Again: again}
}

func statusOf(w World, v condition.Verdict) v1alpha1.HubAccessStatus {
	out := *w.Record.Status.DeepCopy()
	out.Conditions = condition.List(out.Conditions, w.Record.Generation, w.Now, condition.Named{Type: TypeReady, Verdict: v})
	return out
}

// sayTrouble is a plan for a look that has failed.
func sayTrouble(w World, f fault.Fault, steps []Step) Plan {
	v := awsTrouble(f)
	again := waitAgain
	if v.Status == metav1.ConditionUnknown {
		again = retryAgain
	}
	return say(w, v, steps, again)
}

// awsTrouble explains a fault of AWS, in looking or in a step.
func awsTrouble(f fault.Fault) condition.Verdict {
	code := strings.TrimSpace(f.Service + " " + f.Operation + ": " + cmp.Or(f.Code, string(f.Class)))
	switch {
	case f.Passing():
		return condition.Unknown(ReasonAWSUnavailable, "AWS did not answer as expected (%s): it is tried again by itself", code)
	case f.Class == fault.Unauthenticated:
		return condition.No(ReasonNotAuthenticated, "AWS does not accept the credentials of Tabard (%s): repair the role of its ServiceAccount", code)
	case f.Class == fault.Denied:
		return condition.No(ReasonAccessDenied, "Tabard may not do what it has to (%s): give its role that right on roles ocm-hub-* and on the access entries of the hub", code)
	}
	return condition.No(ReasonAWSRefused, "AWS refused: %s", f.Error())
}

// The shortest and the longest time after which EKS is asked again whether it knows a new
// role.
const (
	firstRetry = 2 * time.Second
	lastRetry  = time.Minute
)

// Failed is the plan to report after a step of it has failed: with the condition telling
// why, and the time to look next.
func Failed(plan Plan, step Step, f fault.Fault, w World) Plan {
	if w.Record == nil || f.Class == fault.Changed {
		if plan.Again = retryAgain; f.Class == fault.Changed {
			plan.Again = lookSoon // somebody wrote in between
		}
		return plan
	}
	access := w.Record.Spec.Access
	v := awsTrouble(f)
	again := waitAgain
	if v.Status == metav1.ConditionUnknown {
		again = retryAgain
	}
	switch step.(type) {
	case CreateRole, SetTrust:
		switch {
		case f.Code == "MalformedPolicyDocument":
			v = condition.No(ReasonSpokeRoleMissing, "AWS knows no role %s in the account of %s, which the trust policy names; make it there, with its tags (%s)", hub.SpokeRoleName(access.Suffix), access.ManagedClusterARN, f.Message)
		case f.Class == fault.Exists:
			v = condition.No(ReasonRoleNotOurs, "the role %s is there and lacks Tabard's tags of this cluster; it is left as it is", access.RoleARN)
		}
	case CreateEntry, UpdateEntry, DeleteEntry:
		_, creates := step.(CreateEntry)
		switch {
		case creates && (f.Code == "InvalidParameterException" || f.Code == "InvalidParameter"):
			v, again = condition.Unknown(ReasonRoleNotYetEffective, "EKS does not know the role %s yet, which IAM has: it is tried again by itself", access.RoleARN), backoff(w)
		case f.Class == fault.Exists:
			v = condition.No(ReasonEntryNotOurs, "the access entry of %s is there and lacks Tabard's tags of this cluster; it is left as it is", access.RoleARN)
		}
	case DeleteRole:
		if f.Code == "DeleteConflict" {
			v = condition.No(ReasonRoleInUse, "others gave the role %s policies or an instance profile, which Tabard does not remove; take them off, then it is deleted (%s)", access.RoleARN, f.Message)
		}
	}
	plan.Status, plan.Again = statusOf(w, v), again
	return plan
}

// backoff doubles: it is as long as the condition has not been True.
func backoff(w World) time.Duration {
	for _, c := range w.Record.Status.Conditions {
		if c.Type == TypeReady && c.Reason == string(ReasonRoleNotYetEffective) {
			return min(max(w.Now.Sub(c.LastTransitionTime.Time), firstRetry), lastRetry)
		}
	}
	return firstRetry
}
