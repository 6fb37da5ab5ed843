package webhook

import (
	"github.com/tabard-dev/tabard/internal/core/inject"
)

// The verbosity of the one line about a pod, as with EKS's webhook: -v=3 tells of pods
// that are changed, or that do not start as they should, -v=4 of all others, too.
const (
	changedVerbosity   = 3
	unchangedVerbosity = 4
)

// Bounds of names in the log, in bytes: who asks has not checked them. Kubernetes: a
// DNS subdomain. The other is that of a text that says why.
const (
	maxLoggedName = 253
	maxLoggedText = 512
)

// tell logs what was decided about a pod, and why: nothing of a request but names, and
// of ServiceAccounts what warnings tell everybody.
func (m *mutator) tell(namespace, account string, pod inject.Pod, found verdict) {
	outcome, level := found.outcome(), changedVerbosity
	if outcome == unchanged {
		level = unchangedVerbosity
	}
	log := m.log.V(level)
	if !log.Enabled() {
		return
	}
	log.Info("pod", "cloud", m.cloud, "required", m.demand != optional,
		"namespace", cut(namespace, maxLoggedName), "name", cut(pod.Metadata.Get("name").Text(), maxLoggedName),
		"generateName", cut(pod.Metadata.Get("generateName").Text(), maxLoggedName), "serviceAccount", cut(account, maxLoggedName),
		"outcome", outcome, "reason", found.Reason, "method", found.Method,
		"identity", cut(found.Identity, maxLoggedText), "source", found.Source,
		"warnings", found.Warnings, "problem", cut(found.refusal+found.problem, maxLoggedText), "patchBytes", len(found.Patch))
}

// cut bounds a text.
func cut(text string, most int) string {
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
