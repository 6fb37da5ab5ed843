package webhook_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const manifests = "../../config/manifests"

// TestTheNetworkPolicyIsOfTheWebhook: it selects the Deployment's pods, and its ports are
// theirs.
func TestTheNetworkPolicyIsOfTheWebhook(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(manifests, "network", "webhook-networkpolicy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var policy networkingv1.NetworkPolicy
	must.Do(t, yaml.UnmarshalStrict(text, &policy))
	var deployment appsv1.Deployment
	if text, err = os.ReadFile(filepath.Join(manifests, "webhook.yaml")); err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if strings.Contains(document, "kind: Deployment") {
			must.Do(t, yaml.UnmarshalStrict([]byte(document), &deployment))
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	if err != nil || policy.Namespace != deployment.Namespace || !selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
		t.Errorf("it selects %v in %s, error %v", selector, policy.Namespace, err)
	}
	var ports []string
	for _, port := range deployment.Spec.Template.Spec.Containers[0].Ports {
		ports = append(ports, port.Name)
	}
	for _, rule := range policy.Spec.Ingress {
		if len(rule.From) == 0 || len(rule.Ports) != 1 || !slices.Contains(ports, rule.Ports[0].Port.String()) {
			t.Errorf("the rule %+v lets in from everywhere, or to a port that is none of %q", rule, ports)
		}
	}
}
