package issuer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	// apiServerTimeout bounds one look at one API server.
	apiServerTimeout = 5 * time.Second
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
}

// Observe reads the keys of all API servers, or of the ConfigMap, and requests
// a token. What cannot be read says so in the result. The token itself is
// returned beside it, for the check against the published documents.
func (c *Cluster) Observe(ctx context.Context, source v1alpha1.KeySource) (core.Cluster, string) {
	var seen core.Cluster
	if source.Source == v1alpha1.KeySourceConfigMap && source.ConfigMap != nil {
		seen.ConfigMap = c.keyConfigMap(ctx, *source.ConfigMap)
	} else {
		seen.APIServers = c.apiServers(ctx)
	}
	raw, err := c.token(ctx)
	if err == nil {
		seen.Token, err = core.TokenHeader(raw)
	}
	if err != nil {
		seen.Token.Error = err.Error()
	}
	return seen, raw
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

// apiServers asks each API server by its own address: one that lags behind in a
// key rotation must not be hidden by a load balancer.
func (c *Cluster) apiServers(ctx context.Context) []core.APIServer {
	found, err := controller.APIServers(ctx, c.Client, c.Config)
	if err != nil {
		return []core.APIServer{{Address: "kubernetes.default", Error: err.Error()}}
	}
	servers := make([]core.APIServer, 0, len(found))
	for _, server := range found {
		servers = append(servers, c.ask(ctx, server.Config, server.Address))
	}
	return servers
}

func (c *Cluster) ask(ctx context.Context, config *rest.Config, address string) core.APIServer {
	seen := core.APIServer{Address: address}
	body, err := getJWKS(ctx, config)
	if err != nil {
		seen.Error = err.Error()
		return seen
	}
	seen.JWKS = body
	return seen
}

func getJWKS(ctx context.Context, config *rest.Config) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, apiServerTimeout)
	defer cancel()
	http1, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("/openid/v1/jwks").String(), nil)
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
		return nil, fmt.Errorf("GET /openid/v1/jwks: %s; grant the ClusterRole system:service-account-issuer-discovery", response.Status)
	}
	return body, nil
}

func (c *Cluster) token(ctx context.Context) (string, error) {
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = c.ServiceAccount.Namespace, c.ServiceAccount.Name
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences:         []string{probeAudience},
		ExpirationSeconds: new(int64(probeSeconds)),
	}}
	if err := c.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("request a token for ServiceAccount %s: %w", c.ServiceAccount, err)
	}
	return request.Status.Token, nil
}
