package chain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/line"
)

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
