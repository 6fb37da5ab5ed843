package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/core/line"
)

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

func (w *walk) injection() Step {
	if step, ends := w.noPod(); ends {
		return step
	}
	pod := w.pod()
	switch {
	case w.Account.Unread != "":
		return Step{State: Unreached, Text: "what the ServiceAccount asks for today was not read"}
	case w.asked.RoleARN == "":
		return Step{State: Sound, Text: "the pod was written with its role by hand, or by another webhook"}
	}
	_, examiner := deciders()
	trimmed, err := examiner.Trim(pod)
	if err != nil {
		return unseen("what the pod lacks", err.Error(), "a shorter pod")
	}
	found, err := examiner.Examine(trimmed, examiner.TrimAccount(w.Account.Value), time.Time{})
	switch {
	case err != nil:
		return unseen("what the pod lacks", err.Error(), "a pod as the API has it")
	case found != nil:
		return broken(w.notInjected(found))
	case w.own == nil:
		return Step{State: Sound, Text: "the pod asks for no identity, or is over"}
	}
	if has := valueOf(w.own, roleVariable); has != w.role {
		return broken(Finding{
			Code: CodeStaleRole, Symptom: "the pod has another role than its ServiceAccount names today",
			Observed: has + " in container " + w.own.Name, Required: w.role, Mend: []string{w.restart()},
			Note: "If the pod's template sets " + roleVariable + " itself, take it out there.",
		})
	}
	if has := w.audienceIn(w.own); has != "" && has != w.asked.Audience {
		return broken(Finding{
			Code: CodeStaleAudience, Symptom: "the pod's token has another audience than its ServiceAccount asks for today",
			Observed: has, Required: w.asked.Audience, Mend: []string{w.restart()},
		})
	}
	return Step{State: Sound, Text: "the pod has the role and the token that its ServiceAccount asks for today"}
}

// notInjected is the finding of a pod without its identity.
func (w *walk) notInjected(found *injection.Finding) Finding {
	f := Finding{
		Observed: "nothing of AWS in " + strings.Join(found.Containers, ", "), Required: roleVariable + "=" + w.role + " and a token for " + w.audience,
		Mend: []string{w.restart()},
	}
	switch found.Cause {
	case injection.TooEarly:
		f.Code, f.Symptom = CodeTooEarly, "the pod was created before its ServiceAccount was annotated, and runs without the role"
	case injection.Hidden:
		f.Code, f.Symptom = CodeTokenHidden, tokenVariable+" tells the container of a token that no volume brings there"
		f.Observed, f.Required = "no token at "+valueOf(cmp.Or(w.own, &corev1.Container{}), tokenVariable), "a projected token there"
		f.Note = "Mount nothing else in its place before."
	case injection.Skipped:
		f.Code, f.Symptom = CodeSkipped, "a label of the pod asks the webhook to leave it out"
		f.Note = "Take the label eks.amazonaws.com/skip-pod-identity-webhook out of the pod's template before."
	case injection.LetThrough, injection.Unclear:
		f.Code, f.Symptom = CodeNotInjected, "the pod runs without the role that its ServiceAccount names"
		f.Note = "If the new pod is without it too, the webhook does not answer: kubectl get mutatingwebhookconfigurations shows whether there is one."
	}
	return f
}

// apiTokenFolder has the token that is for the API server alone.
const apiTokenFolder = "/var/run/secrets/kubernetes.io/serviceaccount/"

func (w *walk) token() Step {
	if step, ends := w.noPod(); ends {
		return step
	}
	if w.own == nil {
		return Step{State: Unreached, Text: "the pod has no token for AWS"}
	}
	file := valueOf(w.own, tokenVariable)
	token := w.tokenIn(w.own)
	switch {
	case strings.HasPrefix(file, apiTokenFolder) || token != nil && token.Audience == "":
		return broken(Finding{
			Code: CodeAPIToken, Symptom: "the container shows AWS the token that is for the API server",
			Observed: tokenVariable + "=" + file, Required: "a projected token with the audience " + w.audience,
			Mend: w.leaveToWebhook(roleVariable, tokenVariable), Note: byWebhook,
		})
	case token == nil && file == "":
		return broken(Finding{
			Code: CodeNoToken, Symptom: fmt.Sprintf("container %s has a role and is told of no token", w.own.Name),
			Observed: "no " + tokenVariable, Required: "a projected token with the audience " + w.audience,
			Mend: w.leaveToWebhook(roleVariable), Note: byWebhook,
		})
	case token == nil:
		return unseen("the token at "+file, "no projected volume of the pod brings it", "a look into the container")
	}
	return Step{State: Sound, Text: fmt.Sprintf("sub %s, aud %s, at %s", w.tokenSubject(), token.Audience, file)}
}

const byWebhook = "The webhook puts the role and a token in place of what is taken out."

// leaveToWebhook are the commands by which the webhook injects what a template says by hand. The
// ServiceAccount comes first: the other command makes new pods.
func (w *walk) leaveToWebhook(variables ...string) []string {
	take := "set env " + line.Word(w.workload()) + " -c " + line.Word(w.own.Name)
	for _, name := range variables {
		take += " " + name + "-"
	}
	return []string{w.annotate(w.role), w.kubectl(take)}
}

// workload is what has the pod's template.
func (w *walk) workload() string {
	if name := injection.Workload(w.pod()); name != "" {
		return name
	}
	return "pod/" + w.subject.Pod
}

// earlier are the variables that the SDKs look at before a web identity
// (https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html).
var earlier = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}

func (w *walk) sdk() Step {
	if step, ends := w.noPod(); ends {
		return step
	}
	pod := w.pod()
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		if valueOf(container, roleVariable) == "" {
			continue // its keys may be for something else than the role
		}
		at := slices.IndexFunc(container.Env, func(v corev1.EnvVar) bool { return slices.Contains(earlier, v.Name) })
		if at < 0 {
			continue
		}
		remove := ""
		for _, variable := range container.Env {
			if slices.Contains(earlier, variable.Name) || variable.Name == "AWS_SESSION_TOKEN" {
				remove += " " + variable.Name + "-"
			}
		}
		return broken(Finding{
			Code: CodeStaticKeys, Symptom: fmt.Sprintf("container %s has stored keys, which the SDKs take before the role", container.Name),
			Observed: container.Env[at].Name + sourceOf(container.Env[at]), Required: "no stored keys",
			Mend: []string{w.kubectl(fmt.Sprintf("set env %s -c %s%s", line.Word(w.workload()), line.Word(container.Name), remove))},
		})
	}
	return Step{State: Sound, Text: "no variable of the pod has stored keys, which an SDK would take first; envFrom, files and images are not seen"}
}

// sourceOf says where a variable's value comes from, without the value.
func sourceOf(v corev1.EnvVar) string {
	switch {
	case v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil:
		return " from Secret " + v.ValueFrom.SecretKeyRef.Name
	case v.ValueFrom != nil && v.ValueFrom.ConfigMapKeyRef != nil:
		return " from ConfigMap " + v.ValueFrom.ConfigMapKeyRef.Name
	}
	return " in the pod's template"
}
