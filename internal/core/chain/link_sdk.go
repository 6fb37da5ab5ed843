package chain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
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
		if keys := keysOf(container); len(keys) > 0 {
			return broken(w.staticKeys(container, keys))
		}
	}
	return Step{State: Sound, Text: "no variable of the pod has stored keys, which an SDK would take first; envFrom, files and images are not seen"}
}

// keysOf are the variables of a container that have a stored key. Charts write them empty where there is
// none.
func keysOf(container *corev1.Container) (out []corev1.EnvVar) {
	for _, name := range earlier {
		if variable := variableOf(container, name); variable != nil && (variable.Value != "" || variable.ValueFrom != nil) {
			out = append(out, *variable)
		}
	}
	return out
}

// staticKeys is the finding of a container with stored keys. Of one key alone, some SDKs make nothing; and
// what is optional may not be there.
func (w *walk) staticKeys(container *corev1.Container, keys []corev1.EnvVar) Finding {
	f := Finding{
		Code: CodeStaticKeys, Symptom: fmt.Sprintf("container %s has stored keys, which the SDKs take before the role", container.Name),
		Observed: keys[0].Name + sourceOf(keys[0]), Required: "no stored keys",
	}
	var remove []string
	for _, name := range append(slices.Clone(earlier), "AWS_SESSION_TOKEN") {
		if variableOf(container, name) != nil {
			remove = append(remove, name)
		}
	}
	command, note := w.unset(container, remove...)
	f.Mend, f.Note = []string{command}, note
	if len(keys) < len(earlier) || slices.ContainsFunc(keys, isOptional) {
		f.Certainty = Likely
	}
	return f
}

// isOptional says that a variable is not set where the key it is to come from is missing.
func isOptional(v corev1.EnvVar) bool {
	is := func(optional *bool) bool { return optional != nil && *optional }
	return v.ValueFrom != nil && (v.ValueFrom.SecretKeyRef != nil && is(v.ValueFrom.SecretKeyRef.Optional) || v.ValueFrom.ConfigMapKeyRef != nil && is(v.ValueFrom.ConfigMapKeyRef.Optional))
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
