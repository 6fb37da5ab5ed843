package lab

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/tabard-dev/tabard/internal/lab/node"
	"github.com/tabard-dev/tabard/internal/lab/private"
)

// certificateLife is long: a lab is kept as long as somebody likes, and its
// keys never leave the folder.
const certificateLife = 10 * 365 * 24 * time.Hour

// leaf is a certificate to be made: a server's and a client's in one, since
// every holder here is on this machine.
type leaf struct {
	file  string
	name  string
	group string
	hosts []string
}

// leaves are the certificates of the lab, the administrator's last. The names and
// groups are those that Kubernetes binds rights to by default.
func (lab Lab) leaves() []leaf {
	control := []leaf{
		{file: "etcd", name: "etcd"},
		{file: "etcd-client", name: "kube-apiserver"},
		{file: "kube-apiserver", name: "kube-apiserver", hosts: []string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}},
		{file: "kube-controller-manager", name: "system:kube-controller-manager"},
	}
	return append(append(control, lab.nodeLeaves()...), leaf{file: "admin", name: "tabard-lab-admin", group: "system:masters"})
}

// addresses are those of the lab's servers. All certificates have all of them.
func (lab Lab) addresses() []net.IP {
	out := []net.IP{net.ParseIP(Loopback)}
	if lab.Node == nil {
		return out
	}
	return append(out, lab.Node.Host.AsSlice(), lab.Node.Address.AsSlice(), net.ParseIP(node.ServiceAddress))
}

// ensureKeys makes the CA, the certificates and the token signing key. Files
// that exist stay as they are: a lab that is repaired keeps its identity.
func (lab Lab) ensureKeys(now time.Time) error {
	if err := lab.ensureSigningKey(); err != nil {
		return err
	}
	if exist(lab.pki("ca.crt"), lab.pki("ca.key"), lab.pki("admin.crt"), lab.pki("admin.key")) {
		return nil // the administrator's comes last, so all are there
	}
	certificate, key, err := newCA(now)
	if err != nil {
		return fmt.Errorf("make the lab's CA: %w", err)
	}
	if err := lab.writePair("ca", certificate.Raw, key); err != nil {
		return err
	}
	for number, leaf := range lab.leaves() {
		raw, key, err := leaf.sign(lab.addresses(), certificate, key, int64(number)+2, now)
		if err != nil {
			return fmt.Errorf("make the certificate of %s: %w", leaf.file, err)
		}
		if err := lab.writePair(leaf.file, raw, key); err != nil {
			return err
		}
	}
	return nil
}

// ensureSigningKey makes the key that signs ServiceAccount tokens, and beside
// it the file of public keys that the API server trusts and publishes. Both may
// be edited by whoever wants to see a key replaced: a restart reads them.
func (lab Lab) ensureSigningKey() error {
	secret, public := lab.pki("service-account.key"), lab.pki("service-account.pub")
	if exist(secret, public) {
		return nil
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("make the token signing key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("make the token signing key: %w", err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if err := private.Write(secret, pem.EncodeToMemory(block)); err != nil {
		return err
	}
	return private.Write(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func newCA(now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tabard-lab-ca"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return certificate, key, err
}

func (leaf leaf) sign(addresses []net.IP, ca *x509.Certificate, caKey crypto.Signer, serial int64, now time.Time) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	subject := pkix.Name{CommonName: leaf.name}
	if leaf.group != "" {
		subject.Organization = []string{leaf.group}
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: subject,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: addresses, DNSNames: leaf.hosts,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), caKey)
	return der, key, err
}

func (lab Lab) writePair(name string, certificate []byte, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("write the key of %s: %w", name, err)
	}
	if err := private.Write(lab.pki(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return err
	}
	return private.Write(lab.pki(name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
}

func (lab Lab) pki(file string) string { return lab.Path("pki", file) }

// exist says whether all of the files are there.
func exist(paths ...string) bool {
	for _, path := range paths {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return false
		}
	}
	return true
}
