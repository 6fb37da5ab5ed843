package certificate_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	noon        = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	secretKey   = types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-webhook-cert"}
	privateKey  = types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-webhook-authority"}
	previousKey = types.NamespacedName{Namespace: "tabard-system", Name: "tabard-webhook-cert"}
)

func configuration() *admissionv1.MutatingWebhookConfiguration {
	hook := func(name string) admissionv1.MutatingWebhook {
		ignore := admissionv1.Ignore
		return admissionv1.MutatingWebhook{Name: name, FailurePolicy: &ignore, ClientConfig: admissionv1.WebhookClientConfig{
			Service: &admissionv1.ServiceReference{Namespace: "tabard-system", Name: "tabard-webhook"}}}
	}
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook", Labels: map[string]string{"a": "b"}},
		Webhooks:   []admissionv1.MutatingWebhook{hook("one.tabard.dev"), hook("two.tabard.dev")},
	}
}

func foreignSecret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: secretKey.Name},
		Data:       map[string][]byte{"tls.crt": []byte("theirs")},
	}
}

// setup is a controller on a fake API server that holds the objects.
func setup(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) (*certificate.Controller, *events.FakeRecorder) {
	t.Helper()
	cluster := fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
	recorder := events.NewFakeRecorder(10)
	return &certificate.Controller{
		Host: cluster, Served: cluster, Authority: privateKey, Secret: secretKey, Previous: previousKey, Configuration: "tabard-webhook", Validating: "tabard-role-selectors",
		Events: recorder, Now: func() time.Time { return noon }, Entropy: rand.Reader,
		Metrics: certificate.NewMetrics(prometheus.NewRegistry()),
	}, recorder
}

// pass makes one as the manager does.
func pass(t *testing.T, c *certificate.Controller) (reconcile.Result, error) {
	return controller.Measured(c.Metrics.Metrics, c).Reconcile(t.Context(), reconcile.Request{})
}

// reconcileUntilQuiet makes passes until one has nothing left to do soon.
func reconcileUntilQuiet(t *testing.T, c *certificate.Controller) reconcile.Result {
	t.Helper()
	for range 8 {
		result := must.Get(pass(t, c))(t)
		if result.RequeueAfter != time.Second {
			return result
		}
	}
	t.Fatal("the controller does not come to rest")
	return reconcile.Result{}
}

func TestReconcileMakesTheWebhookTrusted(t *testing.T) {
	t.Parallel()
	tests := map[string][]client.Object{
		"from nothing": {configuration()},
		"with an empty Secret that was made for it": {configuration(),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: secretKey.Name, Labels: map[string]string{"x": "y"}}}},
	}
	for name, objects := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := setup(t, interceptor.Funcs{}, objects...)
			if result := reconcileUntilQuiet(t, c); result.RequeueAfter != 12*time.Hour {
				t.Errorf("looks again in %s, want 12h", result.RequeueAfter)
			}
			var secret corev1.Secret
			var after admissionv1.MutatingWebhookConfiguration
			must.Do(t, errors.Join(c.Host.Get(t.Context(), secretKey, &secret), c.Served.Get(t.Context(), types.NamespacedName{Name: "tabard-webhook"}, &after)))
			if secret.Labels["app.kubernetes.io/managed-by"] != "tabard" {
				t.Errorf("labels %v", secret.Labels)
			}
			verify(t, secret.Data, after.Webhooks[0].ClientConfig.CABundle)
			var private corev1.Secret
			if err := c.Host.Get(t.Context(), privateKey, &private); err != nil || len(private.Data["ca.key"]) == 0 || secret.Data["ca.key"] != nil {
				t.Errorf("the authority's key is in the Secret that the webhook reads, or nowhere: %v", err)
			}
			want := configuration()
			want.ResourceVersion, want.TypeMeta = after.ResourceVersion, after.TypeMeta
			for i := range want.Webhooks {
				want.Webhooks[i].ClientConfig.CABundle = secret.Data["ca.crt"]
			}
			if diff := cmp.Diff(want, &after); diff != "" {
				t.Errorf("more than the bundles was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func verify(t *testing.T, data map[string][]byte, bundle []byte) {
	t.Helper()
	pair := must.Get(tls.X509KeyPair(data["tls.crt"], data["tls.key"]))(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "tabard-webhook.tabard-system.svc", CurrentTime: noon}); err != nil {
		t.Error(err)
	}
}

