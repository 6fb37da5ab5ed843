package credentials

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
)

// ActorUnknown is of a request of which it is not known who fulfils it.
const ActorUnknown Actor = "Unknown"

// ownActing says who fulfils a request for a person who may not read grants, and mostly not
// what the cluster is either: then by the finalizer, which who fulfils it puts on it.
func ownActing(w World) Acting {
	asked := AskedOf(w)
	asked.Adopted = slices.Contains(w.Request.Finalizers, Finalizer)
	switch {
	case w.Platform.Known() && !w.Platform.Operator.Unseen:
		return Act(asked)
	case asked.Adopted:
		return Acting{Actor: ActorTabard, Text: "the request has Tabard's finalizer, " + Finalizer}
	case asked.CCOFinalizer:
		return Acting{Actor: ActorCCO, Text: "the request has the finalizer of a Cloud Credential Operator, " + cloudv1.Finalizer}
	}
	return Acting{Actor: ActorUnknown, Text: "the request has no finalizer that says it, and you may not read what the cluster is"}
}

// OwnRow is RowOf by the request's status, which Tabard writes in the form of the Cloud
// Credential Operator.
func OwnRow(w World) Row {
	acting, status := ownActing(w), w.Request.Status
	out := startOf(w, acting)
	if acting.Actor == ActorTabard && out.RoleARN == "" {
		out.Role = roleName(status)
	}
	kind, message := failure(status)
	switch {
	case !w.Request.DeletionTimestamp.IsZero():
		out.State = RowDeleting
		if kind == cloudv1.CredentialsDeprovisionFailure {
			out.Reason, out.Message = string(kind), message
		}
	case acting.Reason == ReasonIgnored:
		out.State, out.Reason, out.Message = RowIgnored, string(acting.Reason), acting.Text
	case kind == cloudv1.Ignored:
		out.State, out.Reason, out.Message = RowIgnored, string(kind), message
	case acting.Actor == ActorCCO:
		out.operator(status)
	case acting.Actor == ActorNobody:
		out.State, out.Reason, out.Message = RowWaiting, string(acting.Reason), acting.Text
	default:
		out.ownProgress(w.Request)
	}
	return out
}

// ownProgress is how far a request is by its own status.
func (r *Row) ownProgress(request *cloudv1.CredentialsRequest) {
	status := request.Status
	kind, message := failure(status)
	r.State = RowWaiting
	switch {
	case status.LastSyncGeneration == 0:
		r.Reason, r.Message = rowNotLookedAt, "no controller has looked at it: ask an administrator whether tabard-credentials runs"
	case status.LastSyncGeneration != request.Generation:
		r.Reason = rowChanged
		r.Message = "the controller has not looked at it since it was changed; before: " + cmp.Or(message, fmt.Sprintf("provisioned is %t", status.Provisioned))
	case status.Provisioned:
		r.State = RowReady
	default:
		r.Reason, r.Message = string(kind), cmp.Or(message, "the controller is at work on it")
	}
}

// failure is the condition that is True, and what it says.
func failure(status cloudv1.CredentialsRequestStatus) (kind cloudv1.ConditionType, message string) {
	for _, c := range status.Conditions {
		if c.Status == metav1.ConditionTrue {
			kind, message = c.Type, c.Message
		}
	}
	return kind, message
}

// roleName is the role that was made, without account and path, which the status does not have.
func roleName(status cloudv1.CredentialsRequestStatus) string {
	var made cloudv1.AWSProviderStatus
	if status.ProviderStatus == nil || json.Unmarshal(status.ProviderStatus.Raw, &made) != nil {
		return ""
	}
	return made.User
}
