package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/awsauth"
)

// tokenSeconds is how long a requested token is good for: the least that API servers
// give (Kubernetes API: TokenRequestSpec). It is exchanged at once.
const tokenSeconds = 600

var serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}

// Tokens requests tokens of ServiceAccounts from the API server (TokenRequest). It needs
// the right to create serviceaccounts/token, in the namespaces or for the names that it
// is asked for: nothing more should be granted, as it makes its holder each of those
// ServiceAccounts. It keeps no token.
type Tokens struct{ Client dynamic.Interface }

var _ awsauth.Tokens = Tokens{}

// Token implements awsauth.Tokens.
func (t Tokens) Token(ctx context.Context, namespace, serviceAccount, audience string) (string, error) {
	switch {
	case t.Client == nil:
		return "", errors.New("there is no client to request tokens with; set Client of awsauth/kube's Tokens")
	case namespace == "" || serviceAccount == "":
		return "", fmt.Errorf("the ServiceAccount is %q in the namespace %q; say both", serviceAccount, namespace)
	}
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{"name": serviceAccount},
		"spec": map[string]any{"audiences": []any{audience}, "expirationSeconds": int64(tokenSeconds)},
	}}
	answer, err := t.Client.Resource(serviceAccounts).Namespace(namespace).Create(ctx, request, metav1.CreateOptions{}, "token")
	switch {
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("%w: %w", awsauth.ErrNotFound, err)
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("%w; grant this process the verb create on serviceaccounts/token there", err)
	case err != nil:
		return "", err
	}
	token, _, err := unstructured.NestedString(answer.Object, "status", "token")
	return token, err
}
