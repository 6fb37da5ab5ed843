package injection

import (
	"fmt"
	"net/url"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// SkipLabel is the label by which the hooks that are shipped leave a pod alone. Where
// a namespace requires identities they do so only if it allows that, too.
const SkipLabel = "eks.amazonaws.com/skip-pod-identity-webhook"

// The labels of namespaces that the shipped hooks look at, and their values.
const (
	modeLabel, required      = "tabard.dev/injection", "required"
	skippingLabel, permitted = "tabard.dev/injection-skip", "allowed"
)

// shipped are the hooks as they are shipped, as far as they say whom the webhook is
// asked about.
func shipped() (Hooks, error) {
	skip := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: SkipLabel, Operator: metav1.LabelSelectorOpDoesNotExist}}}
	strict := metav1.LabelSelector{
		MatchLabels:      map[string]string{modeLabel: required},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: skippingLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{permitted}}},
	}
	objects, err := metav1.LabelSelectorAsSelector(&skip)
	if err != nil {
		return nil, err
	}
	namespaces, err := metav1.LabelSelectorAsSelector(&strict)
	return Hooks{{labels.Everything(), objects}, {namespaces, labels.Everything()}}, err
}

// paths are those under which the webhook is asked about AWS.
var paths = []string{"/mutate", "/mutate/required", "/mutate/required/skippable"}

// IsForAWS says that the webhook is asked about AWS under a path; EKS's is under the same.
func IsForAWS(path string) bool { return slices.Contains(paths, path) }

// Hooks are the webhook's for AWS: they say whom it is asked about.
type Hooks []hook

type hook struct{ namespaces, objects labels.Selector }

// ReadHooks reads the webhook's configuration. Without one, nil, the hooks are as
// they are shipped: about all pods without the label to skip, and about those with it
// where identities are required and skipping is not allowed. A hook with
// matchConditions does not count: whom they leave out is not known here.
func ReadHooks(configuration *admissionv1.MutatingWebhookConfiguration) (Hooks, error) {
	if configuration == nil {
		return shipped()
	}
	var found Hooks
	for _, each := range configuration.Webhooks {
		if !IsForAWS(PathOf(each.ClientConfig)) || len(each.MatchConditions) > 0 {
			continue
		}
		namespaces, err := selector(each.NamespaceSelector)
		if err != nil {
			return nil, fmt.Errorf("namespaceSelector of the hook %s: %w", each.Name, err)
		}
		objects, err := selector(each.ObjectSelector)
		if err != nil {
			return nil, fmt.Errorf("objectSelector of the hook %s: %w", each.Name, err)
		}
		found = append(found, hook{namespaces, objects})
	}
	return found, nil
}

// PathOf is the path under which a hook is called, empty for none.
func PathOf(config admissionv1.WebhookClientConfig) string {
	switch {
	case config.Service != nil && config.Service.Path != nil:
		return *config.Service.Path
	case config.URL != nil:
		if parsed, err := url.Parse(*config.URL); err == nil {
			return parsed.Path
		}
	}
	return ""
}

// selector selects everything if it is absent, as a hook's does.
func selector(of *metav1.LabelSelector) (labels.Selector, error) {
	if of == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(of)
}

// Ask says whether the webhook is asked about a pod with labels, in a namespace with
// labels.
func (h Hooks) Ask(namespace, pod map[string]string) bool {
	return slices.ContainsFunc(h, func(one hook) bool {
		return one.namespaces.Matches(labels.Set(namespace)) && one.objects.Matches(labels.Set(pod))
	})
}
