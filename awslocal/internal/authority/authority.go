// Package authority is the local AWS's own certificate authority.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	// The authority outlives every clock that a demonstration may set; a
	// server's certificate is made anew at each start.
	authorityYears = 10
	serverYears    = 2
	// early makes up for clients whose clock is behind.
	early = time.Hour
)

// Authority signs server certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// New makes an authority with a fresh key.
func New() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of the certificate authority: %w", err)
	}
	template, err := blank("Tabard local AWS", authorityYears)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of the certificate authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of the certificate authority: %w", err)
	}
	return &Authority{certificate: certificate, key: key}, nil
}

// Load reads an authority that Encode wrote.
func Load(certificate, key []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	private, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || pair.Leaf == nil || !pair.Leaf.IsCA {
		return nil, errors.New("reading the certificate authority: its certificate is not an authority's, or its key is not of type ECDSA")
	}
	return &Authority{certificate: pair.Leaf, key: private}, nil
}

// Encode returns certificate and key in PEM.
func (a *Authority) Encode() (certificate, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the key of the certificate authority: %w", err)
	}
	return a.PEM(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// PEM is the certificate that clients need to trust.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Certificate is that of the authority itself.
func (a *Authority) Certificate() *x509.Certificate { return a.certificate }

// Expires is when the authority's certificate ends.
func (a *Authority) Expires() time.Time { return a.certificate.NotAfter }

// Issue makes a server certificate with a fresh key for names and addresses.
func (a *Authority) Issue(names []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the server's key: %w", err)
	}
	template, err := blank("awslocal", serverYears)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("signing the server's certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading the server's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{raw, a.certificate.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

func blank(name string, years int) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-early),
		NotAfter:     now.AddDate(years, 0, 0),
	}, nil
}
