package chain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/injection"
)

// apiTokenFolder has the token that is for the API server alone.
const apiTokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount/"

func (w *walk) token() Step {
	if step, ends := w.noPod(); ends {
		return step
	}
	if w.own == nil {
		return Step{State: Unreached, Text: "the pod has no token for AWS"}
	}
	for _, container := range w.owners() {
		if step, ends := w.shown(container); ends {
			return step
		}
	}
	if container := unreadable(w.pod()); container != nil {
		return broken(w.unreadableToken(container))
	}
	return Step{State: Sound, Text: fmt.Sprintf("sub %s, aud %s, at %s", w.tokenSubject(), w.audienceIn(w.own), valueOf(w.own, tokenVariable))}
}

// owners are the containers with the same role as the one of which most is to be said.
func (w *walk) owners() []*corev1.Container {
	role := valueOf(w.own, roleVariable)
	return slices.DeleteFunc(holders(w.pod(), roleVariable), func(c *corev1.Container) bool { return valueOf(c, roleVariable) != role })
}

// shown is the step of a container that does not show AWS a token as it is to be; of another one, the
// link does not end.
func (w *walk) shown(container *corev1.Container) (step Step, ends bool) {
	file, token := valueOf(container, tokenVariable), w.tokenIn(container)
	fixed, api := w.fixedToken(container), strings.HasPrefix(slashed(file), apiTokenFolder)
	f := Finding{Observed: tokenVariable + "=" + file, Required: "a projected token with the audience " + w.audience}
	switch {
	case token == nil && api, token != nil && token.Audience == "":
		f.Code, f.Symptom = CodeAPIToken, "the container shows AWS the token that is for the API server"
		if token != nil { // its audience is the first of --api-audiences, which may be any
			f.Certainty = Likely
		}
		w.leaveToWebhook(&f, container, byWebhook, roleVariable, tokenVariable)
	case fixed != "":
		f.Code, f.Certainty, f.Symptom = CodeTokenFixed, Likely, fmt.Sprintf("container %s has its token from a %s, which the kubelet does not renew", container.Name, fixed)
		f.Observed = file + " in " + fixed
		note := "Take the volume out of the pod's template too. It is well only if something else writes a new token there in time."
		if strings.HasPrefix(fixed, partly) {
			note = "Take the volume out of the pod's template too; or keep all, and mount the whole volume without a subPath."
		}
		w.leaveToWebhook(&f, container, note, roleVariable, tokenVariable)
	case token == nil && file == "" && isElsewhere(container, tokenVariable):
		return unseen("the token of container "+container.Name, tokenVariable+" comes, or may come, by valueFrom or envFrom, which are not read", inContainer), true
	case token == nil && file == "":
		f.Code, f.Symptom, f.Observed = CodeNoToken, fmt.Sprintf("container %s has a role and is told of no token", container.Name), "no "+tokenVariable
		w.leaveToWebhook(&f, container, byWebhook, roleVariable)
	case token == nil:
		return unseen("the token at "+file, "no projected volume of the pod brings it", inContainer), true
	default:
		return Step{}, false
	}
	return broken(f), true
}

// partly begins what is said of the mount of a single path.
const partly = "subPath of volume "

const byWebhook = "The webhook puts the role and a token in place of what is taken out."

// leaveToWebhook gives a finding the commands by which the webhook injects what a template says by hand,
// and a note. The ServiceAccount comes first: the other command makes new pods.
func (w *walk) leaveToWebhook(f *Finding, container *corev1.Container, note string, variables ...string) {
	command, before := w.unset(container, variables...)
	f.Mend, f.Note = []string{w.annotate(w.role), command}, strings.TrimSpace(before+" "+note)
}

