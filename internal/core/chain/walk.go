package chain

import (
	"cmp"
	"fmt"
	"path"
	"slices"
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
	// own is the container of the pod that has AWS_ROLE_ARN, nil for none; of several, see owner.
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
		w.agent = holder(pod, roleVariable) == nil && holder(pod, uriVariable) != nil
	}
	if account := e.Account.Value; account != nil {
		w.subject.Account = cmp.Or(w.subject.Account, account.Name)
		w.asked = injector.Request(asWebhookReads(injector, account.Annotations))
	}
	if w.agent {
		w.asked.RoleARN = ""
	}
	w.own = w.owner()
	w.role = w.asked.RoleARN
	if w.role == "" && w.own != nil && (e.Account.Value != nil || e.Account.Unread != "") { // a ServiceAccount that is gone has no tokens
		w.role = valueOf(w.own, roleVariable)
	}
	w.audience = w.wantedAudience()
	return w
}

// owner is the container of which most is to be said, nil where none has a role: one with the role that is
// asked for, else one with a token that a webhook has brought, else the first. Sidecars have roles of
// their own.
func (w *walk) owner() *corev1.Container {
	pod := w.pod()
	if pod == nil {
		return nil
	}
	all := holders(pod, roleVariable)
	for _, container := range all {
		if w.asked.RoleARN != "" && valueOf(container, roleVariable) == w.asked.RoleARN {
			return container
		}
	}
	for _, container := range all {
		if volume, _ := volumeOf(pod, container); volume != nil && (volume.Name == inject.VolumeName || volume.Name == inject.ProfilesVolumeName) {
			return container
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// wantedAudience is that of the pod's own token, unless a new pod gets another one, or probably does.
func (w *walk) wantedAudience() string {
	has := ""
	if w.own != nil {
		has = w.audienceIn(w.own)
	}
	asked, said := w.newAudience()
	switch {
	case has == "":
		return asked
	case w.asked.RoleARN == "" || w.isByHand():
		return has
	case said || w.accepts(asked) && !w.accepts(has):
		return asked
	}
	return has
}

// newAudience is the audience that a new pod's token has, and whether something says so: the new pod, or
// else the annotation. A webhook's flag --token-audience, which is not seen, may ask for another default.
func (w *walk) newAudience() (audience string, said bool) {
	if container := w.identified(); container != nil {
		if token := tokenOf(w.NewPod.Value, container); token != nil && token.Audience != "" {
			return token.Audience, true
		}
	}
	said = w.Account.Value != nil && w.Account.Value.Annotations[annotationPrefix()+"/audience"] != ""
	return cmp.Or(w.asked.Audience, inject.Defaults().Audience), said
}

// accepts says that the provider is known to accept an audience.
func (w *walk) accepts(audience string) bool {
	return w.Provider.Value != nil && slices.Contains(w.Provider.Value.Audiences, audience)
}

// pod is the pod that is asked about, nil for none, or for one that was not read.
func (w *walk) pod() *corev1.Pod {
	if w.Evidence.Subject.Pod == "" {
		return nil
	}
	return w.Pod.Value
}

// containersOf are all containers of a pod, those that run first at the end.
func containersOf(pod *corev1.Pod) (out []*corev1.Container) {
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			out = append(out, &containers[i])
		}
	}
	return out
}

// holders are the containers that are told of a role, or of what else a variable says.
func holders(pod *corev1.Pod, variable string) []*corev1.Container {
	return slices.DeleteFunc(containersOf(pod), func(c *corev1.Container) bool { return valueOf(c, variable) == "" })
}

// holder is the first of them, nil for none.
func holder(pod *corev1.Pod, variable string) *corev1.Container {
	if all := holders(pod, variable); len(all) > 0 {
		return all[0]
	}
	return nil
}

// variableOf is a variable of a container, nil for none; of one that is there twice, the last counts.
func variableOf(container *corev1.Container, name string) *corev1.EnvVar {
	var out *corev1.EnvVar
	for i := range container.Env {
		if container.Env[i].Name == name {
			out = &container.Env[i]
		}
	}
	return out
}

// valueOf is the value of a variable of a container; empty where the pod does not have it.
func valueOf(container *corev1.Container, name string) string {
	if variable := variableOf(container, name); variable != nil {
		return variable.Value
	}
	return ""
}

// isElsewhere says that a variable has a value, or may have one, that is not in the pod: one of valueFrom
// or envFrom. What the container says itself counts before envFrom.
func isElsewhere(container *corev1.Container, name string) bool {
	variable := variableOf(container, name)
	return variable == nil && len(container.EnvFrom) > 0 || variable != nil && variable.ValueFrom != nil
}

// isExpanded says that the kubelet puts other variables into a value, which are not seen
// (https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/).
func isExpanded(value string) bool { return strings.Contains(value, "$(") }

// mountOf is the mount that has a file of a container, nil for none: of those above it, the deepest.
func mountOf(container *corev1.Container, file string) *corev1.VolumeMount {
	var deepest *corev1.VolumeMount
	for i := range container.VolumeMounts {
		mount := &container.VolumeMounts[i]
		if _, is := belowOf(mount, file); is && (deepest == nil || len(slashed(mount.MountPath)) > len(slashed(deepest.MountPath))) {
			deepest = mount
		}
	}
	return deepest
}

// belowOf is the path of a file below a mount, and whether it is there.
func belowOf(mount *corev1.VolumeMount, file string) (below string, is bool) {
	rest, is := strings.CutPrefix(slashed(file), slashed(mount.MountPath))
	return strings.TrimPrefix(rest, "/"), is && (rest == "" || rest[0] == '/')
}

// slashed is a path without a slash at its end, as Linux has it: in containers of Windows, mounts of /var
// are at C:\var.
func slashed(path string) string {
	if len(path) > 1 && path[1] == ':' {
		path = path[2:]
	}
	return strings.TrimSuffix(strings.ReplaceAll(path, `\`, "/"), "/")
}

// volumeOf is the volume that has the file which a container is told its token is in, and the path of
// the file in the volume; nil for none.
func volumeOf(pod *corev1.Pod, container *corev1.Container) (volume *corev1.Volume, inside string) {
	file := valueOf(container, tokenVariable)
	mount := mountOf(container, file)
	if file == "" || mount == nil {
		return nil, ""
	}
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == mount.Name {
			below, _ := belowOf(mount, file)
			return &pod.Spec.Volumes[i], path.Join(mount.SubPath, below)
		}
	}
	return nil, ""
}

// tokenIn is the projection of the token whose file a container of the pod is told of, nil for none.
func (w *walk) tokenIn(container *corev1.Container) *corev1.ServiceAccountTokenProjection {
	return tokenOf(w.pod(), container)
}

// tokenOf is the same of a container of any pod.
func tokenOf(pod *corev1.Pod, container *corev1.Container) *corev1.ServiceAccountTokenProjection {
	volume, inside := volumeOf(pod, container)
	if volume == nil || volume.Projected == nil {
		return nil
	}
	for _, source := range volume.Projected.Sources {
		if source.ServiceAccountToken != nil && path.Clean(source.ServiceAccountToken.Path) == inside {
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
	return w.kubectl("rollout restart " + blankWorkload)
}

// keep adds to a note what is lost where a command deletes a pod that nothing makes again.
func (w *walk) keep(f *Finding) {
	pod := w.pod()
	if pod == nil || injection.Workload(pod) != "" || !slices.Contains(f.Mend, w.restart()) {
		return
	}
	f.Note = strings.TrimSpace(fmt.Sprintf("%s Nothing makes this pod again: keep it first with %s, take out of the file what a webhook has put there, and create the pod from it.",
		f.Note, w.kubectl("get pod "+line.Word(pod.Name)+" -o yaml > pod.yaml")))
}

// unset is the command that takes variables out of the template of the pod's workload, and what to know
// before; where that has no template which can be changed, it makes the pod anew.
func (w *walk) unset(container *corev1.Container, variables ...string) (command, note string) {
	workload := w.workload()
	if isTemplated(workload) {
		return w.kubectl(fmt.Sprintf("set env %s -c %s %s-", line.Word(workload), line.Word(container.Name), strings.Join(variables, "- "))), ""
	}
	where := "the template of " + workload
	if injection.Workload(w.pod()) == "" {
		where = "the pod's manifest"
	}
	return w.restart(), fmt.Sprintf("Take %s out of %s first.", strings.Join(variables, " and "), where)
}

// isTemplated says that the template of a workload can be changed, and that new pods come of it then.
func isTemplated(workload string) bool {
	switch kind, _, _ := strings.Cut(workload, "/"); kind {
	case "deployment", "statefulset", "daemonset":
		return true
	}
	return false
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
		return w.kubectl("patch " + blankWorkload + " --patch " + line.Quoted(credentials.Encoded(map[string]any{"spec": map[string]any{"template": template}})))
	}
	if workload := w.workload(); isTemplated(workload) {
		return w.kubectl("patch " + line.Word(workload) + " --patch " + line.Quoted(credentials.Encoded(map[string]any{"spec": map[string]any{"template": template}})))
	}
	return other
}
