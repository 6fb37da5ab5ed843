package evidence

import (
	"context"
	"encoding/json"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/inject"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/platform/together"
)

// Public fetches the two documents of an issuer without credentials. The error says that this machine
// cannot fetch at all; what came of each fetch is in what is returned.
type Public func(ctx context.Context, url string) (core.Public, error)

// readIssuer reads the issuer of the cluster's tokens, and the keys that the API server has for them.
// ServiceAccounts may read both documents, and people by a binding only. Who may not read them and may
// request tokens in the namespace gets one that lives for ten minutes and that no service accepts, of which only
// the issuer and the key's ID are kept
// (https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery).
func readIssuer(ctx context.Context, kube kubernetes.Interface, namespace, account string) (issuer chain.Seen[string], signing chain.Seen[chain.Signing]) {
	var all together.Group
	all.Go(func() {
		issuer = shown(ctx, kube, "/.well-known/openid-configuration", namespace, func(text []byte) (*string, bool) {
			var document struct {
				Issuer string `json:"issuer"`
			}
			err := json.Unmarshal(text, &document)
			return &document.Issuer, err == nil
		})
	})
	all.Go(func() {
		signing = shown(ctx, kube, "/openid/v1/jwks", namespace, func(text []byte) (*chain.Signing, bool) {
			keys := core.UsableKeys(text)
			return &chain.Signing{Keys: keys}, len(keys) > 0
		})
	})
	all.Wait()
	if issuer.Unread == "" && signing.Unread == "" {
		return issuer, signing
	}
	token, err := freshToken(ctx, kube, namespace, account)
	if err != nil {
		return issuer, signing
	}
	if issuer.Unread != "" {
		issuer = chain.Seen[string]{Value: &token.Issuer}
	}
	if signing.Unread != "" || signing.Value == nil {
		signing = chain.Seen[chain.Signing]{Value: &chain.Signing{}}
	}
	signing.Value.Token = token.KeyID
	return issuer, signing
}

// shown reads a document of the API server. One that is not there is no evidence, and not unread.
func shown[T any](ctx context.Context, kube kubernetes.Interface, path, namespace string, parse func([]byte) (*T, bool)) (out chain.Seen[T]) {
	text, err := kube.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return out
	case err != nil:
		out.Unread = line.Of(err.Error())
		if apierrors.IsForbidden(err) { // of a path, the client has no words of the API server's
			out.Unread = "the API server shows " + path + " to others alone"
		}
		out.Needs = "get " + path + ", which the ClusterRole system:service-account-issuer-discovery has, or create serviceaccounts/token in the namespace " + namespace
		return out
	}
	value, fits := parse(text)
	if !fits {
		return chain.Seen[T]{Unread: path + " cannot be used", Needs: "an API server that answers"}
	}
	return chain.Seen[T]{Value: value}
}

// freshToken is what a new token of a ServiceAccount says of itself.
func freshToken(ctx context.Context, kube kubernetes.Interface, namespace, account string) (core.Token, error) {
	made, err := kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"tabard.dev/explain"}, ExpirationSeconds: new(int64(inject.MinTokenExpiration))},
	}, metav1.CreateOptions{})
	if err != nil {
		return core.Token{}, err
	}
	return core.TokenHeader(made.Status.Token)
}

// publishedAt fetches the documents of an issuer as AWS does.
func publishedAt(ctx context.Context, public Public, url string) (out chain.Seen[chain.Published]) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	seen, err := public(ctx, url)
	if err != nil {
		out.Unread, out.Needs = line.Of(err.Error()), "a machine that can fetch them"
		return out
	}
	out.Value = chain.PrunePublished(url, seen)
	return out
}
