package certificate_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// TestReconcileGoesOnFromAnEarlierVersion demands that the certificate of a version
// with one Secret is served on by the new one, that the hooks still trust it, and
// that the authority's key of then is used no more.
func TestReconcileGoesOnFromAnEarlierVersion(t *testing.T) {
	t.Parallel()
	before, err := core.Apply(core.IssueAll{Names: core.Names("tabard-webhook,tabard-webhook.tabard-system,tabard-webhook.tabard-system.svc,tabard-webhook.tabard-system.svc.cluster.local")},
		nil, noon, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	hooks := configuration()
	for i := range hooks.Webhooks {
		hooks.Webhooks[i].ClientConfig.CABundle = before["ca.crt"]
	}
	previous := &corev1.Secret{Data: before, Type: corev1.SecretTypeTLS, ObjectMeta: metav1.ObjectMeta{
		Namespace: previousKey.Namespace, Name: previousKey.Name, Labels: map[string]string{core.MarkLabel: core.MarkValue}}}
	c, _ := setup(t, interceptor.Funcs{}, hooks, previous)
	reconcileUntilQuiet(t, c)
	var now, private, old corev1.Secret
	var after admissionv1.MutatingWebhookConfiguration
	if err := errors.Join(c.Host.Get(t.Context(), secretKey, &now), c.Host.Get(t.Context(), privateKey, &private), c.Host.Get(t.Context(), previousKey, &old),
		c.Served.Get(t.Context(), types.NamespacedName{Name: "tabard-webhook"}, &after)); err != nil {
		t.Fatal(err)
	}
	bundle := after.Webhooks[0].ClientConfig.CABundle
	if !bytes.Equal(now.Data["tls.crt"], before["tls.crt"]) || !bytes.HasSuffix(bundle, before["ca.crt"]) || len(bundle) <= len(before["ca.crt"]) {
		t.Error("what is served is not what was, or is not trusted beside the new authority")
	}
	if bytes.Equal(private.Data["ca.key"], before["ca.key"]) || now.Data["ca.key"] != nil || !bytes.Equal(old.Data["ca.key"], before["ca.key"]) {
		t.Error("the authority's key of the version before is used on, or its Secret was changed")
	}
}
