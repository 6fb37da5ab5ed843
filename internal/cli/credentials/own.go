package credentials

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// actorUnknown is of a request of which it is not known who fulfils it.
const actorUnknown core.Actor = "Unknown"

// leftOut tells a person who may not read the CredentialsGrants what is missing, and the
// right by which it is there. Without the error stream the command still has its output.
func (s *seen) leftOut(streams command.Streams) {
	if s.unread {
		_ = command.Write(streams.Err, "tabard: you may not read the CredentialsGrants, so this shows the requests' own status, which has less of reasons and roles. "+
			"The right that shows all: list credentialsgrants.identity.tabard.dev in the cluster\n")
	}
}

// row says what is known of a request: by its grant, or by itself to who may not read grants.
func (s *seen) row(w core.World) row {
	if s.unread {
		return ownRow(w)
	}
	return rowOf(w)
}

// ownActing says who fulfils a request for a person who may not read grants, and mostly not
// what the cluster is either: then by the finalizer, which who fulfils it puts on it.
func ownActing(w core.World) core.Acting {
	asked := core.AskedOf(w)
	asked.Adopted = slices.Contains(w.Request.Finalizers, core.Finalizer)
	switch {
	case w.Platform.Known() && !w.Platform.Operator.Unseen:
		return core.Act(asked)
	case asked.Adopted:
		return core.Acting{Actor: core.ActorTabard, Text: "the request has Tabard's finalizer, " + core.Finalizer}
	case asked.CCOFinalizer:
		return core.Acting{Actor: core.ActorCCO, Text: "the request has the finalizer of a Cloud Credential Operator, " + cloudv1.Finalizer}
	}
	return core.Acting{Actor: actorUnknown, Text: "the request has no finalizer that says it, and you may not read what the cluster is"}
}

// ownRow is rowOf by the request's status, which Tabard writes in the form of the Cloud
// Credential Operator.
func ownRow(w core.World) row {
	acting, status := ownActing(w), w.Request.Status
	out := startOf(w, acting)
	if acting.Actor == core.ActorTabard && out.RoleARN == "" {
		out.Role = roleName(status)
	}
	kind, message := failure(status)
	switch {
	case !w.Request.DeletionTimestamp.IsZero():
		out.State = deleting
		if kind == cloudv1.CredentialsDeprovisionFailure {
			out.Reason, out.Message = string(kind), message
		}
	case acting.Reason == core.ReasonIgnored:
		out.State, out.Reason, out.Message = ignored, string(acting.Reason), acting.Text
	case kind == cloudv1.Ignored:
		out.State, out.Reason, out.Message = ignored, string(kind), message
	case acting.Actor == core.ActorCCO:
		out.operator(status)
	case acting.Actor == core.ActorNobody:
		out.State, out.Reason, out.Message = waiting, string(acting.Reason), acting.Text
	default:
		out.ownProgress(w.Request)
	}
	return out
}

// ownProgress is how far a request is by its own status.
func (r *row) ownProgress(request *cloudv1.CredentialsRequest) {
	status := request.Status
	kind, message := failure(status)
	r.State = waiting
	switch {
	case status.LastSyncGeneration == 0:
		r.Reason, r.Message = reasonNotLookedAt, "no controller has looked at it: ask an administrator whether tabard-credentials runs"
	case status.LastSyncGeneration != request.Generation:
		r.Reason = reasonChanged
		r.Message = "the controller has not looked at it since it was changed; before: " + cmp.Or(message, fmt.Sprintf("provisioned is %t", status.Provisioned))
	case status.Provisioned:
		r.State = ready
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

// ownConditions are those of the request, in the form of newer kinds.
func ownConditions(request *cloudv1.CredentialsRequest) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range request.Status.Conditions {
		out = append(out, metav1.Condition{
			Type: string(c.Type), Status: c.Status, ObservedGeneration: request.Status.LastSyncGeneration,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}
