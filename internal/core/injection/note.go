package injection

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// maxNamed bounds how many containers a note names.
const maxNamed = 5

// Note tells a person what a pod lacks, why, and what to type. System is the
// namespace that the webhook runs in.
func (f Finding) Note(system string) string {
	asked := fmt.Sprintf("ServiceAccount %s asks for by %s", f.Account, f.Annotation)
	if f.OwnAnnotation {
		asked = "its annotation " + f.Annotation + " asks for"
	}
	if f.Cause == Hidden {
		return fmt.Sprintf("The pod runs without the AWS identity that %s: AWS_WEB_IDENTITY_TOKEN_FILE tells %s of a token that no volume brings there. "+
			"Mount nothing else in its place, and recreate the pod: %s", asked, containers(f.Containers), f.remedy())
	}
	what := fmt.Sprintf("The pod runs without the AWS identity that %s: nothing was injected for %s.", asked, containers(f.Containers))
	const older = "the pod was created before the ServiceAccount was annotated, or its annotation was last changed"
	why := "Probably the webhook did not answer when the pod was created, and its hook let the pod pass."
	switch f.Cause {
	case TooEarly:
		return fmt.Sprintf("%s This is because %s. Recreate it: %s", what, older, f.remedy())
	case Skipped:
		return fmt.Sprintf("%s Its label %s left it out when it was created, and its namespace requires identities. Recreate it, or have an administrator allow that (kubectl label namespace %s %s=%s): %s",
			what, SkipLabel, f.Pod.Namespace, skippingLabel, permitted, f.remedy())
	case Unclear:
		why = strings.TrimSuffix(why, ".") + "; or " + older + "."
	}
	return fmt.Sprintf("%s %s When the webhook is ready (kubectl -n %s rollout status deployment/tabard-webhook), recreate the pod: %s", what, why, system, f.remedy())
}

func containers(names []string) string {
	switch {
	case len(names) == 1:
		return "container " + names[0]
	case len(names) > maxNamed:
		return fmt.Sprintf("containers %s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return "containers " + strings.Join(names, ", ")
}

// remedy is what to type, and what follows.
func (f Finding) remedy() string {
	command := remedy(f.Pod, f.Owner, f.Restartable)
	switch {
	case f.Restartable:
		return command
	case f.Owner != "":
		return fmt.Sprintf("%s (%s makes another)", command, f.Owner)
	}
	return command + ", and create it again (nothing else does)"
}

func remedy(pod types.NamespacedName, owner string, restartable bool) string {
	if restartable {
		return fmt.Sprintf("kubectl -n %s rollout restart %s", pod.Namespace, line.Word(owner))
	}
	return fmt.Sprintf("kubectl -n %s delete pod %s", pod.Namespace, pod.Name)
}

// Remedy is the command by which a pod is made anew. A pod that nothing makes is only deleted.
func Remedy(pod *corev1.Pod) string {
	owner, restartable := ownerOf(pod)
	return remedy(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, owner, restartable)
}

// Workload is what has the template of a pod, as kubectl names it; empty for a pod that nothing makes.
func Workload(pod *corev1.Pod) string {
	owner, _ := ownerOf(pod)
	return owner
}

// ownerOf is what makes a pod anew, and whether kubectl rollout restart can tell it
// to.
func ownerOf(pod *corev1.Pod) (name string, restartable bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return "", false
	}
	kind := strings.ToLower(owner.Kind)
	switch kind {
	case "replicaset":
		hash := pod.Labels["pod-template-hash"]
		if deployment, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && hash != "" {
			return "deployment/" + deployment, true
		}
	case "statefulset", "daemonset":
		return kind + "/" + owner.Name, true
	}
	return kind + "/" + owner.Name, false
}
