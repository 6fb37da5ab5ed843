package injection

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trim is what Examine needs of a pod; trimmed twice is trimmed once, as informers
// demand. Of one that has been injected that is next to
// nothing; values of variables are of no pod.
func (e *Examiner) Trim(pod *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}}
	for _, volume := range pod.Spec.Volumes {
		if e.volumes[volume.Name] {
			kept.Spec.Volumes = []corev1.Volume{{Name: volume.Name}}
			return kept
		}
	}
	kept.CreationTimestamp, kept.DeletionTimestamp = pod.CreationTimestamp, pod.DeletionTimestamp
	kept.Labels = pod.Labels
	kept.Annotations = e.prefixed(pod.Annotations)
	if owner := metav1.GetControllerOf(pod); owner != nil {
		kept.OwnerReferences = []metav1.OwnerReference{{Kind: owner.Kind, Name: owner.Name, Controller: owner.Controller}}
	}
	kept.Spec.ServiceAccountName = pod.Spec.ServiceAccountName
	kept.Spec.Containers, kept.Spec.InitContainers = trimContainers(pod.Spec.Containers), trimContainers(pod.Spec.InitContainers)
	kept.Status.Phase = pod.Status.Phase
	return kept
}

// prefixed are the annotations of the webhook's.
func (e *Examiner) prefixed(annotations map[string]string) (kept map[string]string) {
	prefix, _, _ := strings.Cut(e.injector.RoleAnnotation(), "/")
	for name, value := range annotations {
		if strings.HasPrefix(name, prefix+"/") {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[name] = value
		}
	}
	return kept
}

// trimContainers leaves the names of containers and of their variables for AWS.
func trimContainers(containers []corev1.Container) []corev1.Container {
	if len(containers) == 0 {
		return nil
	}
	kept := make([]corev1.Container, len(containers))
	for i, container := range containers {
		kept[i].Name = container.Name
		for _, variable := range container.Env {
			if strings.HasPrefix(variable.Name, "AWS_") {
				kept[i].Env = append(kept[i].Env, corev1.EnvVar{Name: variable.Name})
			}
		}
	}
	return kept
}

// TrimAccount is what Examine needs of a ServiceAccount's metadata: its role, and
// when it was given it. Trimmed twice is trimmed once, here too.
func (e *Examiner) TrimAccount(account *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	kept := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: account.Namespace, Name: account.Name, UID: account.UID, ResourceVersion: account.ResourceVersion,
	}}
	name := e.injector.RoleAnnotation()
	if role := account.Annotations[name]; role != "" {
		kept.Annotations = map[string]string{name: role}
		if since := ownedSince(account.ManagedFields, name); since != nil {
			kept.ManagedFields = []metav1.ManagedFieldsEntry{{Time: since, FieldsV1: e.owned}}
		}
	}
	return kept
}

// ownedSince is the time at which an annotation was there for certain, nil if nobody
// says so. An API server notes when each manager last changed anything of its own,
// so that it may have been there before; and it notes nothing of an object that was
// created without any field and never applied.
func ownedSince(managed []metav1.ManagedFieldsEntry, annotation string) (first *metav1.Time) {
	for _, entry := range managed {
		if entry.Time != nil && owns(entry.FieldsV1, annotation) && (first == nil || entry.Time.Before(first)) {
			first = entry.Time
		}
	}
	return first
}

// owns says that fields have an annotation.
func owns(fields *metav1.FieldsV1, annotation string) bool {
	if fields == nil {
		return false
	}
	var set struct {
		Metadata struct {
			Annotations map[string]json.RawMessage `json:"f:annotations"`
		} `json:"f:metadata"`
	}
	if err := json.Unmarshal(fields.GetRawBytes(), &set); err != nil {
		return false
	}
	_, has := set.Metadata.Annotations["f:"+annotation]
	return has
}
