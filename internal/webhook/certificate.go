package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// filesInterval is how often certificate files are looked at. The kubelet takes
// a minute to renew a mounted Secret, so more often gains nothing.
const filesInterval = 10 * time.Second

// certificate is the serving certificate of the moment. It is safe for
// concurrent use.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
	// probe is served instead to who asks by a name that it holds, and nobody
	// else; nil while no new authority is to be proved.
	probe atomic.Pointer[tls.Certificate]
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
func (c *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if probe := c.probeFor(hello.ServerName); probe != nil {
		return probe, nil
	}
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

// certificateFiles are a certificate and its key in files.
type certificateFiles struct {
	chain, key string
	into       *certificate
	// last is what was read last, so that each change is loaded once.
	last []byte
}

// read loads the files if they have changed. They are found by their names each
// time: those of a mounted Secret or ConfigMap lead through a link that the
// kubelet exchanges. What is read in the middle of that does not fit, and is read
// again.
func (f *certificateFiles) read() error {
	chain, err := os.ReadFile(f.chain)
	if err != nil {
		return fmt.Errorf("read --tls-cert: %w", err)
	}
	key, err := os.ReadFile(f.key)
	if err != nil {
		return fmt.Errorf("read --tls-key: %w", err)
	}
	both := slices.Concat(chain, key)
	if bytes.Equal(both, f.last) {
		return nil
	}
	f.last = both
	return f.into.load(chain, key)
}

// watchFiles loads the files now and whenever they have changed.
func (c *certificate) watchFiles(ctx context.Context, chainFile, keyFile string, log logr.Logger) error {
	files := &certificateFiles{chain: chainFile, key: keyFile, into: c}
	if err := files.read(); err != nil {
		return err
	}
	go every(ctx, filesInterval, func() {
		if err := files.read(); err != nil {
			log.Error(err, "the serving certificate stays as it was")
		}
	})
	return nil
}

// secretSink loads a Secret whenever it is seen. A Secret that is gone leaves
// what was loaded: it is good until it expires.
type secretSink struct {
	serving *certificate
	log     logr.Logger
}

// followSecret keeps the certificate that a Secret holds, once it is run.
func (c *certificate) followSecret(from *api, namespace, name string, log logr.Logger) *follower {
	found := newFollower(from, "/api/v1/namespaces/"+namespace+"/secrets", secretSink{c, log.WithValues("namespace", namespace, "secret", name)}, log)
	found.query = url.Values{"fieldSelector": {"metadata.name=" + name}}
	return found
}

func (s secretSink) begin()              {}
func (s secretSink) remove(object) error { return nil }
func (s secretSink) listed(string)       {}
func (s secretSink) reached(string)      {}
func (s secretSink) watching(bool)       {}

// put takes the certificate over. A Secret without one is waited for: the
// operator has not filled it yet.
func (s secretSink) put(seen object) error {
	chain, key, err := readPair(seen.message, core.ServingKey, core.ServingPrivate)
	if err != nil || len(chain) == 0 {
		return err
	}
	if err := s.serving.loadProbe(seen.message); err != nil {
		s.log.Error(err, "no new authority can be proved by this replica")
	}
	if err := s.serving.load(chain, key); err != nil {
		s.log.Error(err, "the serving certificate stays as it was")
		return nil
	}
	s.log.Info("serving certificate loaded", "expires", s.serving.current.Load().Leaf.NotAfter)
	return nil
}

// secretData is the field of core/v1.Secret with its entries.
const secretData = 2

// readPair takes a certificate and its key from a Secret. What else lies there is
// left where it is.
func readPair(message []byte, certificateAt, keyAt string) (chain, key []byte, err error) {
	err = eachEntry(message, secretData, func(name, value []byte) {
		switch string(name) {
		case certificateAt:
			chain = value
		case keyAt:
			key = value
		}
	})
	return chain, key, err
}
