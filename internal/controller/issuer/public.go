package issuer

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
)

// NewPublic is what looks at the issuer's URL as anybody would: without credentials,
// following no redirect, and trusting the roots of the system and no others. What AWS
// would not trust must not look right from here, so the bundle that this process's calls
// of AWS trust (AWS_CA_BUNDLE) is no part of it. labCA names a file with the certificate
// of a lab's local AWS, which is trusted besides; empty is none. The error says what is
// wrong with the file.
func NewPublic(labCA string) (Fetcher, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if labCA != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		content, err := os.ReadFile(labCA)
		if err != nil {
			return nil, fmt.Errorf("the CA of the lab cannot be read: %w", err)
		}
		if !roots.AppendCertsFromPEM(content) {
			return nil, fmt.Errorf("the CA of the lab, %s, holds no certificate; it must be PEM", labCA)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{
		Timeout: publicTimeout, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
