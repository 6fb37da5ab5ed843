package chain

import (
	"cmp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/core/line"
)

const (
	roleVariable  = "AWS_ROLE_ARN"
	tokenVariable = "AWS_WEB_IDENTITY_TOKEN_FILE" //nolint:gosec // a name, and no secret
	uriVariable   = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
)

// annotationPrefix begins the annotations that the webhook reads.
func annotationPrefix() string { return inject.Defaults().AnnotationPrefix }

// deciders decide as the webhook does without flags, as EKS's and Tabard's are shipped.
var deciders = sync.OnceValues(func() (*inject.Injector, *injection.Examiner) {
	injector, err := inject.New(inject.Defaults())
	if err != nil {
		panic("chain: the default settings of the webhook are refused: " + err.Error())
	}
	examiner, err := injection.New(injection.Defaults())
	if err != nil {
		panic("chain: the default settings of the webhook are refused: " + err.Error())
	}
	return injector, examiner
})

// walk is the evidence, and what follows from it for more than one link.
type walk struct {
	Evidence
	subject Subject
	// asked is what the ServiceAccount's annotations ask for; the role is empty where they name none.
	asked inject.Request
	// own is the container of the pod that has AWS_ROLE_ARN, nil for none.
	own *corev1.Container
	// agent says that the pod gets its credentials from an agent of its node: SDKs take these if no
	// role is in its variables.
	agent bool
	// role and audience are those that the workload is to come with: of the annotations, or else of
	// the pod itself.
	role, audience string
}

func newWalk(e Evidence) *walk {
	w := &walk{Evidence: e, subject: e.Subject}
	injector, _ := deciders()
	if pod := w.pod(); pod != nil {
		w.subject.Account = cmp.Or(w.subject.Account, pod.Spec.ServiceAccountName, "default")
		w.own = holder(pod, roleVariable)
		w.agent = w.own == nil && holder(pod, uriVariable) != nil
	}
	if account := e.Account.Value; account != nil {
		w.subject.Account = cmp.Or(w.subject.Account, account.Name)
		w.asked = injector.Request(&inject.ServiceAccount{Annotations: account.Annotations})
	}
	if w.agent {
		w.asked.RoleARN = ""
	}
	w.role, w.audience = w.asked.RoleARN, w.asked.Audience
	if w.role == "" && w.own != nil && (e.Account.Value != nil || e.Account.Unread != "") { // a ServiceAccount that is gone has no tokens
		w.role, w.audience = valueOf(w.own, roleVariable), w.audienceIn(w.own)
	}
	w.audience = cmp.Or(w.audience, inject.Defaults().Audience)
	return w
}

// pod is the pod that is asked about, nil for none, or for one that was not read.
func (w *walk) pod() *corev1.Pod {
	if w.Evidence.Subject.Pod == "" {
		return nil
	}
	return w.Pod.Value
}

// holder is the first container that is told of a role, or of what else a variable says; nil for none.
func holder(pod *corev1.Pod, variable string) *corev1.Container {
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			if valueOf(&containers[i], variable) != "" {
				return &containers[i]
			}
		}
	}
	return nil
}

// valueOf is the value of a variable of a container; of one that is there twice, the last counts.
func valueOf(container *corev1.Container, name string) string {
	out := ""
	for _, variable := range container.Env {
		if variable.Name == name {
			out = variable.Value
		}
	}
	return out
}

// mountOf is the mount that has a file of a container, nil for none: of those above it, the deepest.
func mountOf(container *corev1.Container, file string) *corev1.VolumeMount {
	var deepest *corev1.VolumeMount
	for i := range container.VolumeMounts {
		mount := &container.VolumeMounts[i]
		above := strings.TrimSuffix(mount.MountPath, "/")
		if (file == above || strings.HasPrefix(file, above+"/")) && (deepest == nil || len(above) > len(strings.TrimSuffix(deepest.MountPath, "/"))) {
			deepest = mount
		}
	}
	return deepest
}

// volumeOf is the volume that has the file which a container is told its token is in, and the path of
// the file below the volume's mount; nil for none.
func volumeOf(pod *corev1.Pod, container *corev1.Container) (volume *corev1.Volume, below string) {
	file := valueOf(container, tokenVariable)
	mount := mountOf(container, file)
	if file == "" || mount == nil {
		return nil, ""
	}
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == mount.Name {
			return &pod.Spec.Volumes[i], strings.TrimPrefix(strings.TrimPrefix(file, strings.TrimSuffix(mount.MountPath, "/")), "/")
		}
	}
	return nil, ""
}

