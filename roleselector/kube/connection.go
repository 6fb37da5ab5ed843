package kube

import (
	"context"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/kube/follow"
)

// newReader makes a client that reads what is followed. Its mapper is a table: a
// kind that is not installed is then an answer of the API server like others.
func newReader(config *rest.Config, fresh time.Duration) (client.WithWatch, error) {
	config = ownConnections(config, fresh)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, identityv1alpha1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersion.WithKind("IAMRoleSelector"), meta.RESTScopeRoot)
	mapper.Add(identityv1alpha1.GroupVersion.WithKind("IAMRoleChoice"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	return client.NewWithWatch(config, client.Options{HTTPClient: httpClient, Scheme: scheme, Mapper: mapper})
}

// ownConnections is a configuration like another, for connections that are used for
// nothing else: the controller's own calls neither hold up the pulse by their limit
// of requests a second, nor keep a connection alive on which no watch comes through.
// A configuration with a transport of its own keeps that one.
func ownConnections(config *rest.Config, fresh time.Duration) *rest.Config {
	own := rest.CopyConfig(config)
	own.QPS, own.RateLimiter = -1, nil
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: fresh}).DialContext
	}
	own.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return connection{c, fresh}, nil
	}
	own.Wrap(follow.Bounded)
	return own
}

// connection ends when nothing has arrived for too long: by the pulse, something
// arrives on each that is alive. So the watches on one that is not end too, and are
// begun anew on another, where they would otherwise stay open and silent.
type connection struct {
	net.Conn
	fresh time.Duration
}

// Read implements net.Conn.
func (c connection) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.fresh)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}
