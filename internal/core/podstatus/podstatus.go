// Package podstatus reads of a pod's status why it does not run.
package podstatus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
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
			out = append(out, Waiting{Container: s.Name, Reason: w.Reason, Message: w.Message})
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
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}
