package chain

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/injection"
)

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
	case found != nil && found.Cause == injection.Hidden && w.own != nil && w.fixedToken(w.own) != "":
		return Step{State: Unreached, Text: "the pod has a token, and not that which a webhook injects"}
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
		f.Note = "Take the label " + injection.SkipLabel + " out of the pod's template before."
	case injection.LetThrough, injection.Unclear:
		f.Code, f.Symptom = CodeNotInjected, "the pod runs without the role that its ServiceAccount names"
		switch {
		case w.identified() != nil:
		case w.NewPod.Value != nil:
			f.Note = "Mend the webhook before: today a new pod is without it too."
		default:
			f.Note = "If the new pod is without it too, the webhook does not answer: kubectl get mutatingwebhookconfigurations shows whether there is one."
		}
	}
	return f
}
