package credentials

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// failures are the condition types that say that a request fails, with their reasons if
// it does and if it no longer does.
var failures = []struct {
	kind    cloudv1.ConditionType
	yes, no string
}{
	{cloudv1.InsufficientCloudCredentials, "CloudCredsInsufficient", "CloudCredsSufficient"},
	{cloudv1.MissingTargetNamespace, "NamespaceMissing", "NamespaceExists"},
	{cloudv1.CredentialsProvisionFailure, "CredentialsProvisionFailure", "CredentialsProvisionSuccess"},
	{cloudv1.CredentialsDeprovisionFailure, "CloudCredDeprovisionFailure", "CloudCredDeprovisionSuccess"},
}

// project is the request's status in the form of the Cloud Credential Operator, made of
// what the grant says. What that operator wrote of other things stays.
func project(w World, grant v1alpha1.CredentialsGrantStatus, v verdicts) *cloudv1.CredentialsRequestStatus {
	out := w.Request.Status.DeepCopy()
	ready := v.ready()
	provisioned := ready.IsTrue() || ready.Status == metav1.ConditionUnknown && out.Provisioned
	if provisioned && (!out.Provisioned || out.LastSyncGeneration != w.Request.Generation || out.LastSyncTimestamp == nil) {
		now := condition.Instant(w.Now)
		out.LastSyncTimestamp = &now
	}
	out.Provisioned, out.LastSyncGeneration = provisioned, w.Request.Generation
	if grant.Role != nil {
		out.ProviderStatus = providerStatus(out.ProviderStatus, *grant.Role)
	}
	// A target that cannot be read mostly waits for a right, and not for time: somebody has to
	// be told, of that and no longer of what was wrong before.
	if ready.Status != metav1.ConditionUnknown || !provisioned && ready.Reason == ReasonTargetUnreadable {
		fail(out, failureOf(ready), ready.Message, w)
	}
	return out
}

// failureOf is the condition type that tells of what Ready says; empty for none, as for
// what is being made.
func failureOf(ready condition.Verdict) cloudv1.ConditionType {
	switch ready.Reason {
	case ReasonTargetNamespaceMissing:
		return cloudv1.MissingTargetNamespace
	case ReasonNotAuthenticated, ReasonAccessDenied:
		return cloudv1.InsufficientCloudCredentials
	}
	if ready.IsTrue() || IsUnderWay(ready.Reason) {
		return ""
	}
	return cloudv1.CredentialsProvisionFailure
}

// fail makes one failure condition True, and the others False where they are.
func fail(status *cloudv1.CredentialsRequestStatus, kind cloudv1.ConditionType, message string, w World) {
	for _, f := range failures {
		switch {
		case f.kind != kind:
			set(status, f.kind, false, f.no, "", w)
		case kind == cloudv1.CredentialsProvisionFailure:
			set(status, f.kind, true, f.yes, "failed to grant creds: "+message, w)
		default:
			set(status, f.kind, true, f.yes, message, w)
		}
	}
}

// set sets a condition by the rules of the Cloud Credential Operator: one is added only
// when it becomes True, the transition's time moves when the status does, and the
// probe's when a text does. A condition that is False already stays as it is.
func set(status *cloudv1.CredentialsRequestStatus, kind cloudv1.ConditionType, is bool, reason, message string, w World) {
	now := condition.Instant(w.Now)
	want := metav1.ConditionFalse
	if is {
		want = metav1.ConditionTrue
	}
	at := slices.IndexFunc(status.Conditions, func(c cloudv1.CredentialsRequestCondition) bool { return c.Type == kind })
	if at < 0 {
		if is {
			status.Conditions = append(status.Conditions, cloudv1.CredentialsRequestCondition{
				Type: kind, Status: want, LastProbeTime: now, LastTransitionTime: now, Reason: reason, Message: message,
			})
		}
		return
	}
	have := &status.Conditions[at]
	if have.Status == want && (!is || have.Reason == reason && have.Message == message) {
		return
	}
	if have.Status != want {
		have.LastTransitionTime = now
	}
	have.Status, have.LastProbeTime, have.Reason, have.Message = want, now, reason, message
}

// ignored is the status of a request for another cloud.
func ignored(w World, why string) *cloudv1.CredentialsRequestStatus {
	out := w.Request.Status.DeepCopy()
	out.LastSyncGeneration = w.Request.Generation
	set(out, cloudv1.Ignored, true, "InfrastructureMismatch", why, w)
	fail(out, "", "", w)
	return out
}

// projectDying is the status of a request that is deleted.
func projectDying(w World, block condition.Verdict) *cloudv1.CredentialsRequestStatus {
	out := w.Request.Status.DeepCopy()
	switch {
	case block.IsTrue():
		set(out, cloudv1.CredentialsDeprovisionFailure, true, "CloudCredDeprovisionFailure", block.Message, w)
	case block.Reason == ReasonDeleting:
		set(out, cloudv1.CredentialsDeprovisionFailure, false, "CloudCredDeprovisionSuccess", "", w)
	}
	return out
}

// providerStatus names the role and its policy. One that says so already stays as it is,
// to the byte.
func providerStatus(have *runtime.RawExtension, role v1alpha1.GrantedRole) *runtime.RawExtension {
	want := cloudv1.AWSProviderStatus{User: role.Name, Policy: role.PolicyName}
	want.APIVersion, want.Kind = cloudv1.GroupVersion.String(), "AWSProviderStatus"
	var was cloudv1.AWSProviderStatus
	if have != nil && json.Unmarshal(have.Raw, &was) == nil && was == want {
		return have
	}
	return &runtime.RawExtension{Raw: []byte(Encoded(want))}
}
