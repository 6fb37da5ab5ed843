package certificate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func validating(name string) *admissionv1.ValidatingWebhookConfiguration {
	ignore := admissionv1.Ignore
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionv1.ValidatingWebhook{{Name: "role-selectors.tabard.dev", FailurePolicy: &ignore, ClientConfig: admissionv1.WebhookClientConfig{
			Service: &admissionv1.ServiceReference{Namespace: "tabard-system", Name: "tabard-webhook"}}}},
	}
}

func bundleOf(t *testing.T, c *certificate.Controller, name string) string {
	t.Helper()
	var stored admissionv1.ValidatingWebhookConfiguration
	must.Do(t, c.Served.Get(t.Context(), types.NamespacedName{Name: name}, &stored))
	return string(stored.Webhooks[0].ClientConfig.CABundle)
}

func TestTheValidatingConfigurationFollowsAndNoOtherOne(t *testing.T) {
	t.Parallel()
	c, recorder := setup(t, interceptor.Funcs{}, configuration(), validating("tabard-role-selectors"), validating("somebody-elses"))
	if result := reconcileUntilQuiet(t, c); result.RequeueAfter != 12*time.Hour {
		t.Errorf("looks again in %s, want 12h", result.RequeueAfter)
	}
	var after admissionv1.MutatingWebhookConfiguration
	must.Do(t, c.Served.Get(t.Context(), types.NamespacedName{Name: "tabard-webhook"}, &after))
	bundle := string(after.Webhooks[0].ClientConfig.CABundle)
	want := map[string]string{"tabard-role-selectors": bundle, "somebody-elses": ""}
	for name, want := range want {
		if got := bundleOf(t, c, name); got != want || bundle == "" {
			t.Errorf("%s trusts %q, want %q", name, got, want)
		}
	}
	if n := len(recorder.Events); n != 0 {
		t.Errorf("%d events, want none", n)
	}
	var stored admissionv1.ValidatingWebhookConfiguration
	must.Do(t, c.Served.Get(t.Context(), types.NamespacedName{Name: "tabard-role-selectors"}, &stored))
	whole := validating("tabard-role-selectors")
	whole.ResourceVersion, whole.TypeMeta = stored.ResourceVersion, stored.TypeMeta
	whole.Webhooks[0].ClientConfig.CABundle = []byte(bundle)
	if diff := cmp.Diff(whole, &stored); diff != "" {
		t.Errorf("more than the bundle was changed (-want +got):\n%s", diff)
	}
}

// TestAFollowerThatCannotBeChangedHoldsNothingUp: pods go on to get identity, and
// it is tried again.
func TestAFollowerThatCannotBeChangedHoldsNothingUp(t *testing.T) {
	t.Parallel()
	for name, funcs := range map[string]func(refuses *bool) interceptor.Funcs{
		"it cannot be read": func(refuses *bool) interceptor.Funcs {
			return interceptor.Funcs{Get: func(ctx context.Context, under client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if _, is := object.(*admissionv1.ValidatingWebhookConfiguration); is && *refuses {
					return errors.New("refused")
				}
				return under.Get(ctx, key, object, options...)
			}}
		},
		"it cannot be written": func(refuses *bool) interceptor.Funcs {
			return interceptor.Funcs{Patch: func(ctx context.Context, under client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				if _, is := object.(*admissionv1.ValidatingWebhookConfiguration); is && *refuses {
					return errors.New("refused")
				}
				return under.Patch(ctx, object, patch, options...)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses := true
			c, _ := setup(t, funcs(&refuses), configuration(), validating("tabard-role-selectors"))
			if result := reconcileUntilQuiet(t, c); result != (reconcile.Result{RequeueAfter: time.Minute}) {
				t.Errorf("result %+v, want another pass in a minute", result)
			}
			var after admissionv1.MutatingWebhookConfiguration
			must.Do(t, c.Served.Get(t.Context(), types.NamespacedName{Name: "tabard-webhook"}, &after))
			if len(after.Webhooks[0].ClientConfig.CABundle) == 0 {
				t.Error("the configuration that injects was not told the CA")
			}
			refuses = false
			reconcileUntilQuiet(t, c)
			if got, want := bundleOf(t, c, "tabard-role-selectors"), string(after.Webhooks[0].ClientConfig.CABundle); got != want {
				t.Errorf("the follower trusts %q afterwards, want %q", got, want)
			}
		})
	}
}
