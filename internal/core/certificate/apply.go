package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"slices"
	"time"
)

// Apply is the Secret's content after a step that changes it, given what it was; for
// TakeOver, given what World.Handover says. It does not change data. Serial numbers are read from entropy; the standard library may take the
// randomness of keys and signatures from a source of its own.
func Apply(step Step, data map[string][]byte, now time.Time, entropy io.Reader) (map[string][]byte, error) {
	m := maker{now: now, entropy: entropy, data: maps.Clone(data)}
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	var err error
	switch step := step.(type) {
	case IssueAll:
		err = m.issueAll(step.Names)
	case TakeOver:
		err = m.takeOver()
	case IssueAuthority:
		err = m.issueAuthority()
	case DropExpired:
		err = m.dropExpired()
	case IssueProbe:
		err = m.issueLeaf(step.Names, ProbeKey, ProbePrivate)
	case IssueServing:
		err = m.issueLeaf(step.Names, ServingKey, ServingPrivate)
		m.dropProbe()
	default:
		err = fmt.Errorf("%T does not change the Secret", step)
	}
	return m.data, err
}

// authorityName and organization are the subject of Tabard's authorities.
const (
	authorityName = "tabard-webhook-ca"
	organization  = "tabard.dev"
)

// maker works on a copy of the Secret's content.
type maker struct {
	now     time.Time
	entropy io.Reader
	data    map[string][]byte
}

func (m maker) issueAll(names Names) error {
	authority, key, err := m.authority()
	if err != nil {
		return err
	}
	m.data[AuthoritiesKey] = encodeCertificates(authority)
	m.dropProbe()
	return m.leaf(names, authority, key, ServingKey, ServingPrivate)
}

func (m maker) issueAuthority() error {
	held, err := read(m.data)
	if err != nil {
		return err
	}
	authority, _, err := m.authority()
	if err != nil {
		return err
	}
	m.data[AuthoritiesKey] = encodeCertificates(slices.Insert(held.authorities, 0, authority)...)
	return nil
}

func (m maker) dropExpired() error {
	held, err := read(m.data)
	if err != nil {
		return err
	}
	m.data[AuthoritiesKey] = encodeCertificates(slices.DeleteFunc(held.authorities, func(a *x509.Certificate) bool { return m.now.After(a.NotAfter) })...)
	return nil
}

func (m maker) issueLeaf(names Names, at, privateAt string) error {
	held, err := read(m.data)
	if err != nil {
		return err
	}
	return m.leaf(names, held.authority(), held.key, at, privateAt)
}

// dropProbe forgets the probe certificate: what it was to prove is decided.
func (m maker) dropProbe() {
	delete(m.data, ProbeKey)
	delete(m.data, ProbePrivate)
}

// authority makes a certificate that may sign, and stores its key.
func (m maker) authority() (*x509.Certificate, crypto.Signer, error) {
	template, key, err := m.template(authorityName, authorityLife)
	if err != nil {
		return nil, nil, err
	}
	template.IsCA, template.MaxPathLenZero = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	made, err := m.sign(template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	m.data[AuthorityKeyKey], err = encodeKey(key)
	return made, key, err
}

// leaf makes a certificate to serve with, and stores it and its key.
func (m maker) leaf(names Names, authority *x509.Certificate, signer crypto.Signer, at, privateAt string) error {
	template, key, err := m.template("tabard-webhook", servingLife)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range names.list() {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	if template.NotAfter.After(authority.NotAfter) {
		template.NotAfter = authority.NotAfter // what outlives its authority is not trusted anyway
	}
	made, err := m.sign(template, authority, key.Public(), signer)
	if err != nil {
		return err
	}
	m.data[at] = encodeCertificates(made)
	m.data[privateAt], err = encodeKey(key)
	return err
}

// template is what all certificates have in common, and a key for it.
func (m maker) template(name string, life time.Duration) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), m.entropy)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	serial := make([]byte, 16)
	if _, err := io.ReadFull(m.entropy, serial); err != nil {
		return nil, nil, fmt.Errorf("make a serial number: %w", err)
	}
	serial[0] = serial[0]&0x7f | 0x40 // positive, and of full length
	return &x509.Certificate{
		SerialNumber:          new(big.Int).SetBytes(serial),
		Subject:               pkix.Name{CommonName: name, Organization: []string{organization}},
		NotBefore:             m.now.Add(-backdate),
		NotAfter:              m.now.Add(life),
		BasicConstraintsValid: true,
	}, key, nil
}

func (m maker) sign(template, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(m.entropy, template, parent, public, signer)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate just signed: %w", err)
	}
	return made, nil
}
