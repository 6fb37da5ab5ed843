// Package podstatus reads why pods do not run. What others have written into a status is handed on in one
// line.
package podstatus

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// Waiting is a container that does not run.
type Waiting struct {
	Container string
	// Reason is such as ImagePullBackOff, and Message what the kubelet says.
	Reason, Message string
}

// WaitingOf are the containers of a pod that do not run, those that initialize it first. A container that
// waits for the init containers says nothing that they do not, and is left out.
func WaitingOf(pod *corev1.Pod) (out []Waiting) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && w.Reason != "PodInitializing" {
			out = append(out, Waiting{Container: s.Name, Reason: line.Of(w.Reason), Message: line.Of(w.Message)})
		}
	}
	return out
}

// IsReady says that the pod has the condition Ready.
func IsReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// NotPlaced is what the scheduler says of a pod for which it has found no node; empty for none.
func NotPlaced(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return line.Of(c.Reason + ": " + c.Message)
		}
	}
	return ""
}

// NotMade is why the API server refuses the pods of a Deployment; empty for no reason.
func NotMade(d *appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return line.Of(c.Message)
		}
	}
	return ""
}
