package webhook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const tokenPath = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"

// authored is what pods have by which their authors change what is injected, by the row of
// the page. Whoever finds another way adds its row.
var authored = map[string]func(*corev1.Pod){
	"the label `eks.amazonaws.com/skip-pod-identity-webhook`": func(p *corev1.Pod) {
		p.Labels = map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}
	},
	"the annotation `skip-containers` with a container of it":           annotatedBy("skip-containers", "app"),
	"the annotation `include-containers` without one of its containers": annotatedBy("include-containers", "side"),
	"an `AWS_ROLE_ARN` of its own":                                      variable("AWS_ROLE_ARN", "arn:aws:iam::111122223333:role/other"),
	"an `AWS_WEB_IDENTITY_TOKEN_FILE` of its own":                       variable("AWS_WEB_IDENTITY_TOKEN_FILE", "/own/token"),
	"both, as the webhook would set them": func(p *corev1.Pod) {
		variable("AWS_ROLE_ARN", role)(p)
		variable("AWS_WEB_IDENTITY_TOKEN_FILE", tokenPath)(p)
	},
	"a volume of its own where the token belongs": func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "own"}}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "own", MountPath: filepath.Dir(tokenPath)}}
	},
	"a volume of its own with the name of the token's": func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "aws-iam-token"}}
	},
	"an access key in its variables, which SDKs prefer": variable("AWS_ACCESS_KEY_ID", "AKIA"),
	"an `AWS_REGION` of its own":                        variable("AWS_REGION", "eu-west-1"),
	"an `AWS_ROLE_ARN` or `AWS_REGION` by `envFrom`": func(p *corev1.Pod) {
		p.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "own"}}}}
	},
	"the annotation `token-expiration`":                annotatedBy("token-expiration", "7200"),
	"the annotation `role-profiles` with another role": annotatedBy("role-profiles", "other=arn:aws:iam::111122223333:role/other"),
}

func annotatedBy(name, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{"eks.amazonaws.com/" + name: value} }
}

func variable(name, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: value})
	}
}

// demands are the columns of the page's table: labels of namespaces.
var demands = []map[string]string{
	{}, {"tabard.dev/injection": "required"}, {"tabard.dev/injection": "required", "tabard.dev/injection-skip": "allowed"},
}

// TestWhatAPodsAuthorCanChange walks the page's table: each way, in each kind of namespace,
// through the hooks of the manifest.
func TestWhatAPodsAuthorCanChange(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "webhook.md")))(t))
	_, table, _ := strings.Cut(page, "### What a pod's author can change\n")
	rows := 0
	for line := range strings.Lines(strings.TrimSpace(table)) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if rows++; rows <= 2 {
			continue // the head
		}
		change := authored[cells[0]]
		if change == nil {
			t.Errorf("nothing tries %q", cells[0])
			continue
		}
		for i, want := range cells[1:] {
			if got := authorGets(t, demands[i], change); got != want {
				t.Errorf("%s, in a namespace with %v: got %q, the page says %q", cells[0], demands[i], got, want)
			}
		}
	}
	if rows != len(authored)+2 {
		t.Errorf("the page has %d rows, want %d", rows-2, len(authored))
	}
}

// authorGets is what a pod gets that its author has changed, in the page's words.
func authorGets(t *testing.T, namespace map[string]string, change func(*corev1.Pod)) string {
	t.Helper()
	pod := &corev1.Pod{Spec: corev1.PodSpec{ServiceAccountName: "app", Containers: []corev1.Container{{Name: "app"}, {Name: "side"}}}}
	change(pod)
	var configuration admissionregistrationv1.MutatingWebhookConfiguration
	for each := range bytes.SplitSeq(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "config", "manifests", "webhook.yaml")))(t), []byte("\n---\n")) {
		if bytes.Contains(each, []byte("\nkind: MutatingWebhookConfiguration\n")) {
			must.Do(t, yaml.Unmarshal(each, &configuration))
		}
	}
	before := must.Get(json.Marshal(pod))(t)
	for _, hook := range configuration.Webhooks {
		if !selects(t, hook.NamespaceSelector, namespace) || !selects(t, hook.ObjectSelector, pod.Labels) {
			continue
		}
		s := testServer(t, fixedAccounts{found: annotated(role)}, nil)
		answer := readAnswer(t, askPath(t, s, *hook.ClientConfig.Service.Path, "application/json", reviewOf("v1", "shop", string(before)))).Response
		if !answer.Allowed {
			if !strings.Contains(answer.Result.Message, "must not start without its identity") || !strings.Contains(answer.Result.Message, `container "app"`) {
				t.Errorf("the refusal says only %s", answer.Result.Message)
			}
			return "refused"
		}
		after := before
		if len(answer.Patch) > 0 {
			after = must.Get(must.Get(jsonpatch.DecodePatch(answer.Patch))(t).Apply(before))(t)
		}
		*pod = corev1.Pod{}
		must.Do(t, json.Unmarshal(after, pod))
		gets := "the identity"
		if !allHaveIdentity(pod) {
			gets = "a container without the identity"
		}
		if len(answer.Warnings) > 0 {
			gets += ", and a warning"
		}
		return gets
	}
	return "left alone"
}

func selects(t *testing.T, by *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	if by == nil {
		return true
	}
	return must.Get(metav1.LabelSelectorAsSelector(by))(t).Matches(labels.Set(of))
}

// allHaveIdentity says that each container is told the role and finds a token.
func allHaveIdentity(pod *corev1.Pod) bool {
	tokens := map[string]bool{}
	for _, volume := range pod.Spec.Volumes {
		tokens[volume.Name] = volume.Projected != nil
	}
	for _, container := range pod.Spec.Containers {
		has := func(name, value string) bool {
			return slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name && v.Value == value })
		}
		mounts := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPath == filepath.Dir(tokenPath) && tokens[m.Name]
		})
		if !has("AWS_ROLE_ARN", role) || !has("AWS_WEB_IDENTITY_TOKEN_FILE", tokenPath) || !mounts {
			return false
		}
	}
	return true
}

// TestAnotherCloudsAuthorsAreHeldToIt: the same for Google Cloud.
func TestAnotherCloudsAuthorsAreHeldToIt(t *testing.T) {
	t.Parallel()
	account := &inject.ServiceAccount{Annotations: map[string]string{
		"cloud.google.com/workload-identity-provider": "projects/1/locations/global/workloadIdentityPools/pool/providers/cluster",
	}}
	o := defaultOptions(t)
	o.Clouds = []string{cloudGoogle}
	s := serverFor(t, o, fixedAccounts{found: account})
	for name, pod := range map[string]string{
		"skip-containers":   `{"metadata":{"annotations":{"cloud.google.com/skip-containers":"app"}},"spec":{"serviceAccountName":"app","containers":[{"name":"app"},{"name":"side"}]}}`,
		"a file of its own": `{"spec":{"serviceAccountName":"app","containers":[{"name":"app","env":[{"name":"GOOGLE_APPLICATION_CREDENTIALS","value":"/own"}]}]}}`,
	} {
		for path, refuses := range map[string]bool{"/mutate/gcp": false, "/mutate/gcp/required": true, "/mutate/gcp/required/skippable": false} {
			text := reply(t, s, path, pod)
			if got := strings.Contains(text, `"allowed":false`) && strings.Contains(text, `container \"app\"`); got != refuses {
				t.Errorf("%s at %s: it is refused: %t, want %t: %s", name, path, got, refuses, text)
			}
		}
	}
}
