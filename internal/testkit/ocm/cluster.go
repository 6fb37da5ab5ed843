package ocm

import (
	"crypto/rand"
	"crypto/rsa"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ClusterOptions say what a cluster has beside what testkit.StartCluster gives it.
type ClusterOptions struct {
	// Authenticator is a kubeconfig that leads the API server to a webhook which reviews
	// tokens, as that of EKS. Tokens that it denies may still be ServiceAccounts'.
	Authenticator string
	// Issuer is what the cluster's tokens name, as that of testkit.ClusterOptions.
	Issuer string
	// Foreign are kinds of other projects.
	Foreign []testkit.ForeignKinds
}

// StartCluster starts a cluster with Kubernetes' own controllers, which make pods of
// Deployments and sign certificates of clients, and stops it at the end of the test.
// Nothing runs the pods; Node does.
func StartCluster(t testing.TB, options ClusterOptions) *testkit.Cluster {
	t.Helper()
	certificate, key := makeCA(t)
	flags := []string{"--client-ca-file=" + certificate}
	if options.Authenticator != "" {
		flags = append(flags, "--authentication-token-webhook-config-file="+options.Authenticator,
			"--authentication-token-webhook-version=v1", "--authentication-token-webhook-cache-ttl=2s")
	}
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Issuer: options.Issuer, Flags: flags, Foreign: options.Foreign})
	cluster.StartControllerManager(t, "--cluster-signing-cert-file="+certificate, "--cluster-signing-key-file="+key,
		"--root-ca-file="+cluster.Config.CAFile)
	return cluster
}

// makeCA makes the files of an authority that signs clients' certificates.
func makeCA(t testing.TB) (certificate, key string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
	private := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	signed := must.Get(cert.NewSelfSignedCACert(cert.Config{CommonName: "clients"}, private))(t)
	must.Do(t, cert.WriteCert(certificate, must.Get(cert.EncodeCertificates(signed))(t)))
	must.Do(t, os.WriteFile(key, must.Get(keyutil.MarshalPrivateKeyToPEM(private))(t), 0o600))
	return certificate, key
}
