// Package rights attacks the accounts of Tabard on a real API server: each attack is
// made by an impersonated account with exactly the rights and policies that are
// shipped. What is refused here is what go run ./hack/rights takes for refused.
package rights

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// world is a cluster with what users apply.
type world struct{ *testkit.Cluster }

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// shared is a cluster to which all is applied that users apply, with a team's namespace.
var shared = testkit.SharedCluster(testkit.ClusterOptions{
	ControllerManager: true, CRDs: []string{testkit.CRDs, "internal/controller/hubaccess/testdata"}, Foreign: []testkit.ForeignKinds{testkit.ClusterAPI, testkit.MachineAPI, testkit.OLM},
}, func(c *testkit.Cluster) {
	c.MakeNamespaces("open-cluster-management-hub")
	c.Shell("kubectl apply -f config/manifests -f config/manifests/capacity -f config/manifests/credentials -f config/manifests/hub -f config/manifests/ocm/webhook.yaml -f config/manifests/operators -f config/manifests/webhookdeployment -f config/rbac -f config/manifests/role-selectors/warnings.yaml")
	world{c}.prepareTeam()
	world{c}.prepareHub()
	world{c}.preparePlans()
})

// install makes anew what a test before has taken away of it or, of the hooks, changed,
// and waits until the policies are in force.
func install(t *testing.T) world {
	t.Helper()
	w := world{shared(t)}
	must.Do(t, w.DeleteAllOf(t.Context(), &admissionv1.MutatingWebhookConfiguration{}))
	kept := append(testkit.Objects(t, "config/manifests/webhook.yaml"), testkit.Objects(t, "config/manifests/policies.yaml")...)
	kept = append(kept, testkit.Objects(t, "config/manifests/ocm/webhook.yaml")...)
	for _, object := range append(kept, secret("tabard-certificate", "tabard-webhook-cert", corev1.SecretTypeTLS)) {
		if err := w.Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	w.policiesAre(true)
	return w
}

// as is a client that has the rights of an account and no others.
func (w world) as(namespace, name string) client.Client {
	w.Helper()
	return w.ClientFor(w.As("system:serviceaccount:" + namespace + ":" + name))
}

// policiesAre waits until the API server has taken up that each policy is there, or
// is not. It knows each by a request that is dry and that RBAC allows.
func (w world) policiesAre(there bool) {
	w.Helper()
	set := machineDeployment("canary")
	if err := w.Create(w.Context(), set); err != nil && !apierrors.IsAlreadyExists(err) {
		w.Fatal(err)
	}
	const label = `{"metadata":{"labels":{"canary":"x"}}}`
	of := func(name string) client.Client { return client.NewDryRunClient(w.as("tabard-system", name)) }
	certificate, deployment, credentials := client.NewDryRunClient(w.as("tabard-certificate", "tabard-certificate")), of("tabard-webhookdeployment"), of("tabard-credentials")
	canaries := map[string]func(context.Context) error{
		secrets: func(ctx context.Context) error {
			return create(func() client.Object { return secret("tabard-certificate", "canary", corev1.SecretTypeOpaque) })(ctx, certificate)
		},
		webhooks: func(ctx context.Context) error { return merge(mutating, label)(ctx, certificate) },
		pods:     func(ctx context.Context) error { return certificate.Create(ctx, pod("default")) },
		capacity: func(ctx context.Context) error {
			return merge(func() client.Object { return set }, label)(ctx, of("tabard-capacity"))
		},
		workloads:           func(ctx context.Context) error { return merge(theDeployment, label)(ctx, deployment) },
		services:            func(ctx context.Context) error { return merge(theService, label)(ctx, deployment) },
		ownHooks:            func(ctx context.Context) error { return merge(mutating, label)(ctx, deployment) },
		credentialsAccounts: func(ctx context.Context) error { return merge(theirAccount, label)(ctx, credentials) },
		credentialsSecrets:  func(ctx context.Context) error { return merge(theirSecret, label)(ctx, credentials) },
		credentialsRequests: func(ctx context.Context) error { return merge(theRequest, label)(ctx, credentials) },
		managedClusters:     func(ctx context.Context) error { return merge(theCluster, label)(ctx, of("tabard-hub")) },
		installPlans:        func(ctx context.Context) error { return merge(thePlan, label)(ctx, of("tabard-operators")) },
	}
	for name, canary := range canaries {
		w.Await(func() error {
			if err := canary(w.Context()); (refused(err, name) == nil) != there {
				return fmt.Errorf("the policy %s is not what is wanted, it was answered %s", name, fmt.Sprint(err))
			}
			return nil
		})
	}
}

// withoutPolicies takes all policies away.
func (w world) withoutPolicies() {
	w.Helper()
	if err := w.DeleteAllOf(w.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{}, client.MatchingLabels{"app.kubernetes.io/name": "tabard"}); err != nil {
		w.Fatal(err)
	}
	w.policiesAre(false)
}

func secret(namespace, name string, kind corev1.SecretType) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Type: kind,
		Data: map[string][]byte{"tls.crt": nil, "tls.key": nil}}
}

// tokenSecret is one that Kubernetes fills with a token of an account.
func tokenSecret(namespace, name, account string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		Annotations: map[string]string{corev1.ServiceAccountNameKey: account}}, Type: corev1.SecretTypeServiceAccountToken}
}

func hooks() *admissionv1.MutatingWebhookConfiguration {
	return &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"}}
}

func warnings() *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "tabard-role-selectors"}}
}

// pod is one of an account in the namespace for dry runs.
func pod(account string) *corev1.Pod {
	no, yes := false, true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-probe", GenerateName: "attack-"},
		Spec: corev1.PodSpec{
			ServiceAccountName: account,
			SecurityContext:    &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "app", Image: "example.com/app", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}},
		},
	}
}

// refused demands that an attack was refused, by what is said: the policies' names, or
// rbac.
func refused(err error, by string) error {
	switch {
	case err == nil:
		return errors.New("it succeeded")
	case by == "rbac" && strings.Contains(err.Error(), "cannot "):
		return nil
	case by != "rbac" && strings.Contains(err.Error(), "ValidatingAdmissionPolicy '"+by+"'"):
		return nil
	}
	return fmt.Errorf("it was refused by something else than %s: %w", by, err)
}
