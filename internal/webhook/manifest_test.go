package webhook_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite config/manifests/clouds")

const manifests = "../../config/manifests"

// TestManifestsOfOtherClouds: config/manifests/clouds has variants of
// webhook.yaml, which differ from it only in what their clouds ask for.
func TestManifestsOfOtherClouds(t *testing.T) {
	t.Parallel()
	base := must.Get(os.ReadFile(filepath.Join(manifests, "webhook.yaml")))(t)
	for name, clouds := range map[string][]string{
		"webhook-azure.yaml": {"azure"},
		"webhook-gcp.yaml":   {"gcp"},
		"webhook-all.yaml":   {"aws", "azure", "gcp"},
	} {
		file := filepath.Join(manifests, "clouds", name)
		manifest := manifest{t, string(base)}
		manifest.choose(clouds)
		if *update {
			must.Do(t, os.WriteFile(file, []byte(manifest.text), 0o600))
		}
		got := must.Get(os.ReadFile(file))(t)
		if diff := cmp.Diff(manifest.text, string(got)); diff != "" {
			t.Errorf("%s does not follow webhook.yaml: go test ./internal/webhook -run TestManifests -update rewrites it (-want +got):\n%s", name, diff)
		}
	}
}

// manifest is a text that is changed in places that must be there.
type manifest struct {
	t    *testing.T
	text string
}

func (m *manifest) replace(old, by string) {
	m.t.Helper()
	if n := strings.Count(m.text, old); n != 1 {
		m.t.Fatalf("%q is there %d times, want it once, in:\n%s", old, n, m.text)
	}
	m.text = strings.Replace(m.text, old, by, 1)
}

// choose turns webhook.yaml into the manifest for some clouds.
func (m *manifest) choose(clouds []string) {
	m.t.Helper()
	list := strings.Join(clouds, ",")
	m.replace("# The pod identity webhook. ", "# The pod identity webhook for "+strings.Join(clouds, ", ")+", to be applied in place of webhook.yaml.\n# ")
	m.replace("args: [webhook, ", "args: [webhook, --clouds="+list+", ")
	m.chooseProbe(clouds)
	hooks := m.hooks()
	open, required, skippable := hooks["pod-identity.tabard.dev"], hooks["required.pod-identity.tabard.dev"], hooks["skippable.required.pod-identity.tabard.dev"]
	var chosen string
	for _, cloud := range clouds {
		switch cloud {
		case "aws":
			chosen += open + required + skippable
		case "azure":
			m.replace("        ports:\n        - {name: webhook, containerPort:", "        # The config map has AZURE_TENANT_ID, and AZURE_ENVIRONMENT unless that is AzurePublicCloud.\n"+
				"        envFrom: [{configMapRef: {name: tabard-webhook-azure}}]\n        ports:\n        - {name: webhook, containerPort:")
			chosen += m.azureHook(open)
		case "gcp":
			m.replace("        eks.amazonaws.com/skip-pod-identity-webhook: \"true\"\n", "        eks.amazonaws.com/skip-pod-identity-webhook: \"true\"\n"+
				"        cloud.google.com/skip-pod-identity-webhook: \"true\"\n")
			chosen += m.googleHook(open) + m.googleHook(required) + m.googleHook(skippable)
		}
	}
	m.replace(open+required+skippable, chosen)
}

// chooseProbe lets the operator's dry-run pods have an identity of a cloud that is
// there. Azure's is by a label, which they do not have.
func (m *manifest) chooseProbe(clouds []string) {
	m.t.Helper()
	if slices.Contains(clouds, "aws") {
		return
	}
	annotations, none := "", ""
	if slices.Contains(clouds, "gcp") {
		none = " There is no such provider."
		annotations = "  annotations: {cloud.google.com/workload-identity-provider: projects/0/locations/global/workloadIdentityPools/tabard/providers/probe}\n"
	}
	m.replace(" There is no such role.", none)
	m.replace("  annotations: {eks.amazonaws.com/role-arn: \"arn:aws:iam::000000000000:role/tabard-probe\"}\n", annotations)
}

var hookStart = regexp.MustCompile(`(?m)^(?:#.*\n)*- name: (\S+)\n`)

// hooks are those of the manifest by name, each with the comment before it.
func (m *manifest) hooks() map[string]string {
	_, list, _ := strings.Cut(m.text, "\nwebhooks:\n")
	starts := hookStart.FindAllStringSubmatchIndex(list, -1)
	found := map[string]string{}
	for i, start := range starts {
		end := len(list)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		found[list[start[2]:start[3]]] = list[start[0]:end]
	}
	return found
}

// azureHook is Azure's, made of AWS's: a pod asks for its identity by a label, and
// does not start without it.
func (m *manifest) azureHook(aws string) string {
	m.t.Helper()
	hook := manifest{m.t, aws}
	_, hook.text, _ = strings.Cut(hook.text, "- name: ")
	hook.text = "# Pods that ask for their Azure identity do not start without it.\n- name: " + hook.text
	hook.replace("name: pod-identity", "name: azure.pod-identity")
	hook.replace("path: /mutate,", "path: /mutate/azure,")
	hook.replace(`    - {key: tabard.dev/injection, operator: NotIn, values: [required]}
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [tabard-system, tabard-certificate]}
  objectSelector:
    matchExpressions:
    - {key: eks.amazonaws.com/skip-pod-identity-webhook, operator: DoesNotExist}
  failurePolicy: Ignore
`, `    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [tabard-system, tabard-certificate]}
  objectSelector:
    matchLabels: {azure.workload.identity/use: "true"}
  failurePolicy: Fail
`)
	return hook.text
}

// googleHook is one of Google Cloud's, made of AWS's.
func (m *manifest) googleHook(aws string) string {
	m.t.Helper()
	hook := manifest{m.t, aws}
	hook.replace("pod-identity.tabard.dev", "gcp.pod-identity.tabard.dev")
	hook.replace("path: /mutate", "path: /mutate/gcp")
	hook.text = strings.ReplaceAll(hook.text, "eks.amazonaws.com/", "cloud.google.com/")
	return hook.text
}

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
