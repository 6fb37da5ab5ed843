package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
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

// TestTheOperatorKeepsTheBundleOfTheWarnings with the rights that are shipped: when
// their configuration comes, and when somebody takes the bundle away.
func TestTheOperatorKeepsTheBundleOfTheWarnings(t *testing.T) {
	config := testkit.StartAPIServer(t, "https://issuer.example.com").Config
	cluster, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	installNamespaces(t, cluster)
	for _, object := range shipped(t, "webhook.yaml") {
		create(t, cluster, object)
	}
	own := asOperator(t, cluster, config)
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.WithoutCancel(t.Context()), ctrl.Log))
	ended := make(chan error, 1)
	go func() { ended <- keepCertificate(ctx, own) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	var secret corev1.Secret
	key := types.NamespacedName{Namespace: "tabard-system", Name: "tabard-webhook-cert"}
	eventually(t, func() error { return cluster.Get(t.Context(), key, &secret) })
	installFollowers(t, cluster)
	follows := func() error { return followersTrust(t, cluster, secret.Data["ca.crt"]) }
	eventually(t, follows)

	stored := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	stored.Name = "tabard-role-selectors"
	patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]`))
	if err := cluster.Patch(t.Context(), stored, patch); err != nil {
		t.Fatal(err)
	}
	eventually(t, follows)

	limited, err := client.New(own, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	foreign := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	foreign.Name = "somebody-elses"
	patch = client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`))
	if err := limited.Patch(t.Context(), foreign, patch); !apierrors.IsForbidden(err) {
		t.Errorf("the operator may change somebody else's configuration: %v", err)
	}
}
