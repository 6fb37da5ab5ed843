package webhookattack

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
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const role = "arn:aws:iam::111122223333:role/app"

// authority makes certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	chain       []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{parsed, key, encodeCertificate(der)}
}

// client makes a client certificate with a common name, in files.
func (a *authority) client(t *testing.T, dir, name string) (chain, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	chain, key = filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key")
	write(t, chain, encodeCertificate(der))
	write(t, key, encodeKey(t, private))
	return chain, key
}

// serving is a certificate for 127.0.0.1 with its key.
func serving(t *testing.T) (chain, key []byte) {
	t.Helper()
	a := newAuthority(t)
	return a.chain, encodeKey(t, a.key)
}

func encodeKey(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// kubeconfig writes one for a client configuration.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:  map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}}, CurrentContext: "x",
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// hook registers a webhook, which lets pods through where it does not answer.
func hook(t *testing.T, kube kubernetes.Interface, w *webhook) {
	t.Helper()
	url := "https://" + w.address + "/mutate"
	none, ignore := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Ignore
	_, err := kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "pod-identity.tabard.dev", SideEffects: &none, FailurePolicy: &ignore, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: w.chain}, TimeoutSeconds: new(int32(10)),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	testEventually(t, "the API server asks the webhook", func(ctx context.Context) error {
		made, err := kube.CoreV1().Pods("default").Create(ctx, podOf("first", "app", 0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && !hasIdentity(made) {
			err = errors.New("it is not asked yet")
		}
		return err
	})
}

// account makes a ServiceAccount with a role.
func account(t *testing.T, kube kubernetes.Interface, namespace, name string) {
	t.Helper()
	_, err := kube.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{"eks.amazonaws.com/role-arn": role}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// podOf is a pod whose environment has so many bytes.
func podOf(name, account string, size int) *corev1.Pod {
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{ServiceAccountName: account, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}}}
	if size > 0 {
		made.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LONG", Value: fill(size)}}
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
func createPods(t *testing.T, kube kubernetes.Interface, prefix string, pods, at, size int) (lost int64, longest time.Duration) {
	t.Helper()
	var without, slowest atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(at)
	for i := range pods {
		group.Go(func() error {
			began := time.Now()
			made, err := kube.CoreV1().Pods("default").Create(ctx, podOf(fmt.Sprintf("%s-%d", prefix, i), "app", size), metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if !hasIdentity(made) {
				without.Add(1)
			}
			for took := int64(time.Since(began)); ; {
				before := slowest.Load()
				if took <= before || slowest.CompareAndSwap(before, took) {
					return nil
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return without.Load(), time.Duration(slowest.Load())
}

func (w *webhook) await(t *testing.T) {
	t.Helper()
	testEventually(t, "the webhook is ready", func(context.Context) error {
		if code, says := get(t, w.metrics+ready); code != http.StatusOK {
			return fmt.Errorf("it says %d %s", code, says)
		}
		return nil
	})
}

func get(t *testing.T, url string) (code int, says string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
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

func testEventually(t *testing.T, what string, ask func(context.Context) error) {
	t.Helper()
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		if err = ask(t.Context()); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

func unhook(t *testing.T, kube kubernetes.Interface) {
	t.Helper()
	if err := kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(t.Context(), "tabard-webhook", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
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

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