func TestReconcileLeavesAForeignSecretAlone(t *testing.T) {
	t.Parallel()
	c, recorder := setup(t, interceptor.Funcs{}, configuration(), foreignSecret())
	reconcileUntilQuiet(t, c)
	reconcileUntilQuiet(t, c)
	var secret corev1.Secret
	must.Do(t, c.Host.Get(t.Context(), secretKey, &secret))
	if diff := cmp.Diff(foreignSecret().Data, secret.Data); diff != "" {
		t.Errorf("the Secret was changed (-want +got):\n%s", diff)
	}
	if n := len(recorder.Events); n != 1 {
		t.Errorf("%d events for one problem, want 1", n)
	}
}

func TestReconcileWithoutConfigurationDoesNothing(t *testing.T) {
	t.Parallel()
	c, recorder := setup(t, interceptor.Funcs{})
	if result := reconcileUntilQuiet(t, c); result != (reconcile.Result{}) || len(recorder.Events) != 0 {
		t.Errorf("result %+v, %d events", result, len(recorder.Events))
	}
	if err := c.Host.Get(t.Context(), secretKey, &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("there is a Secret: %v", err)
	}
}

func TestReconcileAnswersTrouble(t *testing.T) {
	t.Parallel()
	down := errors.New("API server down")
	conflict := apierrors.NewConflict(corev1.Resource("x"), "x", errors.New("changed"))
	exists := apierrors.NewAlreadyExists(corev1.Resource("secrets"), secretKey.Name)
	tests := map[string]struct {
		funcs interceptor.Funcs
		fails bool
	}{
		"what cannot be read is tried again": {interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return down
		}}, true},
		"what cannot be written is tried again": {interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return down
		}}, true},
		"a Secret that came up meanwhile is looked at": {interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return exists
		}}, false},
		"a conflict is looked at": {interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return conflict
		}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := setup(t, test.funcs, configuration())
			result, err := pass(t, c)
			if (err != nil) != test.fails || !test.fails && result.RequeueAfter != time.Second {
				t.Errorf("result %+v, error %v", result, err)
			}
		})
	}
}

// TestPutBundleNoticesAChangedConfiguration plants a write between reading and
// patching: somebody turns the hooks round and names another service.
func TestPutBundleNoticesAChangedConfiguration(t *testing.T) {
	t.Parallel()
	var results []error
	c, _ := setup(t, interceptor.Funcs{Patch: func(ctx context.Context, under client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if results == nil {
			var current admissionv1.MutatingWebhookConfiguration
			if err := under.Get(ctx, client.ObjectKeyFromObject(object), &current); err != nil {
				return err
			}
			slices.Reverse(current.Webhooks)
			if err := under.Update(ctx, &current); err != nil {
				return err
			}
		}
		results = append(results, under.Patch(ctx, object, patch, options...))
		return results[len(results)-1]
	}}, configuration())
	reconcileUntilQuiet(t, c)
	if len(results) != 2 || !apierrors.IsConflict(results[0]) || results[1] != nil {
		t.Errorf("patches ended with %v, want a conflict and a success", results)
	}
	var after admissionv1.MutatingWebhookConfiguration
	must.Do(t, c.Served.Get(t.Context(), types.NamespacedName{Name: "tabard-webhook"}, &after))
	if after.Webhooks[0].Name != "two.tabard.dev" || len(after.Webhooks[0].ClientConfig.CABundle) == 0 {
		t.Errorf("hooks %+v", after.Webhooks)
	}
}
