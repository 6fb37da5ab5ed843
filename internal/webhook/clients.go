package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/go-logr/logr"
)

// clients are those who show a client certificate: API servers that were told to.
// It is safe for concurrent use.
type clients struct {
	// names are those that a certificate may have, none for any.
	names []string
	// required refuses who shows none.
	required bool
	// roots are the authorities; nil where nobody is asked for a certificate.
	roots atomic.Pointer[x509.CertPool]
}

// watchFile reads the authorities and goes on looking at the file until ctx ends. What
// cannot be read leaves what was known before.
func (c *clients) watchFile(ctx context.Context, path string, log logr.Logger) error {
	var last []byte
	look := func() error {
		text, err := readFile(path)
		if err != nil || bytes.Equal(text, last) {
			return err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s has no certificate, expected those of authorities in PEM", path)
		}
		last = text
		c.roots.Store(roots)
		return nil
	}
	if err := look(); err != nil {
		return fmt.Errorf("read --client-ca-file: %w", err)
	}
	go every(ctx, filesInterval, func() {
		if err := look(); err != nil {
			log.Error(err, "read --client-ca-file; what was known before stays")
		}
	})
	return nil
}

// ask adds to how TLS is spoken that clients are asked for a certificate.
func (c *clients) ask(config *tls.Config) {
	if c.roots.Load() == nil {
		return
	}
	config.ClientAuth = tls.RequestClientCert
	if c.required {
		config.ClientAuth = tls.RequireAnyClientCert
	}
	// Not by tls.Config's own means: they know one pool for good.
	config.VerifyConnection = c.verify
}

// verify refuses a connection with a certificate that is not a good one. One without
// is refused before, where it is.
func (c *clients) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return nil
	}
	shown := state.PeerCertificates[0]
	between := x509.NewCertPool()
	for _, each := range state.PeerCertificates[1:] {
		between.AddCert(each)
	}
	_, err := shown.Verify(x509.VerifyOptions{Roots: c.roots.Load(), Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return fmt.Errorf("the client's certificate: %w", err)
	}
	if len(c.names) > 0 && !slices.Contains(c.names, shown.Subject.CommonName) {
		return fmt.Errorf("the client's certificate has the common name %.64q, expected one of --client-names", shown.Subject.CommonName)
	}
	return nil
}

// checkClients refuses options about client certificates that cannot be meant.
func (o *Options) checkClients() error {
	if o.ClientCAFile == "" && (len(o.ClientNames) > 0 || o.RequireClientCertificate) {
		return errors.New("--client-names or --require-client-certificate without --client-ca-file: expected the file with the authorities of the certificates")
	}
	if o.MaxConnections < 0 {
		return fmt.Errorf("--max-connections is %d, expected a number, or 0 for one that follows from the memory", o.MaxConnections)
	}
	if o.UnknownLookups < 1 {
		return fmt.Errorf("--unknown-lookups-per-second is %d, expected at least 1", o.UnknownLookups)
	}
	if o.ClientCAFile == "" {
		return nil
	}
	if _, err := os.Stat(o.ClientCAFile); err != nil {
		return fmt.Errorf("--client-ca-file: %w", err)
	}
	return nil
}