// tokenIn is the projection of the token whose file a container is told of, nil for none.
func (w *walk) tokenIn(container *corev1.Container) *corev1.ServiceAccountTokenProjection {
	volume, below := volumeOf(w.pod(), container)
	if volume == nil || volume.Projected == nil {
		return nil
	}
	for _, source := range volume.Projected.Sources {
		if source.ServiceAccountToken != nil && source.ServiceAccountToken.Path == below {
			return source.ServiceAccountToken
		}
	}
	return nil
}

// audienceIn is the audience of the token that a container shows; empty where that is not known, or
// is the API server's.
func (w *walk) audienceIn(container *corev1.Container) string {
	if token := w.tokenIn(container); token != nil {
		return token.Audience
	}
	return ""
}

// arn is the role, where it is one.
func (w *walk) arn() (identity.RoleARN, bool) {
	role, ok := identity.ParseRoleARN(w.role)
	return role, ok && identity.IsRoleARN(w.role)
}

// tokenSubject is the "sub" of the ServiceAccount's tokens
// (https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/).
func (w *walk) tokenSubject() string {
	return "system:serviceaccount:" + w.subject.Namespace + ":" + w.subject.Account
}

// kubectl is a command about an object of the subject's namespace.
func (w *walk) kubectl(rest string) string {
	return "kubectl -n " + line.Word(w.subject.Namespace) + " " + rest
}

// unseen is the step of what was not read.
func unseen(what, why, needs string) Step {
	return Step{State: Unseen, Text: what + ": " + why, Needs: needs}
}

// writer is the field manager that wrote an annotation last; empty where nobody notes it.
func writer(account *metav1.PartialObjectMetadata, annotation string) string {
	var last *metav1.ManagedFieldsEntry
	for i := range account.ManagedFields {
		entry := &account.ManagedFields[i]
		if injection.Owns(entry.FieldsV1, annotation) && (last == nil || entry.Time != nil && (last.Time == nil || last.Time.Before(entry.Time))) {
			last = entry
		}
	}
	if last == nil {
		return ""
	}
	return last.Manager
}

func listed(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// noPod is the step of a link that only a pod has, where none is there to look at.
func (w *walk) noPod() (Step, bool) {
	switch {
	case w.Evidence.Subject.Pod == "":
		return Step{State: Unreached, Text: "only a pod tells: tabard explain pod NAME -n " + w.subject.Namespace}, true
	case w.Pod.Unread != "":
		return unseen("pod "+w.subject.Namespace+"/"+w.subject.Pod, w.Pod.Unread, w.Pod.Needs), true
	case w.Pod.Value == nil:
		return unseen("pod "+w.subject.Namespace+"/"+w.subject.Pod, "it is not there", "the name of a pod"), true
	case w.role == "":
		return Step{State: Unreached, Text: "no role is named"}, true
	}
	return Step{}, false
}

// restart is what makes the pod anew; of all pods of the ServiceAccount, where none was named.
func (w *walk) restart() string {
	if pod := w.pod(); pod != nil {
		return injection.Remedy(pod)
	}
	return w.kubectl("rollout restart WORKLOAD")
}

// workload is what has the pod's template.
func (w *walk) workload() string {
	if name := injection.Workload(w.pod()); name != "" {
		return name
	}
	return "pod/" + w.subject.Pod
}

// patch is the command that changes the template of the pod's workload; where that has none which can
// be changed, it is another one.
func (w *walk) patch(template map[string]any, other string) string {
	if w.pod() == nil {
		return w.kubectl("patch WORKLOAD --patch " + line.Quoted(credentials.Encoded(map[string]any{"spec": map[string]any{"template": template}})))
	}
	workload := w.workload()
	switch kind, _, _ := strings.Cut(workload, "/"); kind {
	case "deployment", "statefulset", "daemonset":
		return w.kubectl("patch " + line.Word(workload) + " --patch " + line.Quoted(credentials.Encoded(map[string]any{"spec": map[string]any{"template": template}})))
	}
	return other
}
