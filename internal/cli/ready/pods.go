package ready

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tabard-dev/tabard/internal/core/podstatus"
)

// lacksConfig is the reason of a container whose ConfigMap is not there: a role that no bootstrap
// command has told yet.
const lacksConfig = "CreateContainerConfigError"

// cause is why a Deployment's pods do not run, in the words of the kubelet, the scheduler or the API
// server; empty where none of them has said anything yet.
func cause(d appsv1.Deployment, pods []corev1.Pod) (reason, text string) {
	for _, pod := range podsOf(d, pods) {
		if podstatus.IsReady(&pod) || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		for _, c := range podstatus.WaitingOf(&pod) {
			if c.Reason != "ContainerCreating" {
				return c.Reason, fmt.Sprintf("the container %s of the pod %s waits: %s", c.Container, pod.Name, strings.TrimSpace(c.Reason+" "+c.Message))
			}
		}
		if why := podstatus.NotPlaced(&pod); why != "" {
			return "", fmt.Sprintf("the pod %s has no node: %s", pod.Name, why)
		}
	}
	if why := podstatus.NotMade(&d); why != "" {
		return "", "its pods cannot be made: " + why
	}
	return "", ""
}

// podsOf are the pods that a Deployment selects, the newest first: those are of its newest version.
func podsOf(d appsv1.Deployment, pods []corev1.Pod) (out []corev1.Pod) {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return nil
	}
	for _, pod := range pods {
		if pod.Namespace == d.Namespace && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return out
}
