package injection

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/inject"
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

	// slip is what of it does not count as it is written, empty for nothing; maker is what
	// makes it anew, nil for nothing.
	slip  string
	maker *metav1.OwnerReference

	// profiles says that it asks for an identity itself.
	profiles bool
	// owner makes it anew, see Finding.
	owner       string
	restartable bool
}

// tokenVariable tells a container where its token is.
const tokenVariable = "AWS_WEB_IDENTITY_TOKEN_FILE"

// longestKept is how many bytes are kept of a pod. Ordinary ones have a few hundred; whoever
// may create pods could make the others as many as fill the memory.
const longestKept = 16 << 10

// ErrLong says that a pod is not examined because it is too long.
var ErrLong = errors.New("the pod is too long to be examined")

// Trim is what Examine needs of a pod. Of one that has been injected that is next to
// nothing; values of variables are of no pod, but for the
// path of a token. The error says that it cannot be
// written down; of one that is ErrLong, the pod counts as one that misses nothing.
func (e *Examiner) Trim(pod *corev1.Pod) (*Pod, error) {
	kept := &Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}}
	if pod.DeletionTimestamp != nil || isOver(pod) {
		return kept, nil
	}
	text, err := json.Marshal(shape{
		Metadata: shapeMetadata{e.prefixed(pod.Annotations), e.prefixed(pod.Labels)},
		Spec:     e.shapeSpec(pod),
	})
	if err != nil {
		return kept, err
	}
	if length := len(text) + (&metav1.ObjectMeta{Labels: pod.Labels}).Size(); length > longestKept {
		return kept, fmt.Errorf("%w: %s/%s has %d bytes of labels and of what injection looks at, of which %d are read", ErrLong, pod.Namespace, pod.Name, length, longestKept)
	}
	read, err := parse(text)
	if err != nil {
		return kept, err
	}
	if kept.slip = e.slipOfPod(pod, read); kept.slip != "" {
		kept.Labels, kept.maker = pod.Labels, metav1.GetControllerOf(pod)
		kept.owner, kept.restartable = ownerOf(pod)
	}
	lack, err := e.injector.Missing(read, e.anybody(pod))
	if err != nil || len(lack.Identity)+len(lack.Token) == 0 {
		return kept, err
	}
	kept.CreationTimestamp, kept.Labels = pod.CreationTimestamp, pod.Labels
	kept.Account, kept.Text = pod.Spec.ServiceAccountName, text
	kept.profiles = pod.Annotations[e.injector.ProfilesAnnotation()] != ""
	kept.owner, kept.restartable = ownerOf(pod)
	return kept, nil
}

// anybody is a pod's ServiceAccount as if it had a role.
func (e *Examiner) anybody(pod *corev1.Pod) inject.Subject {
	return inject.Subject{Namespace: pod.Namespace, Account: &inject.ServiceAccount{Annotations: map[string]string{
		e.injector.RoleAnnotation(): "arn:aws:iam::000000000000:role/anybody",
	}}}
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
		Labels      map[string]string `json:"labels,omitempty"`
	}
	shapeSpec struct {
		ServiceAccountName string           `json:"serviceAccountName,omitempty"`
		OS                 *corev1.PodOS    `json:"os,omitempty"`
		Containers         []shapeContainer `json:"containers,omitempty"`
		InitContainers     []shapeContainer `json:"initContainers,omitempty"`
		Volumes            []corev1.Volume  `json:"volumes,omitempty"`
	}
	shapeContainer struct {
		Name         string               `json:"name"`
		Env          []shapeVariable      `json:"env,omitempty"`
		VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	}
	shapeVariable struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	}
)

// shapeSpec has the volumes with tokens for others than the API server.
func (e *Examiner) shapeSpec(pod *corev1.Pod) shapeSpec {
	kept := shapeSpec{
		ServiceAccountName: pod.Spec.ServiceAccountName,
		Containers:         e.shapeContainers(pod.Spec.Containers),
		InitContainers:     e.shapeContainers(pod.Spec.InitContainers),
	}
	if IsWindows(pod) {
		kept.OS = &corev1.PodOS{Name: corev1.Windows}
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.Projected != nil && slices.ContainsFunc(volume.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience != ""
		}) {
			kept.Volumes = append(kept.Volumes, volume)
		}
	}
	return kept
}

// IsWindows says that a pod asks for a node with Windows, as core/inject reads it.
func IsWindows(pod *corev1.Pod) bool {
	return pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows ||
		pod.Spec.NodeSelector["kubernetes.io/os"] == "windows" || pod.Spec.NodeSelector["beta.kubernetes.io/os"] == "windows"
}

// shapeContainers has the names of containers and of their variables for AWS, and the
// mounts of those that are told where the token is.
func (e *Examiner) shapeContainers(containers []corev1.Container) []shapeContainer {
	kept := make([]shapeContainer, len(containers))
	for i, container := range containers {
		kept[i].Name = container.Name
		for _, variable := range container.Env {
			if !strings.HasPrefix(variable.Name, "AWS_") {
				continue
			}
			one := shapeVariable{Name: variable.Name}
			if variable.Name == tokenVariable && slices.Contains(e.tokenFiles, variable.Value) {
				one.Value, kept[i].VolumeMounts = variable.Value, container.VolumeMounts
			}
			kept[i].Env = append(kept[i].Env, one)
		}
	}
	return kept
}

// prefixed are the annotations or labels of the webhook's.
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
// when it was given it; and its slip. Trimmed twice is trimmed once, as informers demand.
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
	if slip := e.slipOfAccount(account); slip != "" {
		if kept.Annotations == nil {
			kept.Annotations = map[string]string{}
		}
		kept.Annotations[slipKey] = slip
	}
	return kept
}

// ownedSince is the time at which an annotation was there for certain, nil if nobody
// says so. An API server notes when each manager last changed anything of its own,
// so that it may have been there before; and it notes nothing of an object that was
// created without any field and never applied.
func ownedSince(managed []metav1.ManagedFieldsEntry, annotation string) (first *metav1.Time) {
	for _, entry := range managed {
		if entry.Time != nil && Owns(entry.FieldsV1, annotation) && (first == nil || entry.Time.Before(first)) {
			first = entry.Time
		}
	}
	return first
}

// Owns says that the fields of a manager have an annotation.
func Owns(fields *metav1.FieldsV1, annotation string) bool {
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
