package certificate_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/certificate"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ocmConfiguration is as the chart has it, as far as this matters here.
func ocmConfiguration() *admissionv1.MutatingWebhookConfiguration {
	hook := func(name, service string, selector *metav1.LabelSelector) admissionv1.MutatingWebhook {
		fail := admissionv1.Fail
		return admissionv1.MutatingWebhook{Name: name, FailurePolicy: &fail, ObjectSelector: selector, ClientConfig: admissionv1.WebhookClientConfig{
			Service: &admissionv1.ServiceReference{Namespace: "tabard-system", Name: service}}}
	}
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "tabard-ocm"},
		Webhooks: []admissionv1.MutatingWebhook{
			hook("pods.ocm.tabard.dev", "tabard-ocm", nil),
			hook(core.ProbeHook, "tabard-ocm-probe", &metav1.LabelSelector{MatchLabels: map[string]string{"tabard.dev/probe": "ocm"}}),
		},
	}
}

// beside is a controller by the options OCM, on what the first one works on.
func beside(first *certificate.Controller) (*certificate.Controller, *events.FakeRecorder) {
	o := certificate.OCM(nil, "tabard-certificate")
	recorder := events.NewFakeRecorder(10)
	return &certificate.Controller{
		Host: first.Host, Served: first.Served,
		Authority:     types.NamespacedName{Namespace: o.Namespace, Name: o.Authority},
		Secret:        types.NamespacedName{Namespace: o.Namespace, Name: o.Secret},
		Configuration: o.Configuration, Validating: o.Validating, ProbeValue: o.Probe,
		Events: recorder, Now: first.Now, Entropy: first.Entropy,
		Metrics: first.Metrics.Beside(controller.NewMetrics(prometheus.NewRegistry(), o.Name), o.Configuration),
	}, recorder
}

