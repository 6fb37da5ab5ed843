package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// filesInterval is how often certificate files are looked at. The kubelet takes
// a minute to renew a mounted Secret, so more often gains nothing.
const filesInterval = 10 * time.Second

// certificate is the serving certificate of the moment. It is safe for
// concurrent use.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// load takes a certificate over for the handshakes to come. One that does not
// fit its key leaves what was there.
func (c *certificate) load(chain, key []byte) error {
	loaded, err := tls.X509KeyPair(chain, key)
	if err != nil {
		// The error speaks of PEM blocks and key types, never of their content.
		return fmt.Errorf("serving certificate: expected a PEM chain and its key: %w", err)
	}
	c.current.Store(&loaded)
	return nil
}

// get is for tls.Config.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if loaded := c.current.Load(); loaded != nil {
		return loaded, nil
	}
	return nil, errors.New("there is no serving certificate yet")
}

// check says why the server cannot be trusted by anybody now.
func (c *certificate) check(now time.Time) error {
	loaded := c.current.Load()
	switch {
	case loaded == nil:
		return errors.New("there is no serving certificate yet")
	case now.After(loaded.Leaf.NotAfter):
		return fmt.Errorf("the serving certificate expired at %s", loaded.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// watchFiles loads the files now and whenever they have changed.
func (c *certificate) watchFiles(ctx context.Context, chainFile, keyFile string) error {
	var last []byte
	read := func() error {
		chain, err := os.ReadFile(chainFile)
		if err != nil {
			return fmt.Errorf("read --tls-cert: %w", err)
		}
		key, err := os.ReadFile(keyFile)
		if err != nil {
			return fmt.Errorf("read --tls-key: %w", err)
		}
		both := append(chain, key...)
		if bytes.Equal(both, last) {
			return nil
		}
		last = both
		return c.load(chain, key)
	}
	if err := read(); err != nil {
		return err
	}
	go func() {
		ticker := time.NewTicker(filesInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := read(); err != nil {
					log.FromContext(ctx).Error(err, "the serving certificate stays as it was")
				}
			}
		}
	}()
	return nil
}

// watchSecret loads the Secret whenever it changes. It returns a cache to start.
func (c *certificate) watchSecret(ctx context.Context, config *rest.Config, namespace, name string) (cache.Cache, error) {
	made, err := cache.New(config, cache.Options{Mapper: kinds(), ByObject: map[client.Object]cache.ByObject{
		&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", name)}},
			Transform:  servingOnly,
		},
	}})
	if err != nil {
		return nil, fmt.Errorf("make the cache of Secret %s/%s: %w", namespace, name, err)
	}
	informer, err := made.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch Secret %s/%s: %w", namespace, name, err)
	}
	logger := log.FromContext(ctx).WithValues("namespace", namespace, "secret", name)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { c.take(logger, object) },
		UpdateFunc: func(_, object any) { c.take(logger, object) },
	})
	if err != nil {
		return nil, fmt.Errorf("watch Secret %s/%s: %w", namespace, name, err)
	}
	return made, nil
}

func (c *certificate) take(logger logr.Logger, object any) {
	secret, ok := object.(*corev1.Secret)
	if !ok || len(secret.Data[corev1.TLSCertKey]) == 0 {
		return // the operator has not filled it yet; its update comes here again
	}
	if err := c.load(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]); err != nil {
		logger.Error(err, "the serving certificate stays as it was")
		return
	}
	logger.Info("serving certificate loaded", "expires", c.current.Load().Leaf.NotAfter)
}

// servingOnly forgets the authority's key that lies in the same Secret: a server
// has no use for it.
func servingOnly(object any) (any, error) {
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return object, nil
	}
	secret.Data = map[string][]byte{
		corev1.TLSCertKey:       secret.Data[corev1.TLSCertKey],
		corev1.TLSPrivateKeyKey: secret.Data[corev1.TLSPrivateKeyKey],
	}
	secret.ManagedFields = nil
	return secret, nil
}
