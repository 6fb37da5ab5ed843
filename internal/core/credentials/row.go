package credentials

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// RowState is how far a request is.
type RowState string

// The states of a request.
const (
	// RowReady: workloads have what was asked for.
	RowReady RowState = "Ready"
	// RowWaiting: somebody fulfils it, and it is not done. Reason says what is missing.
	RowWaiting RowState = "Waiting"
	// RowIgnored: nothing is to be done.
	RowIgnored RowState = "Ignored"
	// RowDeleting: it is on its way out.
	RowDeleting RowState = "Deleting"
)

// Reasons of a state that no condition tells.
const (
	rowNotLookedAt = "NotLookedAt"
	rowChanged     = "NotLookedAtSinceChange"
)

// Row is what people are told of a request: who fulfils it, how far it is, and what it waits for. Nothing
// is decided by it.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Target is what workloads find credentials by, empty if that is invalid.
	Target string `json:"target,omitempty"`
	// Actor fulfils it: Tabard, CloudCredentialOperator or Nobody, or it is Unknown; Why says
	// why.
	Actor Actor    `json:"actor"`
	Why   string   `json:"why"`
	State RowState `json:"state"`
	// Reason and Message are what it waits for.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// RoleARN is the role in AWS.
	RoleARN string `json:"roleARN,omitempty"`
	// Role is its name, where no more is known of it.
	Role    string      `json:"role,omitempty"`
	Created metav1.Time `json:"created"`
}

// RowOf says what is known of a request.
func RowOf(w World) Row {
	acting := Act(AskedOf(w))
	out := startOf(w, acting)
	switch {
	case !w.Request.DeletionTimestamp.IsZero():
		out.State = RowDeleting
		out.Reason, out.Message = stuck(w)
	case acting.Actor == ActorTabard:
		out.progress(w)
	case acting.Reason == ReasonIgnored:
		out.State, out.Reason, out.Message = RowIgnored, string(acting.Reason), acting.Text
	case acting.Actor == ActorCCO:
		out.operator(w.Request.Status)
	default:
		out.State, out.Reason, out.Message = RowWaiting, string(acting.Reason), acting.Text
	}
	return out
}

// startOf is a request without how far it is.
func startOf(w World, acting Acting) Row {
	out := Row{
		Namespace: w.Request.Namespace, Name: w.Request.Name, Actor: acting.Actor, Why: acting.Text, Created: w.Request.CreationTimestamp,
		RoleARN: roleOf(w),
	}
	if targets, invalid := Targets(w.Request); invalid == "" {
		out.Target = targets[0].String()
	}
	return out
}

// operator is how far a Cloud Credential Operator is.
func (r *Row) operator(status cloudv1.CredentialsRequestStatus) {
	if status.Provisioned {
		r.State = RowReady
		return
	}
	kind, message := failure(status)
	r.State, r.Reason, r.Message = RowWaiting, string(kind), message
}

// progress is how far Tabard is, by the grant.
func (r *Row) progress(w World) {
	r.State = RowWaiting
	grant := GrantOf(w)
	if grant == nil {
		r.Reason, r.Message = rowNotLookedAt, "no controller has looked at it: kubectl -n tabard-system get deployment tabard-credentials"
		return
	}
	v, known := condition.Read(grant.Status.Conditions, TypeReady)
	switch {
	case !known:
		r.Reason, r.Message = rowNotLookedAt, "the controller has not looked at it yet: kubectl -n tabard-system get deployment tabard-credentials"
	case grant.Status.ObservedGeneration != w.Request.Generation:
		r.Reason, r.Message = rowChanged, "the controller has not looked at it since it was changed; before: "+v.Message
	case v.IsTrue():
		r.State = RowReady
	default:
		r.Reason, r.Message = string(v.Reason), v.Message
	}
}

// stuck is what keeps a deletion from its end.
func stuck(w World) (reason, message string) {
	if w.Grant == nil {
		return "", ""
	}
	v, _ := condition.Read(w.Grant.Status.Conditions, TypeDeletionBlocked)
	return string(v.Reason), v.Message
}

// roleOf is the role that workloads of the request become, or are to become.
func roleOf(w World) string {
	if arn, _ := GivenRole(w); arn != "" {
		return arn
	}
	if grant := GrantOf(w); grant != nil && grant.Status.Role != nil {
		return grant.Status.Role.ARN
	}
	return ""
}

// Waits says that something has to happen before it goes on: it is not done, or its deletion is held up.
func (r Row) Waits() bool {
	return r.State == RowWaiting || r.State == RowDeleting && r.Reason != ""
}

// StateText is the state for a table, such as "Waiting: NoIssuer".
func (r Row) StateText() string {
	if r.Reason == "" || r.Reason == string(r.State) {
		return string(r.State)
	}
	return string(r.State) + ": " + r.Reason
}

// GrantOf is the grant of exactly this request, nil for none.
func GrantOf(w World) *v1alpha1.CredentialsGrant {
	if w.Grant == nil || w.Grant.Spec.Request.UID != w.Request.UID {
		return nil
	}
	return w.Grant
}
