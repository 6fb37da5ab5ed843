package chain

import (
	"crypto/x509"
	"encoding/pem"
	"maps"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/injection"
)

// Hook is one that the API server asks about new pods.
type Hook struct {
	// Configuration is the MutatingWebhookConfiguration that the hook of this Name is in.
	Configuration string `json:"configuration"`
	Name          string `json:"name"`
	// Path is where it is called. Namespace and Service are empty for one that is called by URL.
	Path      string `json:"path,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Service   string `json:"service,omitempty"`
	// Namespaces and Objects select what it is asked about; nil for everything.
	Namespaces *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	Objects    *metav1.LabelSelector `json:"objectSelector,omitempty"`
	// Conditions says that it has matchConditions, which may leave pods out.
	Conditions bool `json:"matchConditions,omitempty"`
	// FailurePolicy is Ignore where pods pass without an answer.
	FailurePolicy string `json:"failurePolicy,omitempty"`
	// Bundle says that it has a caBundle. Until is when the last certificate in that expires, nil for a
	// bundle without any, and Expired says that this was past when the hook was read.
	Bundle  bool         `json:"caBundle,omitempty"`
	Until   *metav1.Time `json:"caBundleUntil,omitempty"`
	Expired bool         `json:"caBundleExpired,omitempty"`
}

// PruneHooks is what of the configurations is evidence: the hooks that are asked when a pod is created.
// The time is that at which they were read.
func PruneHooks(configurations []admissionv1.MutatingWebhookConfiguration, at time.Time) []Hook {
	kept := []Hook{}
	for i := range configurations {
		for _, each := range configurations[i].Webhooks {
			if !slices.ContainsFunc(each.Rules, isAboutNewPods) {
				continue
			}
			hook := Hook{
				Configuration: configurations[i].Name, Name: each.Name, Path: injection.PathOf(each.ClientConfig),
				Namespaces: each.NamespaceSelector, Objects: each.ObjectSelector, Conditions: len(each.MatchConditions) > 0,
				Bundle: len(each.ClientConfig.CABundle) > 0,
			}
			if service := each.ClientConfig.Service; service != nil {
				hook.Namespace, hook.Service = service.Namespace, service.Name
			}
			if each.FailurePolicy != nil {
				hook.FailurePolicy = string(*each.FailurePolicy)
			}
			if until := lastOf(each.ClientConfig.CABundle); !until.IsZero() {
				hook.Until, hook.Expired = &metav1.Time{Time: until}, until.Before(at)
			}
			kept = append(kept, hook)
		}
	}
	return kept
}

// isAboutNewPods says that a rule is about the creation of pods
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-rules).
func isAboutNewPods(rule admissionv1.RuleWithOperations) bool {
	has := func(all []string, names ...string) bool {
		return slices.ContainsFunc(all, func(one string) bool { return slices.Contains(names, one) })
	}
	return has(rule.APIGroups, "", "*") && has(rule.APIVersions, "v1", "*") && has(rule.Resources, "pods", "*", "*/*") &&
		(slices.Contains(rule.Operations, admissionv1.Create) || slices.Contains(rule.Operations, admissionv1.OperationAll))
}

// lastOf is when the last certificate of a bundle expires, zero for a bundle without any.
func lastOf(bundle []byte) (until time.Time) {
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && certificate.NotAfter.After(until) {
			until = certificate.NotAfter
		}
	}
	return until
}

// NewPod is the pod by which the API server is asked, by dry run, whether a webhook gives new pods of the
// ServiceAccount their identity; nil where no annotation asks for one. It has the labels of the pod that
// is asked about, by which hooks select, but for the one that asks the webhook to leave it out: that is
// the pod's own. It is as harmless as the strictest Pod Security Standard wants, and has requests and
// limits, so that quotas and policies let it pass
// (https://kubernetes.io/docs/concepts/security/pod-security-standards/). It names no user: OpenShift
// takes only those of the namespace's range.
func NewPod(e Evidence) *corev1.Pod {
	w := newWalk(e)
	if _, asks := w.asksWebhook(); !asks {
		return nil
	}
	labels := map[string]string{}
	if pod := w.pod(); pod != nil {
		maps.Copy(labels, pod.Labels)
		delete(labels, injection.SkipLabel)
	}
	little := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceEphemeralStorage: resource.MustParse("64Mi"),
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.subject.Namespace, GenerateName: "tabard-explain-", Labels: labels},
		Spec: corev1.PodSpec{
			ServiceAccountName: w.subject.Account, AutomountServiceAccountToken: new(bool),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{
				Name: "none", Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{Requests: little, Limits: little},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(bool), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
