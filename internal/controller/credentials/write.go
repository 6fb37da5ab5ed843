package credentials

import (
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// What is changed here is locked to the version that the pass has read: what somebody
// else has changed since is decided on anew.

func (p *pass) create(ctx context.Context, object client.Object) error {
	return p.kit.Client.Create(ctx, object, client.FieldOwner(p.kit.Owner))
}

// patch changes what was read of a target.
func patch[T client.Object](ctx context.Context, p *pass, target core.Target, change func(T)) error {
	stored, is := p.seen[target].(T)
	if !is {
		return gone(target)
	}
	wanted := stored.DeepCopyObject().(T) //nolint:forcetypeassert // a copy is of the same type
	change(wanted)
	return p.kit.Client.Patch(ctx, wanted, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}), client.FieldOwner(p.kit.Owner))
}

// gone is a conflict: what was to be changed is not what was decided on.
func gone(target core.Target) error {
	return apierrors.NewConflict(corev1.Resource(strings.ToLower(target.Kind)+"s"), target.Name, errors.New("it was not there when it was decided on"))
}

// remove deletes a target as it was read.
func (p *pass) remove(ctx context.Context, target core.Target) error {
	stored := p.seen[target]
	if stored == nil {
		return nil
	}
	uid, version := stored.GetUID(), stored.GetResourceVersion()
	return client.IgnoreNotFound(p.kit.Client.Delete(ctx, stored, client.Preconditions{UID: &uid, ResourceVersion: &version}))
}

// isOf says that a target that was read is the request's.
func (p *pass) isOf(target core.Target, request string) bool {
	stored := p.seen[target]
	return stored != nil && (stored.GetAnnotations()[core.RequestAnnotation] == request || stored.GetAnnotations()[cloudv1.RequestKey] == request)
}

func (p *pass) writeAccount(ctx context.Context, s core.WriteServiceAccount) error {
	marks := map[string]string{core.RoleAnnotation: s.RoleARN, core.RequestAnnotation: s.Request}
	if s.Create {
		return p.create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Target.Namespace, Name: s.Target.Name, Annotations: marks, Labels: map[string]string{core.ManagedLabel: "true"},
		}})
	}
	return patch(ctx, p, s.Target, func(o *corev1.ServiceAccount) { o.Annotations = with(o.Annotations, marks) })
}

func (p *pass) clearAccount(ctx context.Context, s core.ClearServiceAccount) error {
	if !p.isOf(s.Target, s.Request) {
		return nil
	}
	if s.Delete {
		return p.remove(ctx, s.Target)
	}
	return client.IgnoreNotFound(patch(ctx, p, s.Target, func(o *corev1.ServiceAccount) {
		delete(o.Annotations, core.RoleAnnotation)
		delete(o.Annotations, core.RequestAnnotation)
		delete(o.Labels, core.ManagedLabel)
	}))
}

func (p *pass) writeSecret(ctx context.Context, s core.WriteSecret) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Target.Namespace, Name: s.Target.Name}, Type: corev1.SecretTypeOpaque}
	write := func(o *corev1.Secret) {
		o.Labels = with(o.Labels, map[string]string{core.ManagedLabel: "true"})
		o.Annotations = with(o.Annotations, map[string]string{core.RequestAnnotation: s.Request})
		if s.CCO {
			o.Labels[cloudv1.RequestKey], o.Annotations[cloudv1.RequestKey] = "true", s.Request
		}
		remove(o, s.Remove)
		if o.Data == nil {
			o.Data = map[string][]byte{}
		}
		for key, value := range s.Data.Map() {
			o.Data[key] = []byte(value)
		}
	}
	if s.Create {
		write(secret)
		return p.create(ctx, secret)
	}
	return patch(ctx, p, s.Target, write)
}

func (p *pass) clearSecret(ctx context.Context, s core.ClearSecret) error {
	if !p.isOf(s.Target, s.Request) {
		return nil
	}
	if s.Delete {
		return p.remove(ctx, s.Target)
	}
	return client.IgnoreNotFound(patch(ctx, p, s.Target, func(o *corev1.Secret) {
		remove(o, s.Remove)
		for _, key := range []string{core.RequestAnnotation, core.ManagedLabel, cloudv1.RequestKey} {
			delete(o.Annotations, key)
			delete(o.Labels, key)
		}
	}))
}

// remove takes keys, joined by commas, out of a Secret.
func remove(secret *corev1.Secret, keys string) {
	for key := range strings.SplitSeq(keys, ",") {
		delete(secret.Data, key)
	}
}

func with(values, more map[string]string) map[string]string {
	if values == nil {
		values = map[string]string{}
	}
	for key, value := range more {
		values[key] = value
	}
	return values
}
