package chain

import (
	"cmp"
	"slices"
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
	case w.isOver():
		return Step{State: Sound, Text: "the pod is over"}
	case w.own == nil:
		for _, container := range containersOf(pod) {
			if variable := variableOf(container, roleVariable); variable != nil && variable.ValueFrom != nil {
				return unseen("which role container "+container.Name+" has", roleVariable+" comes"+sourceOf(*variable)+", which is not read", inContainer)
			}
		}
		return Step{State: Sound, Text: "the pod asks for no identity, or is over"}
	}
	return w.stale()
}

// stale is the step of a pod with an identity, which may be one of former days.
func (w *walk) stale() Step {
	has := valueOf(w.own, roleVariable)
	switch {
	case isExpanded(has):
		return unseen("which role container "+w.own.Name+" has", "the kubelet puts other variables into "+roleVariable+"="+has, inContainer)
	case has != w.role:
		return broken(Finding{
			Code: CodeStaleRole, Symptom: "the pod has another role than its ServiceAccount names today",
			Observed: has + " in container " + w.own.Name, Required: w.role, Mend: []string{w.restart()},
			Note: "If the pod's template sets " + roleVariable + " itself, take it out there.",
		})
	}
	audience := w.audienceIn(w.own)
	asked, said := w.newAudience()
	if audience != "" && audience != asked && !w.isByHand() {
		if !said && w.accepts(audience) {
			return Step{State: Sound, Text: "the pod has the role that its ServiceAccount asks for today, and a token with the audience " + audience + ", which the provider accepts"}
		}
		f := Finding{
			Code: CodeStaleAudience, Symptom: "the pod's token has another audience than its ServiceAccount asks for today",
			Observed: audience, Required: asked, Mend: []string{w.restart()},
		}
		if !said {
			f.Certainty, f.Note = Likely, "It is well if the webhook gives all its tokens the audience "+audience+", by its flag --token-audience."
		}
		return broken(f)
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
		f.Certainty = Likely // the time is when the annotation's manager last changed anything of the ServiceAccount
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
		if w.hasMore(found.Containers) {
			f.Certainty = Likely
			f.Note = strings.TrimSpace(f.Note + " Variables of envFrom are not read: they may name a role.")
		}
	}
	return f
}

// hasMore says that one of some containers has variables of envFrom.
func (w *walk) hasMore(names []string) bool {
	return slices.ContainsFunc(containersOf(w.pod()), func(c *corev1.Container) bool {
		return len(c.EnvFrom) > 0 && slices.Contains(names, c.Name)
	})
}
