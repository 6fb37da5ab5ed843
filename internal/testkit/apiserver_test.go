package testkit

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestStartAPIServer(t *testing.T) {
	server := StartAPIServer(t, "https://issuer.example.com")
	first := header(t, server)
	server.RotateKey(t)
	if second := header(t, server); second == first {
		t.Errorf("the API server with another key still signs with the old: %s", second)
	}
}

// header is the first part of a token, which names the key.
func header(t *testing.T, server *APIServer) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	accounts := client.CoreV1().ServiceAccounts("default")
	_, err = accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	answer := must.Get(accounts.CreateToken(t.Context(), "probe", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	head, _, _ := strings.Cut(answer.Status.Token, ".")
	return head
}
