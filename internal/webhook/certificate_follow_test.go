package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/webhook"
)

// installFollowers creates the configuration of the warnings, and another one of
// the same content that belongs to somebody else.
func installFollowers(t *testing.T, cluster client.Client) {
	t.Helper()
	for _, object := range shipped(t, "role-selectors/warnings.yaml") {
		if _, is := object.(*admissionregistrationv1.ValidatingWebhookConfiguration); !is {
			continue
		}
		foreign := object.DeepCopyObject().(client.Object)
		foreign.SetName("somebody-elses")
		create(t, cluster, object)
		create(t, cluster, foreign)
	}
}

// followersTrust says whether the configuration of the warnings trusts the bundle,
// and somebody else's trusts nothing as before.
func followersTrust(t *testing.T, cluster client.Client, bundle []byte) error {
	t.Helper()
	var problems []error
	for name, want := range map[string]string{"tabard-role-selectors": string(bundle), "somebody-elses": ""} {
		var stored admissionregistrationv1.ValidatingWebhookConfiguration
		if err := cluster.Get(t.Context(), types.NamespacedName{Name: name}, &stored); err != nil {
			return err
		}
		if got := string(stored.Webhooks[0].ClientConfig.CABundle); got != want {
			problems = append(problems, fmt.Errorf("%s trusts %q, want %q", name, got, want))
		}
	}
	return errors.Join(problems...)
}

// withOperator is an API server with what is shipped, and the operator's config of
// it with the rights that it has; change makes less of them.
func withOperator(t *testing.T, change func(client.Client)) (cluster client.Client, own *rest.Config) {
	t.Helper()
	server := webhook.Emptied(t)
	cluster = server
	installNamespaces(t, cluster)
	for _, object := range shipped(t, "webhook.yaml") {
		create(t, cluster, object)
	}
	own = asOperator(t, cluster, server.Config)
	change(cluster)
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.WithoutCancel(t.Context()), ctrl.Log))
	ended := make(chan error, 1)
	go func() { ended <- keepCertificate(ctx, own) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return cluster, own
}

// awaitAuthority waits for the CA that the operator makes, until the configuration
// that injects trusts it.
func awaitAuthority(t *testing.T, cluster client.Client) (bundle []byte) {
	t.Helper()
	eventually(t, func() error {
		var secret corev1.Secret
		var stored admissionregistrationv1.MutatingWebhookConfiguration
		err := errors.Join(cluster.Get(t.Context(), types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-webhook-cert"}, &secret),
			cluster.Get(t.Context(), types.NamespacedName{Name: "tabard-webhook"}, &stored))
		if err != nil {
			return err
		}
		bundle = stored.Webhooks[0].ClientConfig.CABundle
		if len(bundle) == 0 || !bytes.Equal(bundle, secret.Data["ca.crt"]) {
			return fmt.Errorf("the configuration trusts %q, want what the Secret holds", bundle)
		}
		return nil
	})
	return bundle
}

// TestTheOperatorKeepsTheBundleOfTheWarnings with the rights that are shipped: when
// their configuration comes, and when somebody takes the bundle away.
func TestTheOperatorKeepsTheBundleOfTheWarnings(t *testing.T) {
	cluster, own := withOperator(t, func(client.Client) {})
	bundle := awaitAuthority(t, cluster)
	installFollowers(t, cluster)
	follows := func() error { return followersTrust(t, cluster, bundle) }
	eventually(t, follows)

	stored := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	stored.Name = "tabard-role-selectors"
	patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]`))
	must.Do(t, cluster.Patch(t.Context(), stored, patch))
	eventually(t, follows)

	limited := must.Get(client.New(own, client.Options{}))(t)
	foreign := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	foreign.Name = "somebody-elses"
	patch = client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`))
	if err := limited.Patch(t.Context(), foreign, patch); !apierrors.IsForbidden(err) {
		t.Errorf("the operator may change somebody else's configuration: %v", err)
	}
}

// TestAnOperatorWithoutTheRightToTheWarningsKeepsTheCertificate: so is one whose
// ClusterRole is of the version before.
func TestAnOperatorWithoutTheRightToTheWarningsKeepsTheCertificate(t *testing.T) {
	var whole rbacv1.ClusterRole
	cluster, _ := withOperator(t, func(cluster client.Client) {
		must.Do(t, cluster.Get(t.Context(), types.NamespacedName{Name: "tabard-certificate"}, &whole))
		less := whole.DeepCopy()
		less.Rules = slices.DeleteFunc(less.Rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.Resources, "validatingwebhookconfigurations")
		})
		if len(less.Rules) == len(whole.Rules) {
			t.Fatal("the ClusterRole has no rule on validatingwebhookconfigurations")
		}
		must.Do(t, cluster.Update(t.Context(), less))
	})
	installFollowers(t, cluster)
	bundle := awaitAuthority(t, cluster)
	if err := followersTrust(t, cluster, nil); err != nil {
		t.Error(err)
	}
	whole.ResourceVersion = ""
	must.Do(t, cluster.Update(t.Context(), &whole))
	eventually(t, func() error { return followersTrust(t, cluster, bundle) })
}
