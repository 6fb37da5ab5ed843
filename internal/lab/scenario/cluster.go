package scenario

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// ofCluster are the scenarios in which ServiceAccount or webhook are wrong.
func ofCluster() []Scenario {
	return []Scenario{
		{Name: "p06", Title: "the Deployment was created before its ServiceAccount was annotated", Code: chain.CodeTooEarly, plant: (*shop).tooEarly},
		{Name: "p07", Title: "the webhook was away when the pod was created", Code: chain.CodeNotInjected, plant: (*shop).withoutWebhook},
		{Name: "p07-label", Title: "the webhook was installed for labelled namespaces alone", Code: chain.CodeNotAsked, plant: (*shop).labelledAlone},
		{Name: "p09", Title: "the ServiceAccount got another role, and its pods were not started anew", Code: chain.CodeStaleRole, plant: (*shop).staleRole},
		{Name: "p11", Title: "an installer wrote the ServiceAccount again, without what others had added", Code: chain.CodeNoRole, plant: func(s *shop, ctx context.Context) error {
			return s.reannotate(ctx, "olm", nil)
		}},
		{Name: "p11-key", Title: "the annotation was typed by hand", Code: chain.CodeAnnotationSlip, plant: func(s *shop, ctx context.Context) error {
			return s.reannotate(ctx, "kubectl-edit", map[string]string{"eks.amazonaws.com/role_arn": s.role})
		}},
		{Name: "p11-arn", Title: "the annotation has the name of the role", Code: chain.CodeRoleARN, plant: func(s *shop, ctx context.Context) error {
			return s.reannotate(ctx, "kubectl-edit", map[string]string{roleKey: RoleName})
		}},
	}
}

// reannotate sets the ServiceAccount's annotations, and starts the pods anew.
func (s *shop) reannotate(ctx context.Context, manager string, annotations map[string]string) error {
	if err := s.annotate(ctx, manager, annotations); err != nil {
		return err
	}
	return s.restart(ctx)
}

// tooEarly annotates the ServiceAccount after its pod was created, by server-side apply as Flux and Argo
// CD do: of other writers, API servers do not note when they wrote a ServiceAccount.
func (s *shop) tooEarly(ctx context.Context) error {
	if err := s.reannotate(ctx, "helm", nil); err != nil {
		return err
	}
	if err := pause(ctx); err != nil { // times of objects have whole seconds
		return err
	}
	_, err := s.kube.CoreV1().ServiceAccounts(Namespace).Apply(ctx,
		applycorev1.ServiceAccount(Workload, Namespace).WithAnnotations(map[string]string{roleKey: s.role}), metav1.ApplyOptions{FieldManager: "argocd-controller", Force: true})
	return err
}

// staleRole starts a pod with a former role.
func (s *shop) staleRole(ctx context.Context) error {
	if err := s.reannotate(ctx, "helm", map[string]string{roleKey: s.role + "-former"}); err != nil {
		return err
	}
	return s.annotate(ctx, "helm", map[string]string{roleKey: s.role})
}

// withoutWebhook starts a pod while the webhook's configuration is away.
func (s *shop) withoutWebhook(ctx context.Context) error {
	if err := s.keepWebhook(ctx); err != nil {
		return err
	}
	err := s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(ctx, webhookName, metav1.DeleteOptions{})
	if err == nil {
		err = s.restartUntil(ctx, "")
	}
	return errors.Join(err, s.webhookBack(context.WithoutCancel(ctx))) // also where somebody has interrupted it
}

// labelKey is a label that namespaces do not have.
const labelKey = "identity"

// labelledAlone makes the API server ask the webhook about pods of labelled namespaces alone.
func (s *shop) labelledAlone(ctx context.Context) error {
	if err := s.keepWebhook(ctx); err != nil {
		return err
	}
	if err := s.changeWebhook(ctx, func(selector *metav1.LabelSelector) { metav1.AddLabelToSelector(selector, labelKey, "on") }); err != nil {
		return err
	}
	return s.restartUntil(ctx, "")
}
