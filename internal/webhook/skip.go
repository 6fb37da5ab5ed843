package webhook

import (
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// skipLabels are those by which pods leave themselves out, by cloud. The hooks'
// selectors heed them; Azure's pods say that they want to be in.
var skipLabels = map[string]string{
	cloudAWS:    "eks.amazonaws.com/skip-pod-identity-webhook",
	cloudGoogle: "cloud.google.com/skip-pod-identity-webhook",
}

// adviseSkipping warns the author of a pod that wants to be left out and gets its
// identity all the same: where it is required a pod cannot do without by itself, or
// required would be what each pod makes of it.
func (m *mutator) adviseSkipping(pod inject.Pod, namespace string, result *inject.Result) {
	label := skipLabels[m.cloud]
	if m.demand != required || result.Method == inject.NoMethod || pod.Labels.Get(label).Kind() == raw.Absent {
		return
	}
	warnings := podpatch.Warnings(result.Warnings)
	warnings.Add("label %s does not count: namespace %.63q requires identities. An administrator can let it count: kubectl label namespace %.63s tabard.dev/injection-skip=allowed",
		label, namespace, namespace)
	result.Warnings = warnings
}
