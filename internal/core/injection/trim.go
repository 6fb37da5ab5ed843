package injection

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod is what Examine needs of a pod. It is small: there may be very many.
type Pod struct {
	// ObjectMeta has what identifies the pod; its labels and creation only if it may
	// be without identity.
	metav1.ObjectMeta
	// Account is its ServiceAccount.
	Account string

	// Text is the pod as core/inject reads it, empty if it misses nothing whatever
	// its ServiceAccount says.
	Text []byte

	// profiles says that it asks for an identity itself.
	profiles bool
	// owner makes it anew, see Finding.
	owner       string
	restartable bool
}

// Trim is what Examine needs of a pod. Of one that has been injected that is next to
// nothing; values of variables are of no pod. The error says that it cannot be
// written down.
func (e *Examiner) Trim(pod *corev1.Pod) (*Pod, error) {
	kept := &Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}}
	injected := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return e.volumes[v.Name] })
	if injected || pod.DeletionTimestamp != nil || isOver(pod) {
		return kept, nil
	}
	kept.CreationTimestamp, kept.Labels = pod.CreationTimestamp, pod.Labels
	kept.Account = pod.Spec.ServiceAccountName
	kept.profiles = pod.Annotations[e.injector.ProfilesAnnotation()] != ""
	kept.owner, kept.restartable = ownerOf(pod)
	var err error
	kept.Text, err = json.Marshal(shape{
		Metadata: shapeMetadata{e.prefixed(pod.Annotations)},
		Spec:     shapeSpec{kept.Account, shapeContainers(pod.Spec.Containers), shapeContainers(pod.Spec.InitContainers)},
	})
	return kept, err
}

// isOver says that no container of a pod runs any more, or ever will.
func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// shape is a pod with what core/inject looks at.
type (
	shape struct {
		Metadata shapeMetadata `json:"metadata"`
		Spec     shapeSpec     `json:"spec"`
	}
	shapeMetadata struct {
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	shapeSpec struct {
		ServiceAccountName string           `json:"serviceAccountName,omitempty"`
		Containers         []shapeContainer `json:"containers,omitempty"`
		InitContainers     []shapeContainer `json:"initContainers,omitempty"`
	}
	shapeContainer struct {
		Name string          `json:"name"`
		Env  []shapeVariable `json:"env,omitempty"`
	}
	shapeVariable struct {
		Name string `json:"name"`
	}
)

// shapeContainers has the names of containers and of their variables for AWS.
func shapeContainers(containers []corev1.Container) []shapeContainer {
	kept := make([]shapeContainer, len(containers))
	for i, container := range containers {
		kept[i].Name = container.Name
		for _, variable := range container.Env {
			if strings.HasPrefix(variable.Name, "AWS_") {
				kept[i].Env = append(kept[i].Env, shapeVariable{variable.Name})
			}
		}
	}
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

// TrimAccount is what Examine needs of a ServiceAccount's metadata: its role, and
// when it was given it. Trimmed twice is trimmed once, as informers demand.
func (e *Examiner) TrimAccount(account *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	kept := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: account.Namespace, Name: account.Name, UID: account.UID, ResourceVersion: account.ResourceVersion,
	}}
	name := e.injector.RoleAnnotation()
	if role := account.Annotations[name]; role != "" && e.injector.ReadsAnnotations(account.Annotations) {
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
