package credentials

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// observeTargets reads the objects by which workloads find the request's credentials.
func (c *Controller) observeTargets(ctx context.Context, world *core.World) seen {
	out := seen{}
	for _, target := range core.Observed(world.Request, world.Grant) {
		state, object := c.observeTarget(ctx, target, core.IsOver(*world))
		world.Targets = append(world.Targets, state)
		out[target] = object
	}
	return out
}

// observeTarget reads one. The pods that use static keys are read only for a request that
// lives: a deletion leaves static keys as they are.
func (c *Controller) observeTarget(ctx context.Context, target core.Target, isOver bool) (core.TargetState, client.Object) {
	state := core.TargetState{Target: target}
	namespace, has := c.known.namespaces.Get(target.Namespace)
	if !has || namespace.DeletionTimestamp != nil {
		state.NamespaceMissing = true
		if !has {
			return state, nil
		}
	}
	object, err := c.readTarget(ctx, target)
	if err != nil {
		state.Error = unreadable(target, err)
		return state, nil
	}
	if object == nil {
		return state, nil
	}
	state.Exists, state.Deleting = true, object.GetDeletionTimestamp() != nil
	state.Labels, state.Annotations = object.GetLabels(), object.GetAnnotations()
	switch o := object.(type) {
	case *corev1.ServiceAccount:
		state.Extended = isExtended(o)
	case *corev1.Secret:
		state.Type, state.Immutable = string(o.Type), o.Immutable != nil && *o.Immutable
		state.Digests = map[string]string{}
		for key, value := range o.Data {
			state.Digests[key] = core.DataDigest(string(value))
		}
		if o.Annotations[core.RemoveStaticKeysAnnotation] == "true" && !isOver {
			if state.KeyUsers, err = c.keyUsers(ctx, o); err != nil {
				state.Error = err.Error()
			}
		}
	}
	return state, object
}

// unreadable says why a target cannot be read, and for Secrets, which the controller may
// read nowhere by itself, how to let it.
func unreadable(target core.Target, err error) string {
	if target.Kind != core.KindSecret || !apierrors.IsForbidden(err) {
		return err.Error()
	}
	return fmt.Sprintf("the controller has no right to Secrets of %s; give it to it: kubectl -n %s create rolebinding tabard-credentials-secrets --clusterrole=tabard-credentials-secrets --serviceaccount=tabard-system:tabard-credentials",
		target.Namespace, target.Namespace)
}

// readTarget reads a target; nil is none.
func (c *Controller) readTarget(ctx context.Context, target core.Target) (client.Object, error) {
	name := types.NamespacedName{Namespace: target.Namespace, Name: target.Name}
	if target.Kind == core.KindServiceAccount {
		account, err := read(ctx, c.kit.Live, name, &corev1.ServiceAccount{})
		if account == nil {
			return nil, err
		}
		return account, err
	}
	secret, err := read(ctx, c.kit.Live, name, &corev1.Secret{})
	if secret == nil {
		return nil, err
	}
	return secret, err
}

// isExtended says that somebody added to an account what Tabard does not. What OpenShift
// gives to each account by itself is not somebody's.
func isExtended(account *corev1.ServiceAccount) bool {
	automatic := func(name string) bool {
		return strings.HasPrefix(name, account.Name+"-dockercfg-") || strings.HasPrefix(name, account.Name+"-token-")
	}
	others := func(values map[string]string, ours ...string) bool {
		for key := range maps.Keys(values) {
			if !slices.Contains(ours, key) {
				return true
			}
		}
		return false
	}
	return account.AutomountServiceAccountToken != nil || len(account.OwnerReferences) > 0 || len(account.Finalizers) > 0 ||
		slices.ContainsFunc(account.ImagePullSecrets, func(r corev1.LocalObjectReference) bool { return !automatic(r.Name) }) ||
		slices.ContainsFunc(account.Secrets, func(r corev1.ObjectReference) bool { return !automatic(r.Name) }) ||
		others(account.Labels, core.ManagedLabel) ||
		others(account.Annotations, core.RoleAnnotation, core.RequestAnnotation, "openshift.io/internal-registry-pull-secret-ref")
}

// keyUsers are the pods that name a static key of a Secret.
func (c *Controller) keyUsers(ctx context.Context, secret *corev1.Secret) ([]string, error) {
	var out []string
	err := controller.Each(ctx, c.kit.Live, &corev1.PodList{}, secret.Namespace, func(object runtime.Object) error {
		if pod := object.(*corev1.Pod); usesKeys(pod, secret.Name) { //nolint:forcetypeassert // of such a list
			out = append(out, pod.Name)
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

var staticKeys = []string{"aws_access_key_id", "aws_secret_access_key"}

// usesKeys says that a pod that is not over names a static key of a Secret, in a variable
// or in a volume's items.
func usesKeys(pod *corev1.Pod, secret string) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	var items []corev1.KeyToPath
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil && volume.Secret.SecretName == secret {
			items = append(items, volume.Secret.Items...)
		}
		if volume.Projected == nil {
			continue
		}
		for _, from := range volume.Projected.Sources {
			if from.Secret != nil && from.Secret.Name == secret {
				items = append(items, from.Secret.Items...)
			}
		}
	}
	if slices.ContainsFunc(items, func(item corev1.KeyToPath) bool { return slices.Contains(staticKeys, item.Key) }) {
		return true
	}
	var variables []corev1.EnvVar
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		variables = append(variables, container.Env...)
	}
	for _, container := range pod.Spec.EphemeralContainers {
		variables = append(variables, container.Env...)
	}
	return slices.ContainsFunc(variables, func(v corev1.EnvVar) bool {
		from := v.ValueFrom
		return from != nil && from.SecretKeyRef != nil && from.SecretKeyRef.Name == secret && slices.Contains(staticKeys, from.SecretKeyRef.Key)
	})
}
