package injection_test

import (
	"os"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// shipped is the webhook's configuration as it is in config/manifests.
func shipped(t *testing.T) *admissionv1.MutatingWebhookConfiguration {
	t.Helper()
	text := must.Get(os.ReadFile("../../../config/manifests/webhook.yaml"))(t)
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		if !strings.Contains(part, "kind: MutatingWebhookConfiguration") {
			continue
		}
		var found admissionv1.MutatingWebhookConfiguration
		must.Do(t, yaml.UnmarshalStrict([]byte(part), &found))
		return &found
	}
	t.Fatal("webhook.yaml has no MutatingWebhookConfiguration")
	return nil
}

func TestHooksSayWhoIsAskedAbout(t *testing.T) {
	t.Parallel()
	skip := map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}
	strict := map[string]string{"tabard.dev/injection": "required"}
	lenient := map[string]string{"tabard.dev/injection": "required", "tabard.dev/injection-skip": "allowed"}
	notSystem := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system"}}}}
	system := map[string]string{"kubernetes.io/metadata.name": "kube-system"}
	url := "https://127.0.0.1:9443/mutate?timeout=1s"
	cases := map[string]struct {
		change         func(*admissionv1.MutatingWebhookConfiguration)
		namespace, pod map[string]string
		want           bool
	}{
		"as shipped":                                       {want: true},
		"as shipped, where it is required":                 {namespace: map[string]string{"tabard.dev/injection": "required"}, want: true},
		"as shipped, a pod to skip":                        {pod: skip},
		"a pod to skip, where it is required":              {namespace: strict, pod: skip, want: true},
		"a pod to skip, where that is allowed":             {namespace: lenient, pod: skip},
		"a pod to skip, where that is allowed in vain":     {namespace: map[string]string{"tabard.dev/injection-skip": "allowed"}, pod: skip},
		"another pod, where skipping is allowed":           {namespace: lenient, want: true},
		"a pod to skip, where a label says something else": {namespace: map[string]string{"tabard.dev/injection": "required", "tabard.dev/injection-skip": "true"}, pod: skip, want: true},
		"a configuration without hooks":                    {change: func(c *admissionv1.MutatingWebhookConfiguration) { *c = admissionv1.MutatingWebhookConfiguration{} }},
		"a namespace that the hooks leave out": {change: func(c *admissionv1.MutatingWebhookConfiguration) {
			for i := range c.Webhooks {
				c.Webhooks[i].NamespaceSelector = notSystem
			}
		}, namespace: system},
		"a hook of a URL, without selectors": {change: func(c *admissionv1.MutatingWebhookConfiguration) {
			c.Webhooks = []admissionv1.MutatingWebhook{{ClientConfig: admissionv1.WebhookClientConfig{URL: &url}}}
		}, pod: skip, want: true},
		"hooks of other clouds alone": {change: func(c *admissionv1.MutatingWebhookConfiguration) {
			for i := range c.Webhooks {
				path := "/mutate/gcp"
				c.Webhooks[i].ClientConfig.Service.Path = &path
			}
		}},
		"hooks with conditions": {change: func(c *admissionv1.MutatingWebhookConfiguration) {
			for i := range c.Webhooks {
				c.Webhooks[i].MatchConditions = []admissionv1.MatchCondition{{Name: "x", Expression: "true"}}
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			configuration := shipped(t)
			if tc.change != nil {
				tc.change(configuration)
			}
			if tc.change == nil { // without a configuration it is as shipped
				checkAsked(t, nil, tc.namespace, tc.pod, tc.want)
			}
			checkAsked(t, configuration, tc.namespace, tc.pod, tc.want)
		})
	}
	wrong := shipped(t)
	wrong.Webhooks[0].ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Unheard"}}}
	if _, err := injection.ReadHooks(wrong); err == nil {
		t.Error("a selector that is none was accepted")
	}
}

func checkAsked(t *testing.T, configuration *admissionv1.MutatingWebhookConfiguration, namespace, pod map[string]string, want bool) {
	t.Helper()
	hooks := must.Get(injection.ReadHooks(configuration))(t)
	if got := hooks.Ask(namespace, pod); got != want {
		t.Errorf("asked %t, want %t; with a configuration: %t", got, want, configuration != nil)
	}
}
