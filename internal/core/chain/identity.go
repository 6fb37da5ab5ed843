package chain

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// Standing is how a workload stands with its identity, as far as the cluster tells.
type Standing string

// The standings.
const (
	// Given says that it has the identity that it is to have.
	Given Standing = "given"
	// Without says that it lacks the identity that it is to have, or has another one.
	Without Standing = "without"
	// Nobody says that nothing names a role for it, or that it takes none: a pod that is over, or one that
	// asks to be left out.
	Nobody Standing = "nobody"
	// Unknown says that a right is missing to tell, or that something else than the cluster knows.
	Unknown Standing = "unknown"
)

// Standings are all of them, the worst first.
func Standings() []Standing { return []Standing{Without, Unknown, Given, Nobody} }

// Identity is what a list says of a pod or a ServiceAccount.
type Identity struct {
	Standing Standing `json:"standing"`
	// Role is the one that it is to have; empty where nothing names one.
	Role string `json:"role,omitempty"`
	// Has is the role in a pod's variables, and Container the container with it; empty for none.
	Has       string `json:"has,omitempty"`
	Container string `json:"container,omitempty"`
	// By is who names the role: who wrote the annotation, such as kubectl-annotate, or the pod itself, by a
	// variable of its own.
	By string `json:"by,omitempty"`
	// Link is the last that was judged, which is the one with what is wrong; Code is the finding's, and Text
	// one sentence about it.
	Link Link   `json:"link"`
	Code Code   `json:"code,omitempty"`
	Text string `json:"text"`
}

// Identify judges a workload by the links that the cluster's own lists answer: the binding of its
// ServiceAccount, whether the pod has got it, and which token it shows. It says nothing of issuer, keys,
// webhook and AWS.
func Identify(e Evidence) Identity {
	w := newWalk(e)
	out := Identity{Standing: Given, Role: line.Of(w.role)}
	switch account := e.Account.Value; {
	case account == nil: // nobody knows whether it has an annotation
	case w.asked.RoleARN != "":
		out.By = line.Of(writer(account, roleAnnotation()))
	case w.role != "":
		out.By = "the pod itself"
	}
	if w.own != nil {
		out.Has, out.Container = line.Of(valueOf(w.own, roleVariable)), w.own.Name
	}
	for _, link := range []Link{Binding, Injection, Token} {
		step := w.judge(link)
		if step.State == Unreached || link == Token && (step.State == Sound || w.isOver()) {
			continue // what was said before is the answer then
		}
		out.Link, out.Text = link, line.Of(step.Text)
		if step.State == Broken {
			out.Standing, out.Code = w.standingOf(step.Findings[0]), step.Findings[0].Code
			break
		}
		if step.State == Unseen {
			out.Standing = Unknown
			break
		}
	}
	return w.ofPod(out)
}

// standingOf is what a finding makes of a workload. Where no ServiceAccount is, nothing but the pod could
// name a role, and who asks the webhook to leave a pod out wants none for it. A finding that has another
// explanation proves nothing, but for the time of an annotation, which another change can only have made later.
func (w *walk) standingOf(f Finding) Standing {
	switch {
	case f.Code == CodeNoRole, f.Code == CodeSkipped, f.Code == CodeNoAccount && w.own == nil:
		return Nobody
	case f.Certainty == Likely && f.Code != CodeTooEarly:
		return Unknown
	}
	return Without
}

// ofPod is an identity with what only a pod shows: one that is over takes no role any more, and only one that
// has the role is given it.
func (w *walk) ofPod(out Identity) Identity {
	pod := w.pod()
	if pod == nil {
		return out
	}
	isSame := w.own != nil && w.role != "" && valueOf(w.own, roleVariable) == w.role
	switch {
	case out.Standing == Given && isSame:
	case w.isOver():
		out.Standing, out.Link, out.Code, out.Text = Nobody, Injection, "", "the pod is over"
	case out.Standing == Given && w.own == nil:
		out.Standing = Nobody
	case out.Standing == Given:
		out.Standing = Unknown
	}
	return out
}

// isOver says that the pod has ended.
func (w *walk) isOver() bool {
	pod := w.pod()
	return pod != nil && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed)
}

// PruneAccount is what Identify looks at of a ServiceAccount's metadata, for those who have many.
func PruneAccount(account *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	_, examiner := deciders()
	kept := examiner.TrimAccount(account) // with what it says of annotations that do not count
	kept.UID, kept.ResourceVersion, kept.ManagedFields = "", "", nil
	for name, value := range account.Annotations {
		if strings.HasPrefix(name, annotationPrefix()+"/") {
			metav1.SetMetaDataAnnotation(&kept.ObjectMeta, name, value)
		}
	}
	if account.Annotations[roleAnnotation()] == "" {
		return kept
	}
	for i := range account.ManagedFields {
		if injection.Owns(account.ManagedFields[i].FieldsV1, roleAnnotation()) {
			kept.ManagedFields = append(kept.ManagedFields, account.ManagedFields[i])
		}
	}
	return kept
}
