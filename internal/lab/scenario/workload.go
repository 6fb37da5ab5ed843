package scenario

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/tabard-dev/tabard/internal/lab/workload"
)

// patience is how long controllers and the webhook may take, on a machine with much else to do.
const patience = 2 * time.Minute

// callKey is the namespace's annotation that says what the workload reads.
const callKey = "tabard.dev/scenario-call"

// workload makes the workload anew, and waits for a pod with its role.
func (s *shop) workload(ctx context.Context) error {
	core, now := s.kube.CoreV1(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	for _, err := range []error{
		s.kube.AppsV1().Deployments(Namespace).Delete(ctx, Workload, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}),
		core.ServiceAccounts(Namespace).Delete(ctx, Workload, now), core.Secrets(Namespace).Delete(ctx, copied, now),
	} {
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	_, err := s.kube.CoreV1().ServiceAccounts(Namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Name: Workload, Annotations: map[string]string{roleKey: s.role},
	}}, metav1.CreateOptions{FieldManager: "helm"})
	if err != nil {
		return err
	}
	if err := s.until(ctx, "the former Deployment is deleted", func(ctx context.Context) (bool, error) {
		_, err := s.kube.AppsV1().Deployments(Namespace).Create(ctx, s.deployment(), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return false, nil
		}
		return err == nil, err
	}); err != nil {
		return err
	}
	return s.restartUntil(ctx, s.role)
}

func (s *shop) deployment() *appsv1.Deployment {
	labels := map[string]string{"app": Workload}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: Workload}, Spec: appsv1.DeploymentSpec{
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				ServiceAccountName: Workload, TerminationGracePeriodSeconds: new(int64),
				Containers: []corev1.Container{{Name: container, Image: "registry.k8s.io/pause:3.10"}},
			},
		},
	}}
}

// namespace makes the namespace, which knows what the workload reads.
func (s *shop) namespace(ctx context.Context, call string) error {
	all := s.kube.CoreV1().Namespaces()
	of := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace, Annotations: map[string]string{callKey: call}}}
	_, err := all.Create(ctx, of, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := all.Get(ctx, Namespace, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if found.DeletionTimestamp != nil {
			return fmt.Errorf("the namespace %s is being deleted; type this again in a moment", Namespace)
		}
		delete(found.Labels, labelKey)
		metav1.SetMetaDataAnnotation(&found.ObjectMeta, callKey, call)
		_, err = all.Update(ctx, found, metav1.UpdateOptions{})
		return err
	})
}

// deleteNamespace deletes the workload, and waits for it.
func (s *shop) deleteNamespace(ctx context.Context) error {
	if err := s.kube.CoreV1().Namespaces().Delete(ctx, Namespace, metav1.DeleteOptions{}); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	return s.until(ctx, "the namespace "+Namespace+" is deleted", func(ctx context.Context) (bool, error) {
		_, err := s.kube.CoreV1().Namespaces().Get(ctx, Namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

// annotate makes the ServiceAccount's annotations these, as somebody who writes it whole.
func (s *shop) annotate(ctx context.Context, manager string, annotations map[string]string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := s.kube.CoreV1().ServiceAccounts(Namespace).Get(ctx, Workload, metav1.GetOptions{})
		if err != nil {
			return err
		}
		found.Annotations = annotations
		_, err = s.kube.CoreV1().ServiceAccounts(Namespace).Update(ctx, found, metav1.UpdateOptions{FieldManager: manager})
		return err
	})
}

// change changes the pod's template, and waits for the new pod.
func (s *shop) change(ctx context.Context, change func(*corev1.PodTemplateSpec)) error {
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := s.kube.AppsV1().Deployments(Namespace).Get(ctx, Workload, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&found.Spec.Template)
		_, err = s.kube.AppsV1().Deployments(Namespace).Update(ctx, found, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
		return err
	}); err != nil {
		return err
	}
	return s.until(ctx, "the Deployment has its new pod, and no other one", func(ctx context.Context) (bool, error) {
		found, err := s.kube.AppsV1().Deployments(Namespace).Get(ctx, Workload, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		pods, err := s.kube.CoreV1().Pods(Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + Workload})
		return err == nil && found.Status.ObservedGeneration >= found.Generation && found.Status.UpdatedReplicas == 1 && found.Status.Replicas == 1 && len(pods.Items) == 1, err
	})
}

// restart starts the pod anew.
func (s *shop) restart(ctx context.Context) error {
	return s.change(ctx, func(template *corev1.PodTemplateSpec) {
		metav1.SetMetaDataAnnotation(&template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", time.Now().Format(time.RFC3339Nano))
	})
}

// restartUntil starts the pod anew until it has a role, or none: API servers and the webhook see a
// change a moment later.
func (s *shop) restartUntil(ctx context.Context, role string) error {
	return s.until(ctx, "a new pod has the role "+role, func(ctx context.Context) (bool, error) {
		if err := s.restart(ctx); err != nil {
			return false, err
		}
		pod, err := workload.Find(ctx, s.kube, Namespace, "deployment/"+Workload)
		if err != nil {
			return false, err
		}
		at := slices.IndexFunc(pod.Spec.Containers[0].Env, func(v corev1.EnvVar) bool { return v.Name == roleVariable })
		return at < 0 && role == "" || at >= 0 && pod.Spec.Containers[0].Env[at].Value == role, nil
	})
}

// until asks again and again.
func (s *shop) until(ctx context.Context, what string, ask func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, ask); err != nil {
		return fmt.Errorf("wait until %s: %w", what, err)
	}
	return nil
}