// fixedToken is the Secret or the ConfigMap that has the token of a container, or the mount of a single
// path of a volume, which is not renewed either; empty for none
// (https://kubernetes.io/docs/concepts/storage/projected-volumes/).
func (w *walk) fixedToken(container *corev1.Container) string {
	volume, _ := volumeOf(w.pod(), container)
	mount := mountOf(container, valueOf(container, tokenVariable))
	switch {
	case volume != nil && volume.Projected != nil && (mount.SubPath != "" || mount.SubPathExpr != ""):
		return partly + volume.Name
	case volume != nil && volume.Secret != nil:
		return "Secret " + volume.Secret.SecretName
	case volume != nil && volume.ConfigMap != nil:
		return "ConfigMap " + volume.ConfigMap.Name
	}
	return ""
}

// unreadable is the first container that may not read its token, nil for none. Without fsGroup, and
// without one user that all containers run as, the kubelet leaves the file to root, with the mode of the
// volume; else it cares for the mode itself
// (https://kubernetes.io/docs/concepts/storage/projected-volumes/#securitycontext-interactions).
// A user that only the image names is not known, and may be root.
func unreadable(pod *corev1.Pod) *corev1.Container {
	if injection.IsWindows(pod) || pod.Spec.SecurityContext != nil && pod.Spec.SecurityContext.FSGroup != nil || oneUser(pod) {
		return nil
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			container := &containers[i]
			user := userOf(pod, container)
			volume, _ := volumeOf(pod, container)
			if user != nil && *user != 0 && volume != nil && volume.Projected != nil && volume.Projected.DefaultMode != nil && !mayRead(pod, container, *volume.Projected.DefaultMode) {
				return container
			}
		}
	}
	return nil
}

// mayRead says whether a mode lets a container read a file of root, and of root's group. A group that
// is not named is the image's, which is often root's.
func mayRead(pod *corev1.Pod, container *corev1.Container, mode int32) bool {
	const group, others = 0o040, 0o004
	if mode&others != 0 || mode&group == 0 {
		return mode&others != 0
	}
	var of *int64
	if all := pod.Spec.SecurityContext; all != nil {
		if of = all.RunAsGroup; slices.Contains(all.SupplementalGroups, 0) {
			return true
		}
	}
	if own := container.SecurityContext; own != nil && own.RunAsGroup != nil {
		of = own.RunAsGroup
	}
	return of == nil || *of == 0
}

// userOf is the user that a container runs as, nil where only its image says that.
func userOf(pod *corev1.Pod, container *corev1.Container) *int64 {
	if own := container.SecurityContext; own != nil && own.RunAsUser != nil {
		return own.RunAsUser
	}
	if all := pod.Spec.SecurityContext; all != nil {
		return all.RunAsUser
	}
	return nil
}

// oneUser says that all containers name the same user: then the file with the token is that user's.
func oneUser(pod *corev1.Pod) bool {
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	first := userOf(pod, &all[0])
	return first != nil && !slices.ContainsFunc(all, func(c corev1.Container) bool {
		user := userOf(pod, &c)
		return user == nil || *user != *first
	})
}

// unreadableToken is the finding of a container that may not read its token. The group of the mend has
// the number of the user: where users are of a range, as in OpenShift, groups are of the same.
func (w *walk) unreadableToken(container *corev1.Container) Finding {
	volume, _ := volumeOf(w.pod(), container)
	user, mode := *userOf(w.pod(), container), *volume.Projected.DefaultMode
	f := Finding{
		Code: CodeTokenUnreadable, Symptom: fmt.Sprintf("container %s runs as user %d, which may not read the file of its token", container.Name, user),
		Observed: fmt.Sprintf("mode %04o of root in volume %s, and no fsGroup", mode, volume.Name), Required: "fsGroup in the pod's securityContext",
		Mend: []string{w.patch(map[string]any{"spec": map[string]any{"securityContext": map[string]any{"fsGroup": user}}}, w.restart())},
		Note: "The workload makes new pods by itself then.",
	}
	if mode&0o040 != 0 { // the image may add the user to root's group
		f.Certainty = Likely
	}
	if f.Mend[0] == w.restart() {
		f.Note = "Set spec.securityContext.fsGroup in the pod's template before."
	}
	return f
}
