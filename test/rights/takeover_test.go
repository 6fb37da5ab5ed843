package rights

import (
	"errors"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestTheTakeoverByAnOwner becomes the issuer with the rights that the operator once
// had in the issuer's namespace: its Secret is garbage-collected by an owner that is not
// there, and made anew as one that Kubernetes fills with the issuer's token. The same
// steps as the account that has these rights now end at the first.
func TestTheTakeoverByAnOwner(t *testing.T) {
	w := install(t)
	once := w.withOldRights("tabard-system", "once-operator", "once-cert")
	if err := w.takeOver(once, "tabard-system", "once-cert"); err != nil {
		t.Fatalf("the way that is looked for is none any more: %v", err)
	}
	now := w.as("tabard-certificate", "tabard-certificate")
	if err := refused(w.disown(now, "tabard-certificate", "tabard-webhook-cert"), secrets); err != nil {
		t.Errorf("the owner: %v", err)
	}
	if err := refused(now.Create(t.Context(), tokenSecret("tabard-system", "tabard-webhook-cert", "tabard-issuer")), "rbac"); err != nil {
		t.Errorf("the token of the issuer: %v", err)
	}
}

// withOldRights is an account with the rights to a Secret that a version had, when it
// may create Secrets in its namespace and update one by name.
func (w world) withOldRights(namespace, name, secretName string) client.Client {
	w.Helper()
	w.Make(
		secret(namespace, secretName, corev1.SecretTypeTLS),
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secretName}, Verbs: []string{"get", "list", "update", "watch"}},
		}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}},
	)
	taken := w.as(namespace, name)
	// The API server learns of the rights some moments later.
	w.Await(func() error {
		return taken.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: secretName}, &corev1.Secret{})
	})
	return taken
}

// disown gives a Secret an owner that is not there.
func (w world) disown(taken client.Client, namespace, name string) error {
	stored := &corev1.Secret{}
	if err := taken.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, stored); err != nil {
		return err
	}
	stored.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "00000000-0000-0000-0000-000000000001"}}
	return taken.Update(w.Context(), stored)
}

// takeOver becomes the issuer with rights to a Secret of its namespace.
func (w world) takeOver(taken client.Client, namespace, name string) error {
	w.Helper()
	if err := w.disown(taken, namespace, name); err != nil {
		return err
	}
	w.Await(func() error {
		return taken.Create(w.Context(), tokenSecret(namespace, name, "tabard-issuer")) // until the other is gone
	})
	made := &corev1.Secret{}
	w.Await(func() error {
		if err := taken.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, made); err != nil {
			return err
		}
		if len(made.Data[corev1.ServiceAccountTokenKey]) == 0 {
			return errors.New("there is no token in it yet")
		}
		return nil
	})
	config := rest.AnonymousClientConfig(w.Config)
	config.BearerToken = string(made.Data[corev1.ServiceAccountTokenKey])
	who := &authenticationv1.SelfSubjectReview{}
	if err := w.ClientFor(config).Create(w.Context(), who); err != nil {
		return err
	}
	if who.Status.UserInfo.Username != "system:serviceaccount:tabard-system:tabard-issuer" {
		return errors.New("the token is of " + who.Status.UserInfo.Username)
	}
	return nil
}
