package certificate

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// holding is a Secret's content, taken apart and found to fit together.
type holding struct {
	serving *x509.Certificate
	// authorities are those to trust, the newest first; at least one.
	authorities []*x509.Certificate
	// key is that of the newest.
	key crypto.Signer
	// probe is the certificate to prove the newest with, nil without one.
	probe *x509.Certificate
}

// read takes a Secret's content apart. An error says what is missing or does not
// fit; no key is in it.
func read(data map[string][]byte) (holding, error) {
	pair, err := tls.X509KeyPair(data[ServingKey], data[ServingPrivate])
	if err != nil {
		return holding{}, fmt.Errorf("%s and %s: %w", ServingKey, ServingPrivate, err)
	}
	authorities, err := parseAuthorities(data[AuthoritiesKey])
	if err != nil {
		return holding{}, fmt.Errorf("%s: %w", AuthoritiesKey, err)
	}
	key, err := parseKey(data[AuthorityKeyKey])
	if err != nil {
		return holding{}, fmt.Errorf("%s: %w", AuthorityKeyKey, err)
	}
	held := holding{serving: pair.Leaf, authorities: authorities, key: key}
	public, ok := held.authority().PublicKey.(*ecdsa.PublicKey)
	if !ok || !public.Equal(key.Public()) {
		return holding{}, fmt.Errorf("%s is not the key of the first certificate of %s", AuthorityKeyKey, AuthoritiesKey)
	}
	if !slices.ContainsFunc(authorities, func(a *x509.Certificate) bool { return held.serving.CheckSignatureFrom(a) == nil }) {
		return holding{}, fmt.Errorf("%s is signed by no certificate of %s", ServingKey, AuthoritiesKey)
	}
	// Without a probe certificate that can be read, a new one is made.
	if pair, err := tls.X509KeyPair(data[ProbeKey], data[ProbePrivate]); err == nil {
		held.probe = pair.Leaf
	}
	return held, nil
}

// authority is the newest one.
func (h holding) authority() *x509.Certificate { return h.authorities[0] }

// signed says that the serving certificate is by the newest authority.
func (h holding) signed() bool { return h.serving.CheckSignatureFrom(h.authority()) == nil }

// serves says that a certificate has exactly these names.
func serves(certificate *x509.Certificate, names Names) bool {
	has := slices.Clone(certificate.DNSNames)
	for _, ip := range certificate.IPAddresses {
		has = append(has, ip.String())
	}
	slices.Sort(has)
	return strings.Join(has, ",") == string(names)
}

// servesAny says that a certificate has one of these names.
func servesAny(certificate *x509.Certificate, names Names) bool {
	return slices.ContainsFunc(names.list(), func(name string) bool { return certificate.VerifyHostname(name) == nil })
}

// proves says that the probe certificate can be used to prove the newest
// authority.
func (h holding) proves(names Names, now time.Time) bool {
	return h.probe != nil && isGood(h.probe, now) && serves(h.probe, names) && h.probe.CheckSignatureFrom(h.authority()) == nil
}

// Fingerprint names a certificate: its SHA-256 in hexadecimal.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// isForeign says that a caBundle holds something that Tabard has not made.
func isForeign(bundle []byte) bool {
	for len(bytes.TrimSpace(bundle)) > 0 {
		block, rest := pem.Decode(bundle)
		if block == nil {
			return true
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil || parsed.Subject.CommonName != authorityName || !slices.Equal(parsed.Subject.Organization, []string{organization}) {
			return true
		}
		bundle = rest
	}
	return false
}

func parseAuthorities(text []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		found = append(found, parsed)
	}
	if len(found) == 0 {
		return nil, errors.New("there is no PEM certificate")
	}
	return found, nil
}

func parseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("there is no PEM key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is no PKCS 8 key")
	}
	signer, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is no ECDSA key")
	}
	return signer, nil
}

func encodeCertificates(certificates ...*x509.Certificate) []byte {
	var text bytes.Buffer
	for _, each := range certificates {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: each.Raw}))
	}
	return text.Bytes()
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
