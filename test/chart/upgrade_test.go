package chart

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheChartTakesOverWhatFirstWasInstalled begins with the first manifests of all, with
// a certificate in the Secret and its CA in the hooks, as their controller left them.
func TestTheChartTakesOverWhatFirstWasInstalled(t *testing.T) {
	w := newWorld(t)
	w.shell(`
		kubectl apply -f test/chart/testdata/first.yaml
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=first -keyout $HELM_DATA_HOME/tls.key -out $HELM_DATA_HOME/tls.crt 2>/dev/null
		kubectl -n tabard-system create secret tls tabard-webhook-cert --cert $HELM_DATA_HOME/tls.crt --key $HELM_DATA_HOME/tls.key
		bundle=$(base64 -w0 $HELM_DATA_HOME/tls.crt)
		for i in 0 1 2 3; do
		  kubectl patch mutatingwebhookconfiguration tabard-webhook --type=json -p "[{\"op\":\"add\",\"path\":\"/webhooks/$i/clientConfig/caBundle\",\"value\":\"$bundle\"}]" || true
		done`)
	before, secret := w.bundles(), w.secret()
	said := w.shell("helm upgrade --install tabard charts/tabard -n tabard-system --take-ownership " + everything)
	if !strings.Contains(said, "STATUS: deployed") {
		t.Fatalf("helm said %s", said)
	}
	if got := w.bundles(); len(before) == 0 || !cmp.Equal(before, got) {
		t.Errorf("the hooks' CAs were %v and are %v: pods would be refused, or go without", before, got)
	}
	if got := w.secret(); got != secret {
		t.Error("the certificate was lost")
	}
	chart := w.shell("helm get manifest tabard -n tabard-system")
	var more []string
	for key := range w.objects() {
		if kind, name, _ := strings.Cut(key, " "); !has(t, chart, kind, name) && !strings.HasPrefix(name, "tabard-system/sh.helm.release") {
			more = append(more, key)
		}
	}
	slices.Sort(more)
	if diff := cmp.Diff([]string{"Namespace /tabard-system", "Secret tabard-system/tabard-webhook-cert"}, more); diff != "" {
		t.Errorf("what is there besides after the upgrade (-want +got):\n%s", diff)
	}
}

// TestAReleaseIsRolledBackAndUninstalled leaves what docs/install.md lists.
func TestAReleaseIsRolledBackAndUninstalled(t *testing.T) {
	w := newWorld(t)
	w.shell("helm install tabard charts/tabard -n tabard-system --create-namespace " + everything)
	first := w.objects()
	said := w.shell(`"$TABARD_BIN" version`)
	for _, want := range []string{`(?m)^tabard-certificate/tabard-certificate +devel$`, `(?m)^oidcissuers.identity.tabard.dev +v1alpha1$`, `(?m)^Kubernetes +v1`} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("tabard version does not say %s:\n%s", want, said)
		}
	}
	w.shell("helm upgrade tabard charts/tabard -n tabard-system --reuse-values --set issuer.replicas=2,capacity.enabled=false")
	if cmp.Equal(first, w.objects()) {
		t.Error("the upgrade changed nothing")
	}
	w.shell("helm rollback tabard 1 -n tabard-system")
	got := w.objects()
	maps.DeleteFunc(got, func(key, _ string) bool { return strings.HasPrefix(key, "Secret tabard-system/sh.helm") })
	maps.DeleteFunc(first, func(key, _ string) bool { return strings.HasPrefix(key, "Secret tabard-system/sh.helm") })
	if diff := cmp.Diff(first, got); diff != "" {
		t.Errorf("the rollback comes to something else (-want +got):\n%s", diff)
	}
	w.shell("helm uninstall tabard -n tabard-system --wait")
	var left []string
	for key := range w.objects() {
		left = append(left, key)
	}
	slices.Sort(left)
	if diff := cmp.Diff(kept, left); diff != "" {
		t.Errorf("what is left after uninstalling (-want +got):\n%s", diff)
	}
}

// kept are the kinds, and the namespace that helm was told to make.
var kept = []string{
	"CustomResourceDefinition /credentialsboundaries.identity.tabard.dev",
	"CustomResourceDefinition /credentialsgrants.identity.tabard.dev",
	"CustomResourceDefinition /credentialsrequests.cloudcredential.openshift.io",
	"CustomResourceDefinition /hubaccesses.identity.tabard.dev",
	"CustomResourceDefinition /iamrolechoices.identity.tabard.dev",
	"CustomResourceDefinition /iamroleselectorreports.identity.tabard.dev",
	"CustomResourceDefinition /iamroleselectors.services.k8s.aws",
	"CustomResourceDefinition /oidcissuers.identity.tabard.dev",
	"Namespace /tabard-system",
}

// has says that a manifest has an object.
func has(t *testing.T, manifest, kind, name string) bool {
	t.Helper()
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		var object metav1.PartialObjectMetadata
		must.Do(t, yaml.Unmarshal([]byte(document), &object))
		if object.Kind == kind && object.Namespace+"/"+object.Name == name {
			return true
		}
	}
	return false
}

func (w world) bundles() (out []string) {
	w.Helper()
	stored := must.Get(w.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(w.Context(), "tabard-webhook", metav1.GetOptions{}))(w)
	for _, hook := range stored.Webhooks {
		if len(hook.ClientConfig.CABundle) > 0 {
			out = append(out, hook.Name+" "+string(hook.ClientConfig.CABundle))
		}
	}
	return out
}

func (w world) secret() string {
	w.Helper()
	stored := must.Get(w.Kube.CoreV1().Secrets("tabard-system").Get(w.Context(), "tabard-webhook-cert", metav1.GetOptions{}))(w)
	return string(stored.Data["tls.crt"])
}
