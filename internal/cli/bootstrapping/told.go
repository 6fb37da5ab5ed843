package bootstrapping

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldOwner is whose the fields of a ConfigMap are that a bootstrap wrote.
const FieldOwner = "tabard.bootstrap"

// Told is the ConfigMap by which a program is told its role. The program's Deployment has the same
// name.
type Told struct {
	Client client.Client
	Key    client.ObjectKey
}

// Seen is what a person's session sees of it.
type Seen struct {
	// Namespace says that there is one to tell the program in; else nothing else is known.
	Namespace bool
	// Config is the data of the ConfigMap, empty for none, and for one that may not be read.
	Config map[string]string
	// Lacks are the rights to the ConfigMap that the person does not have.
	Lacks []string
}

// Look reads what is there. Rights are asked for only where there is a namespace to have them in.
// Who may not look may still be allowed to write.
func (t Told) Look(ctx context.Context) (out Seen, err error) {
	switch err := t.Client.Get(ctx, client.ObjectKey{Name: t.Key.Namespace}, &corev1.Namespace{}); {
	case apierrors.IsNotFound(err):
		return out, nil
	case err != nil && !apierrors.IsForbidden(err):
		return out, fmt.Errorf("read the namespace %s: %w", t.Key.Namespace, err)
	}
	out.Namespace = true
	config, err := t.Config(ctx)
	if err != nil && !apierrors.IsForbidden(err) {
		return out, err
	}
	out.Config = config.Data
	out.Lacks, err = t.lacks(ctx)
	return out, err
}

// Config is the ConfigMap, empty for none.
func (t Told) Config(ctx context.Context) (out corev1.ConfigMap, err error) {
	err = t.Client.Get(ctx, t.Key, &out)
	if apierrors.IsNotFound(err) {
		return corev1.ConfigMap{}, nil
	}
	if err != nil {
		return out, fmt.Errorf("read the ConfigMap %s: %w", t.Key, err)
	}
	return out, nil
}

// lacks are the rights to the ConfigMap that the person does not have.
func (t Told) lacks(ctx context.Context) (out []string, err error) {
	for _, verb := range []string{"get", "create", "patch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "configmaps", Namespace: t.Key.Namespace, Name: t.Key.Name},
		}}
		if err := t.Client.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("ask the cluster for your rights: %w", err)
		}
		if !review.Status.Allowed {
			out = append(out, fmt.Sprintf("%s the ConfigMap %s", verb, t.Key))
		}
	}
	return out, nil
}

// Write makes the data of the ConfigMap as given.
func (t Told) Write(ctx context.Context, data map[string]string) error {
	wanted := applycorev1.ConfigMap(t.Key.Name, t.Key.Namespace).WithData(data)
	if err := t.Client.Apply(ctx, wanted, client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
		return fmt.Errorf("write the ConfigMap %s: %w", t.Key, err)
	}
	return nil
}

// Restart replaces the program's pods, which read another ConfigMap before, by an annotation that
// has the role. It says so, or what to type for it; nothing if the program is not deployed.
func (t Told) Restart(ctx context.Context, annotation, roleARN string) string {
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{%q:%q}}}}}`, annotation, roleARN)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: t.Key.Namespace, Name: t.Key.Name}}
	err := t.Client.Patch(ctx, deployment, client.RawPatch(types.StrategicMergePatchType, []byte(patch)), client.FieldOwner(FieldOwner))
	switch {
	case err == nil:
		return fmt.Sprintf("; the pods of Deployment %s are replaced, since it has changed", t.Key)
	case apierrors.IsNotFound(err):
		return ""
	}
	return fmt.Sprintf("; it has changed, and the pods that read it could not be replaced (%v): kubectl rollout restart deployment/%s --namespace %s", err, t.Key.Name, t.Key.Namespace)
}

// SignInFirst is the error of a session that AWS does not know.
func SignInFirst(err error) error {
	return fmt.Errorf("AWS does not know your session: %w; sign in first: aws sts get-caller-identity must answer", err)
}