func TestTwoCertificatesHaveNothingInCommon(t *testing.T) {
	t.Parallel()
	first, _ := setup(t, interceptor.Funcs{}, configuration(), ocmConfiguration(), validating("tabard-role-selectors"))
	second, recorder := beside(first)
	if result := reconcileUntilQuiet(t, second); result.RequeueAfter != 12*time.Hour {
		t.Errorf("looks again in %s, want 12h", result.RequeueAfter)
	}
	if got := bundleOf(t, second, "tabard-role-selectors"); got != "" {
		t.Errorf("the ValidatingWebhookConfiguration of the first trusts %q", got)
	}
	reconcileUntilQuiet(t, first)
	bundles := map[string][]byte{}
	for name, host := range map[string]string{"webhook": "tabard-webhook.tabard-system.svc", "ocm": "tabard-ocm.tabard-system.svc"} {
		var public, private corev1.Secret
		var stored admissionv1.MutatingWebhookConfiguration
		must.Do(t, first.Host.Get(t.Context(), types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-" + name + "-cert"}, &public))
		must.Do(t, first.Host.Get(t.Context(), types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-" + name + "-authority"}, &private))
		must.Do(t, first.Served.Get(t.Context(), types.NamespacedName{Name: "tabard-" + name}, &stored))
		pair := must.Get(tls.X509KeyPair(public.Data["tls.crt"], public.Data["tls.key"]))(t)
		bundles[name] = stored.Webhooks[0].ClientConfig.CABundle
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundles[name])
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: noon}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(private.Data["ca.key"]) == 0 || public.Data["ca.key"] != nil {
			t.Errorf("%s: the authority's key is in the Secret that the webhook reads, or nowhere", name)
		}
	}
	if cmp.Equal(bundles["webhook"], bundles["ocm"]) {
		t.Error("both configurations trust the same CA")
	}
	if n := len(recorder.Events); n != 0 {
		t.Errorf("%d events, want none", n)
	}
}

// TestMetricsSayOfWhichConfiguration: neither controller overwrites what the other has said.
func TestMetricsSayOfWhichConfiguration(t *testing.T) {
	t.Parallel()
	first, _ := setup(t, interceptor.Funcs{}, configuration(), ocmConfiguration(), foreignSecret())
	registry := prometheus.NewRegistry()
	first.Metrics = certificate.NewMetrics(registry)
	second, _ := beside(first)
	reconcileUntilQuiet(t, first)
	reconcileUntilQuiet(t, second)
	reconcileUntilQuiet(t, first)
	var on, expiring []string
	for _, family := range must.Get(registry.Gather())(t) {
		for _, one := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range one.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if strings.HasPrefix(family.GetName(), "tabard_certificate_") && labels["configuration"] == "" {
				t.Errorf("%s%v is of no configuration", family.GetName(), labels)
			}
			switch {
			case one.GetGauge().GetValue() == 0:
			case family.GetName() == "tabard_certificate_phase":
				on = append(on, labels["configuration"]+" "+labels["phase"])
			case family.GetName() == "tabard_certificate_expiry_seconds":
				expiring = append(expiring, labels["configuration"]+" "+labels["certificate"])
			}
		}
	}
	slices.Sort(on)
	if want := []string{"tabard-ocm steady", "tabard-webhook blocked"}; !slices.Equal(on, want) {
		t.Errorf("the phases are %v, want %v", on, want)
	}
	if want := []string{"tabard-ocm ca", "tabard-ocm serving"}; !slices.Equal(expiring, want) {
		t.Errorf("what expires is %v, want %v", expiring, want)
	}
}

// looker keeps the labels of the pods that it is to ask with.
type looker struct{ labels map[string]string }

func (l *looker) Look(_ context.Context, _ string, labels map[string]string) []core.Trust {
	l.labels = labels
	return []core.Trust{{Address: "a", Verdict: core.Trusted}}
}

// TestEachProbeHookSeesItsOwnPods, also where somebody has taken the selector from the hook.
func TestEachProbeHookSeesItsOwnPods(t *testing.T) {
	t.Parallel()
	unselected := ocmConfiguration()
	unselected.Webhooks[1].ObjectSelector = nil
	for name, stored := range map[string]*admissionv1.MutatingWebhookConfiguration{"with its selector": ocmConfiguration(), "without": unselected} {
		first, _ := setup(t, interceptor.Funcs{}, stored)
		second, _ := beside(first)
		reconcileUntilQuiet(t, second)
		seen := &looker{}
		second.Probe = seen
		for _, days := range []time.Duration{2420, 2440} { // the authority is due between them
			second.Now = func() time.Time { return noon.Add(days * 24 * time.Hour) }
			for range 8 {
				must.Get(pass(t, second))(t)
			}
		}
		if got := seen.labels["tabard.dev/probe"]; got != "ocm" {
			t.Errorf("%s: the label of the pods is %q, want ocm", name, got)
		}
	}
	if got := certificate.LabelsFor(configuration().Webhooks)["tabard.dev/probe"]; got != "certificate" {
		t.Errorf("the label of the first's pods is %q, want certificate", got)
	}
}

// TestPodsOfAnotherAccountNeedNoIdentity: there may be no webhook that gives one.
func TestPodsOfAnotherAccountNeedNoIdentity(t *testing.T) {
	t.Parallel()
	account := ""
	server := apiServer(t, func(p *corev1.Pod) any {
		account = p.Spec.ServiceAccountName
		return hooks(p, "f00d", false)
	})
	runs := certificate.DryRuns{
		Servers: func(context.Context) ([]controller.APIServer, error) { return []controller.APIServer{server}, nil },
		Metrics: certificate.NewMetrics(prometheus.NewRegistry()), Now: time.Now, Account: certificate.OCM(nil, "").ProbeAccount,
	}
	found := runs.Look(t.Context(), "f00d", nil)
	if len(found) != 1 || found[0].Verdict != core.Trusted || account != "tabard-ocm-probe" {
		t.Errorf("found %+v by a pod of the account %q, want it trusted by one of tabard-ocm-probe", found, account)
	}
}

// TestAWebhookThatIsTurnedOffIsQuiet: what is left of it expires, and nobody looks at it again.
func TestAWebhookThatIsTurnedOffIsQuiet(t *testing.T) {
	t.Parallel()
	c, recorder := setup(t, interceptor.Funcs{}, configuration())
	registry := prometheus.NewRegistry()
	c.Metrics = certificate.NewMetrics(registry)
	reconcileUntilQuiet(t, c)
	if !watched(t, registry) {
		t.Fatal("there is nothing to be seen of a webhook that is on")
	}
	must.Do(t, c.Served.Delete(t.Context(), &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"}}, &client.DeleteOptions{}))
	if result := reconcileUntilQuiet(t, c); result != (reconcile.Result{}) || len(recorder.Events) != 0 {
		t.Errorf("result %+v, %d events", result, len(recorder.Events))
	}
	if watched(t, registry) {
		t.Error("the time since the last look is counted, or the time to the expiry of what is left")
	}
}

// watched says that there is a last look, or something that expires.
func watched(t *testing.T, registry prometheus.Gatherer) bool {
	t.Helper()
	for _, family := range must.Get(registry.Gather())(t) {
		for _, one := range family.GetMetric() {
			switch family.GetName() {
			case "tabard_controller_last_good_pass_timestamp_seconds", "tabard_certificate_expiry_seconds":
				if one.GetGauge().GetValue() != 0 {
					return true
				}
			}
		}
	}
	return false
}
