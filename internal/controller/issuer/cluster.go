package issuer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

const (
	// probeAudience is the audience of the tokens that the controller requests
	// to see what the cluster signs with. No cloud knows it, so such a token is
	// of no use to whoever might get hold of it.
	probeAudience = "probe.tabard.dev"
	// probeSeconds is the shortest life that an API server grants.
	probeSeconds = 600
)

// Cluster reads what the served cluster signs its tokens with.
type Cluster struct {
	// Config reaches the API server.
	Config *rest.Config
	// Client reads without a cache.
	Client client.Client
	// ServiceAccount is the account that tokens are requested for: the
	// controller's own.
	ServiceAccount client.ObjectKey
	// AsConfigured asks the API server at Config's address alone, for a person whose
	// machine does not reach each by its own.
	AsConfigured bool
}

// Observe reads the keys of all API servers, or of the ConfigMap, and requests a
// token from each server. What cannot be read says so in the result. The tokens
// themselves are returned beside it, one for each API server, for the check against
// the published documents.
//
// Each server is asked by its own address: one that lags behind in a key rotation,
// or signs with a key of its own, must not be hidden by a load balancer.
func (c *Cluster) Observe(ctx context.Context, source v1alpha1.KeySource) (core.Cluster, []string) {
	var seen core.Cluster
	inConfigMap := source.Source == v1alpha1.KeySourceConfigMap && source.ConfigMap != nil
	if inConfigMap {
		seen.ConfigMap = c.keyConfigMap(ctx, *source.ConfigMap)
	}
	found, err := c.servers(ctx)
	if err != nil {
		seen.APIServers = []core.APIServer{{Address: "kubernetes.default", Error: err.Error(), Token: core.Token{Error: err.Error()}}}
		return seen, []string{""}
	}
	seen.APIServers = make([]core.APIServer, len(found))
	tokens := make([]string, len(found))
	controller.EachAPIServer(ctx, found, func(ctx context.Context, i int, server controller.APIServer) {
		seen.APIServers[i], tokens[i] = c.ask(ctx, server, !inConfigMap)
	})
	return seen, tokens
}

func (c *Cluster) servers(ctx context.Context) ([]controller.APIServer, error) {
	if c.AsConfigured {
		return []controller.APIServer{{Address: c.Config.Host, Config: c.Config}}, nil
	}
	return controller.APIServers(ctx, c.Client, c.Config)
}

func (c *Cluster) keyConfigMap(ctx context.Context, ref v1alpha1.ConfigMapReference) *core.KeyConfigMap {
	var stored corev1.ConfigMap
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &stored)
	switch {
	case apierrors.IsNotFound(err):
		return &core.KeyConfigMap{Missing: true}
	case err != nil:
		return &core.KeyConfigMap{Error: err.Error()}
	}
	return &core.KeyConfigMap{Data: stored.Data}
}

// ask reads the keys of one API server, if they are wanted, and requests a token
// from it.
func (c *Cluster) ask(ctx context.Context, server controller.APIServer, wantKeys bool) (core.APIServer, string) {
	seen := core.APIServer{Address: server.Address}
	raw, err := c.token(ctx, server.Config)
	if err == nil {
		seen.Token, err = core.TokenHeader(raw)
	}
	if err != nil {
		seen.Token.Error = err.Error()
	}
	if wantKeys {
		if seen.JWKS, err = getJWKS(ctx, server.Config); err != nil {
			seen.Error = err.Error()
		}
	}
	return seen, raw
}

// IssuerName is the issuer that the API server's discovery document names.
func (c *Cluster) IssuerName(ctx context.Context) (string, error) {
	body, err := get(ctx, c.Config, "/.well-known/openid-configuration")
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer string `json:"issuer"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return "", fmt.Errorf("the API server's discovery document: %w", err)
	}
	return document.Issuer, nil
}

func getJWKS(ctx context.Context, config *rest.Config) ([]byte, error) {
	return get(ctx, config, "/openid/v1/jwks")
}

// get reads one of the two documents that an API server has about its tokens.
func get(ctx context.Context, config *rest.Config, path string) ([]byte, error) {
	http1, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath(path).String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http1.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(io.LimitReader(response.Body, core.MaxDocumentBytes))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s; grant the ClusterRole system:service-account-issuer-discovery", path, response.Status)
	}
	return body, nil
}

func (c *Cluster) token(ctx context.Context, config *rest.Config) (string, error) {
	server, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences:         []string{probeAudience},
		ExpirationSeconds: new(int64(probeSeconds)),
	}}
	account := c.ServiceAccount
	answer, err := server.ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for ServiceAccount %s: %w", account, err)
	}
	return answer.Status.Token, nil
}
