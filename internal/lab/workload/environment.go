package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Environment is a set of variables.
type Environment map[string]string

// List returns the variables as NAME=VALUE, in order.
func (environment Environment) List() []string {
	out := make([]string, 0, len(environment))
	for _, name := range sorted(environment) {
		out = append(out, name+"="+environment[name])
	}
	return out
}

// environmentOf computes a container's variables as a kubelet does: envFrom,
// then env, each value expanded with what is known by then, then the service
// variables, where the container does not set them itself.
func environmentOf(ctx context.Context, pod *corev1.Pod, container *corev1.Container, objects Objects, services Environment) (Environment, error) {
	known := Environment{}
	for _, source := range container.EnvFrom {
		if err := known.addAll(ctx, source, objects); err != nil {
			return nil, err
		}
	}
	lookup := func(name string) (string, bool) {
		if value, ok := known[name]; ok {
			return value, true
		}
		value, ok := services[name]
		return value, ok
	}
	for _, variable := range container.Env {
		if variable.Value != "" || variable.ValueFrom == nil {
			known[variable.Name] = expand(variable.Value, lookup)
			continue
		}
		value, found, err := valueOf(ctx, pod, variable.ValueFrom, objects)
		if err != nil {
			return nil, fmt.Errorf("the variable %s: %w", variable.Name, err)
		}
		if found {
			known[variable.Name] = value
		}
	}
	for name, value := range services {
		if _, isSet := known[name]; !isSet {
			known[name] = value
		}
	}
	return known, nil
}

// addAll adds every entry of a ConfigMap or Secret.
func (environment Environment) addAll(ctx context.Context, source corev1.EnvFromSource, objects Objects) error {
	switch {
	case source.ConfigMapRef != nil:
		object, err := objects.ConfigMap(ctx, source.ConfigMapRef.Name)
		if isAbsent(err, source.ConfigMapRef.Optional) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the variables of the ConfigMap %s: %w", source.ConfigMapRef.Name, err)
		}
		for key, value := range object.Data {
			environment[source.Prefix+key] = value
		}
	case source.SecretRef != nil:
		object, err := objects.Secret(ctx, source.SecretRef.Name)
		if isAbsent(err, source.SecretRef.Optional) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the variables of the Secret %s: %w", source.SecretRef.Name, err)
		}
		for key, value := range object.Data {
			environment[source.Prefix+key] = string(value)
		}
	}
	return nil
}

// valueOf resolves one source; false if it is absent and may be.
func valueOf(ctx context.Context, pod *corev1.Pod, source *corev1.EnvVarSource, objects Objects) (string, bool, error) {
	switch {
	case source.FieldRef != nil:
		value, err := field(pod, source.FieldRef.FieldPath)
		return value, true, err
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		object, err := objects.ConfigMap(ctx, ref.Name)
		if err != nil {
			return absent(err, ref.Optional)
		}
		value, found := object.Data[ref.Key]
		return value, found, missingKey("ConfigMap", ref.Name, ref.Key, found, ref.Optional)
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		object, err := objects.Secret(ctx, ref.Name)
		if err != nil {
			return absent(err, ref.Optional)
		}
		value, found := object.Data[ref.Key]
		return string(value), found, missingKey("Secret", ref.Name, ref.Key, found, ref.Optional)
	case source.ResourceFieldRef != nil:
		return "", false, fmt.Errorf("resourceFieldRef %s is not supported: there is no container here with limits", source.ResourceFieldRef.Resource)
	}
	return "", false, fmt.Errorf("its source is of a kind that is not supported; fieldRef, configMapKeyRef and secretKeyRef are")
}

func isAbsent(err error, optional *bool) bool {
	return apierrors.IsNotFound(err) && optional != nil && *optional
}

func absent(err error, optional *bool) (string, bool, error) {
	if isAbsent(err, optional) {
		return "", false, nil
	}
	return "", false, err
}

func missingKey(kind, name, key string, found bool, optional *bool) error {
	if found || (optional != nil && *optional) {
		return nil
	}
	return fmt.Errorf("the %s %s has no key %q", kind, name, key)
}
