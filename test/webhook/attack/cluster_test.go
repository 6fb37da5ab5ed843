package attack

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const role = "arn:aws:iam::111122223333:role/app"

// authority makes certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	chain       []byte
}

// newAuthority is one that also serves at 127.0.0.1.
func newAuthority(t testing.TB) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	return &authority{must.Get(x509.ParseCertificate(der))(t), key, encodeCertificate(der)}
}

// client makes a client certificate with a common name, in files.
func (a *authority) client(t testing.TB, dir, name string) (chain, key string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	der := must.Get(x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key))(t)
	chain, key = filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key")
	write(t, chain, encodeCertificate(der))
	write(t, key, encodeKey(t, private))
	return chain, key
}

func encodeKey(t testing.TB, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must.Get(x509.MarshalPKCS8PrivateKey(key))(t)})
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func write(t testing.TB, file string, content []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(file, content, 0o600))
}

// shared is the API server of all attacks, with a ServiceAccount that has a role.
var shared = testkit.SharedCluster(testkit.ClusterOptions{Issuer: "https://issuer.example.com"}, func(c *testkit.Cluster) { account(c, "default", "app") })

// attacked is a cluster that asks a webhook, which has its memory limit.
func attacked(t *testing.T) (*testkit.Cluster, *webhook) {
	t.Helper()
	c := shared(t)
	w := start(t, c.Kubeconfig(c.Config))
	hook(c, w)
	return c, w
}

// hook makes a cluster ask a webhook and no other until the test ends. It lets pods through
// where that does not answer.
func hook(c *testkit.Cluster, w *webhook) {
	c.Helper()
	url := "https://" + w.address + "/mutate"
	none, ignore := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Ignore
	c.Make(&admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: hookName},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "pod-identity.tabard.dev", SideEffects: &none, FailurePolicy: &ignore, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: w.chain}, TimeoutSeconds: new(int32(10)),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	})
	c.Cleanup(func() { unhook(c) })
	c.Await(func() error {
		made := podOf("first", "app", 0)
		if err := c.Create(c.Context(), made, client.DryRunAll); err != nil {
			return err
		}
		if !hasIdentity(made) {
			return errors.New("the API server does not ask the webhook yet")
		}
		return nil
	})
}

const hookName = "tabard-webhook"

// unhook makes the cluster ask nobody.
func unhook(c *testkit.Cluster) {
	c.Helper()
	hook := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hookName}}
	if err := c.Delete(context.WithoutCancel(c.Context()), hook); client.IgnoreNotFound(err) != nil {
		c.Error(err)
	}
}

// account makes a ServiceAccount with a role.
func account(c *testkit.Cluster, namespace, name string) {
	c.Helper()
	c.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{"eks.amazonaws.com/role-arn": role}}})
}

// podOf is a pod of the namespace default whose environment has so many bytes.
func podOf(name, account string, size int) *corev1.Pod {
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{ServiceAccountName: account, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}}}
	if size > 0 {
		made.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LONG", Value: strings.Repeat("x", size)}}
	}
	return made
}

func hasIdentity(pod *corev1.Pod) bool {
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == "AWS_ROLE_ARN" && variable.Value == role {
			return true
		}
	}
	return false
}

// createPods creates pods and says how many lost their identity, and the longest time
// that one took.
func createPods(c *testkit.Cluster, prefix string, pods, at, size int) (lost int, longest time.Duration) {
	c.Helper()
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(c.Context())
	group.SetLimit(at)
	for i := range pods {
		group.Go(func() error {
			made, began := podOf(fmt.Sprintf("%s-%d", prefix, i), "app", size), time.Now()
			err := c.Create(ctx, made)
			mu.Lock()
			defer mu.Unlock()
			longest = max(longest, time.Since(began))
			if err == nil && !hasIdentity(made) {
				lost++
			}
			return err
		})
	}
	must.Do(c, group.Wait())
	return lost, longest
}

func get(t testing.TB, url string) (code int, says string) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// trusting speaks TLS with who has a certificate of that chain.
func trusting(t *testing.T, chain []byte) *http.Transport {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(chain) {
		t.Fatal("no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
