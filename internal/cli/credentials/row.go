package credentials

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// state is how far a request is.
type state string

const (
	// ready: workloads have what was asked for.
	ready state = "Ready"
	// waiting: somebody fulfils it, and it is not done. Reason says what is missing.
	waiting state = "Waiting"
	// ignored: nothing is to be done.
	ignored state = "Ignored"
	// deleting: it is on its way out.
	deleting state = "Deleting"
)

// Reasons of a state that no condition tells.
const (
	reasonNotLookedAt = "NotLookedAt"
	reasonChanged     = "NotLookedAtSinceChange"
)

// row is what a list says of a request.
type row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Target is what workloads find credentials by, empty if that is invalid.
	Target string `json:"target,omitempty"`
	// Actor fulfils it: Tabard, CloudCredentialOperator or Nobody, or it is Unknown; Why says
	// why.
	Actor core.Actor `json:"actor"`
	Why   string     `json:"why"`
	State state      `json:"state"`
	// Reason and Message are what it waits for.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// RoleARN is the role in AWS.
	RoleARN string `json:"roleARN,omitempty"`
	// Role is its name, where no more is known of it.
	Role    string      `json:"role,omitempty"`
	Created metav1.Time `json:"created"`
}

// rowOf says what is known of a request.
func rowOf(w core.World) row {
	acting := core.Act(core.AskedOf(w))
	out := startOf(w, acting)
	switch {
	case !w.Request.DeletionTimestamp.IsZero():
		out.State = deleting
		out.Reason, out.Message = blocked(w)
	case acting.Actor == core.ActorTabard:
		out.progress(w)
	case acting.Reason == core.ReasonIgnored:
		out.State, out.Reason, out.Message = ignored, string(acting.Reason), acting.Text
	case acting.Actor == core.ActorCCO:
		out.operator(w.Request.Status)
	default:
		out.State, out.Reason, out.Message = waiting, string(acting.Reason), acting.Text
	}
	return out
}

// startOf is a request without how far it is.
func startOf(w core.World, acting core.Acting) row {
	out := row{
		Namespace: w.Request.Namespace, Name: w.Request.Name, Actor: acting.Actor, Why: acting.Text, Created: w.Request.CreationTimestamp,
		RoleARN: roleOf(w),
	}
	if targets, invalid := core.Targets(w.Request); invalid == "" {
		out.Target = targets[0].String()
	}
	return out
}

// operator is how far a Cloud Credential Operator is.
func (r *row) operator(status cloudv1.CredentialsRequestStatus) {
	if status.Provisioned {
		r.State = ready
		return
	}
	kind, message := failure(status)
	r.State, r.Reason, r.Message = waiting, string(kind), message
}

// progress is how far Tabard is, by the grant.
func (r *row) progress(w core.World) {
	r.State = waiting
	grant := grantOf(w)
	if grant == nil {
		r.Reason, r.Message = reasonNotLookedAt, "no controller has looked at it: kubectl -n tabard-system get deployment tabard-credentials"
		return
	}
	v, known := condition.Read(grant.Status.Conditions, core.TypeReady)
	switch {
	case !known:
		r.Reason, r.Message = reasonNotLookedAt, "the controller has not looked at it yet: kubectl -n tabard-system get deployment tabard-credentials"
	case grant.Status.ObservedGeneration != w.Request.Generation:
		r.Reason, r.Message = reasonChanged, "the controller has not looked at it since it was changed; before: "+v.Message
	case v.IsTrue():
		r.State = ready
	default:
		r.Reason, r.Message = string(v.Reason), v.Message
	}
}

// blocked is what keeps a deletion from its end.
func blocked(w core.World) (reason, message string) {
	if w.Grant == nil {
		return "", ""
	}
	v, _ := condition.Read(w.Grant.Status.Conditions, core.TypeDeletionBlocked)
	return string(v.Reason), v.Message
}

// roleOf is the role that workloads of the request become, or are to become.
func roleOf(w core.World) string {
	if arn, _ := core.GivenRole(w); arn != "" {
		return arn
	}
	if grant := grantOf(w); grant != nil && grant.Status.Role != nil {
		return grant.Status.Role.ARN
	}
	return ""
}

// actors are how tables name them.
var actors = map[core.Actor]string{core.ActorTabard: "Tabard", core.ActorCCO: "Cloud Credential Operator", core.ActorNobody: "nobody", actorUnknown: "not known"}

// progressText is the state for a table, such as "Waiting: NoIssuer".
func (r row) progressText() string {
	if r.Reason == "" || r.Reason == string(r.State) {
		return string(r.State)
	}
	return string(r.State) + ": " + r.Reason
}

func (r row) cells(now time.Time) []string {
	return []string{
		r.Namespace, r.Name, orDash(strings.Replace(r.Target, "ServiceAccount", "SA", 1)), actors[r.Actor], r.progressText(), orDash(cmp.Or(r.RoleARN, r.Role)),
		duration.HumanDuration(now.Sub(r.Created.Time)), orDash(r.Why), orDash(r.Message),
	}
}

// name is the request as kubectl get -o name has it.
func (r row) name() string { return "credentialsrequest.cloudcredential.openshift.io/" + r.Name }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
