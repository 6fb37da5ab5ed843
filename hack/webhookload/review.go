package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
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

// gauge reads a number from the process's metrics.
func (s *server) gauge(name string) (float64, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.metrics, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", s.metrics, name)
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

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = listener.Close() }() // it was only asked for its port
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
