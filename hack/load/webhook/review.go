package webhook

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// review is the question about a pod of a ServiceAccount. The file is that of
// the benchmark of the handler: a pod of two containers, of ServiceAccount
// shop/app.
func review(file string, account types.NamespacedName) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(`"namespace":"shop"`), []byte(`"namespace":`+strconv.Quote(account.Namespace)))
	for _, field := range []string{`"serviceAccountName":`, `"serviceAccount":`} {
		text = bytes.ReplaceAll(text, []byte(field+`"app"`), []byte(field+strconv.Quote(account.Name)))
	}
	return text, nil
}

// certificate is one for 127.0.0.1, trusted by being known.
func certificate() (chain, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}
