package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"maps"
	"slices"
	"time"
)

// Published is what of the Secret's content the webhook may read: all but the
// authority's key, with which certificates that API servers trust can be made.
func Published(data map[string][]byte) map[string][]byte {
	published := maps.Clone(data)
	delete(published, AuthorityKeyKey)
	return published
}

// Handover is what is served while the Secret is lost or does not exist yet, and
// can go on being served; nil if there is no such thing. What is published comes
// before what an earlier version left.
func (w World) Handover() map[string][]byte {
	for _, from := range []Secret{w.Served, w.Previous} {
		if from.Ours && canGoOn(from.Data, w.Now) {
			return from.Data
		}
	}
	return nil
}

// canGoOn says that a serving certificate is good and signed by an authority that
// stands beside it.
func canGoOn(data map[string][]byte, now time.Time) bool {
	pair, err := tls.X509KeyPair(data[ServingKey], data[ServingPrivate])
	if err != nil || !isGood(pair.Leaf, now) {
		return false
	}
	authorities, err := parseAuthorities(data[AuthoritiesKey])
	return err == nil && slices.ContainsFunc(authorities, func(a *x509.Certificate) bool {
		return isGood(a, now) && pair.Leaf.CheckSignatureFrom(a) == nil
	})
}

// takeOver keeps what is served and the authorities that are trusted, and makes an
// authority with a key of its own.
func (m maker) takeOver() error {
	old, err := parseAuthorities(m.data[AuthoritiesKey])
	if err != nil {
		return err
	}
	m.dropProbe()
	authority, _, err := m.authority()
	if err != nil {
		return err
	}
	m.data[AuthoritiesKey] = encodeCertificates(slices.Insert(old, 0, authority)...)
	return nil
}

// filled says that there is something in the Secret.
func (s Secret) filled() bool { return len(s.Data) > 0 }

// isForeign says that the Secret is somebody else's.
func (s Secret) isForeign() bool { return s.filled() && !s.Ours }
