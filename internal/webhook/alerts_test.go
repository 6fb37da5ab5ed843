package webhook

import (
	"crypto/rand"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	keeper "github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/alerts"
)

// TestAlertsNameWhatIsServed by the webhook, and by the controller that makes its certificate.
func TestAlertsNameWhatIsServed(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	m.watch(fakeAccounts{}, new(certificate))
	m.watchStore(newStore(newInterest("eks.amazonaws.com/role-arn")))
	for _, reason := range []inject.Reason{notSynced, lookupFailed, busy, inject.Undecided} {
		m.admission(cloudAWS, fail(http.StatusInternalServerError, reason, ""), 0)
	}
	m.admission(cloudAWS, refuse(inject.MalformedRoleARN, "it is none"), 0)
	m.configurationProblems.WithLabelValues("config-map").Set(1)

	kept := prometheus.NewRegistry()
	service := &admissionv1.ServiceReference{Namespace: "tabard-system", Name: "tabard-webhook"}
	cluster := fake.NewClientBuilder().WithObjects(&admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"},
		Webhooks:   []admissionv1.MutatingWebhook{{Name: "one.tabard.dev", ClientConfig: admissionv1.WebhookClientConfig{Service: service}}},
	}).Build()
	c := &keeper.Controller{
		Host: cluster, Served: cluster, Configuration: "tabard-webhook", Validating: "none",
		Authority: types.NamespacedName{Namespace: "tabard-certificate", Name: "authority"},
		Secret:    types.NamespacedName{Namespace: "tabard-certificate", Name: "secret"},
		Events:    events.NewFakeRecorder(10), Metrics: keeper.NewMetrics(kept), Now: time.Now, Entropy: rand.Reader,
	}
	_, first := c.Reconcile(t.Context(), reconcile.Request{})
	if _, err := c.Reconcile(t.Context(), reconcile.Request{}); errors.Join(first, err) != nil {
		t.Fatal(first, err)
	}
	alerts.Check(t, "../../config/alerts/webhook.yaml", "../../docs/webhook.md", m.registry, kept)
}
