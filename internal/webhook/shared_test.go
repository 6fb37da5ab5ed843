package webhook

import (
	"context"
	"os"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// shared is the API server of all tests, by way of Emptied.
var shared = testkit.SharedCluster(testkit.ClusterOptions{Issuer: "https://issuer.example.com"})

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// Emptied is the tests' API server, which the end of the test empties: the names in it
// are those that the operator's rights are for, so that no test can have its own.
func Emptied(t *testing.T) *testkit.Cluster {
	t.Helper()
	c := shared(t)
	t.Cleanup(func() { empty(context.WithoutCancel(t.Context()), t, c) })
	return c
}

func empty(ctx context.Context, t *testing.T, c *testkit.Cluster) {
	t.Helper()
	for _, of := range []client.Object{
		&admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{},
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{}, &admissionregistrationv1.ValidatingAdmissionPolicy{},
	} {
		must.Do(t, c.DeleteAllOf(ctx, of))
	}
	var roles rbacv1.ClusterRoleList
	var bindings rbacv1.ClusterRoleBindingList
	must.Do(t, c.List(ctx, &roles))
	must.Do(t, c.List(ctx, &bindings))
	for _, role := range roles.Items {
		if strings.HasPrefix(role.Name, "tabard") {
			must.Do(t, c.Delete(ctx, &role))
		}
	}
	for _, binding := range bindings.Items {
		if strings.HasPrefix(binding.Name, "tabard") {
			must.Do(t, c.Delete(ctx, &binding))
		}
	}
	var namespaces corev1.NamespaceList
	must.Do(t, c.List(ctx, &namespaces))
	for _, namespace := range namespaces.Items {
		if !strings.HasPrefix(namespace.Name, "kube-") {
			emptyNamespace(ctx, t, c, &namespace)
		}
	}
}

// emptyNamespace also removes the namespace, unless it is the one that always is.
func emptyNamespace(ctx context.Context, t *testing.T, c *testkit.Cluster, namespace *corev1.Namespace) {
	t.Helper()
	for _, of := range []client.Object{
		&corev1.Pod{}, &corev1.Secret{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.RoleBinding{},
	} {
		must.Do(t, c.DeleteAllOf(ctx, of, client.InNamespace(namespace.Name)))
	}
	if namespace.Name == corev1.NamespaceDefault {
		return
	}
	must.Do(t, c.DeleteAllOf(ctx, &corev1.Service{}, client.InNamespace(namespace.Name)))
	must.Do(t, c.Delete(ctx, namespace))
	namespace.ResourceVersion, namespace.Spec.Finalizers = "", nil
	must.Do(t, c.SubResource("finalize").Update(ctx, namespace)) // no controller does it here
}
