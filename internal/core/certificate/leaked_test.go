package certificate_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/certificate"
)

// TestALeakedAuthorityIsTrustedNoMore by any hook once both Secrets were deleted while no
// controller ran, which is what docs/security.md says to do. A controller that sees one
// of them without the other takes it for lost, and keeps what is served trusted.
func TestALeakedAuthorityIsTrustedNoMore(t *testing.T) {
	t.Parallel()
	lost := func(secret *certificate.Secret) { *secret = certificate.Secret{} }
	tests := map[string]struct {
		remove  func(*cluster)
		trusted bool
	}{
		"both at once": {func(c *cluster) { lost(&c.world.Secret); lost(&c.world.Served) }, false},
		"the authority, a pass, and the certificate": {func(c *cluster) {
			lost(&c.world.Secret)
			c.pass()
			lost(&c.world.Served)
		}, true},
		"the certificate, a pass, and the authority": {func(c *cluster) {
			lost(&c.world.Served)
			c.pass()
			lost(&c.world.Secret)
		}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.settle()
			leaked, _ := pem.Decode(c.world.Hooks[0].Bundle)
			test.remove(c)
			c.Die(0) // and the next starts
			c.settle()
			if err := c.trusted(); err != nil {
				t.Error(err)
			}
			for _, hook := range c.world.Hooks {
				if got := holds(hook.Bundle, leaked.Bytes); got != test.trusted {
					t.Errorf("a hook trusts the leaked CA: %t, want %t", got, test.trusted)
				}
			}
		})
	}
}

// holds says that a bundle has a certificate, or another of its key.
func holds(bundle, certificate []byte) bool {
	leaked, err := x509.ParseCertificate(certificate)
	if err != nil {
		return false
	}
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if each, err := x509.ParseCertificate(block.Bytes); err == nil && bytes.Equal(each.RawSubjectPublicKeyInfo, leaked.RawSubjectPublicKeyInfo) {
			return true
		}
	}
	return false
}
