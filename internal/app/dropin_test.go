package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/app/webhook"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestADeploymentOfEKSsWebhookRunsOurs: with its arguments, its rights and its
// webhook configuration, as an API server asks. What a pod has and this machine
// has not is put in its place: an address of its own, the folder of its volume,
// and its ServiceAccount's token.
func TestADeploymentOfEKSsWebhookRunsOurs(t *testing.T) {
	cluster := theCluster(t)
	var given struct {
		role    rbacv1.ClusterRole
		binding rbacv1.ClusterRoleBinding
		deploy  appsv1.Deployment
		hooks   admissionregistrationv1.MutatingWebhookConfiguration
	}
	readManifests(t, "testdata/eks-webhook.yaml", &given.role, &given.binding, &given.deploy, &given.hooks)
	testkit.Create(t, cluster, &given.role, &given.binding)
	spec := given.deploy.Spec.Template.Spec
	t.Setenv("KUBECONFIG", writeKubeconfig(t, cluster.Config, "system:serviceaccount:default:"+spec.ServiceAccountName))

	var flags webhook.Flags
	parsed := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	flags.Add(parsed)
	command := append(slices.Clone(spec.Containers[0].Command), spec.Containers[0].Args...)
	if err := parsed.Parse(command[2:]); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	if o := flags.Options; o.Port != 443 || o.MetricsPort != 9999 || o.InCluster || o.TLSCert != "" {
		t.Fatalf("port %d, metrics port %d, in cluster %t, certificate %q: they are not as the manifests rely on", o.Port, o.MetricsPort, o.InCluster, o.TLSCert)
	}
	folder := t.TempDir()
	chain := writeCertificate(t, folder)
	flags.Options.TLSCert, flags.Options.TLSKey = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	flags.Options.BindAddress, flags.Options.Port, flags.Options.MetricsPort = "127.0.0.1", testkit.FreePort(t), -1
	flags.Options.DrainTime = 0
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- flags.Run(ctx, parsed) }()

	url := fmt.Sprintf("https://127.0.0.1:%d%s", flags.Options.Port, *given.hooks.Webhooks[0].ClientConfig.Service.Path)
	given.hooks.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: chain}
	testkit.Create(t, cluster, &given.hooks, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app",
		Annotations: map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/app"}}})
	awaitInjected(t, cluster)
	must.Do(t, cluster.Delete(t.Context(), &given.hooks))
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// awaitInjected creates a pod, again and again until the webhook has seen it: its
// failure policy is Ignore.
func awaitInjected(t *testing.T, cluster client.Client) {
	t.Helper()
	want := []corev1.EnvVar{{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111122223333:role/app"},
		{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}}
	var got []corev1.EnvVar
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, testkit.Patience, true, func(ctx context.Context) (bool, error) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"},
			Spec: corev1.PodSpec{ServiceAccountName: "app", Containers: []corev1.Container{{Name: "app", Image: "app:1"}}}}
		err := cluster.Create(ctx, pod, client.DryRunAll)
		got = pod.Spec.Containers[0].Env
		return cmp.Equal(want, got), err
	})
	if err != nil {
		t.Fatalf("%v; environment (-want +got):\n%s", err, cmp.Diff(want, got))
	}
}

// readManifests reads the documents of a file, in their order.
func readManifests(t *testing.T, file string, into ...any) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	documents := strings.Split(string(text), "\n---\n")
	if len(documents) != len(into) {
		t.Fatalf("%s has %d documents, want %d", file, len(documents), len(into))
	}
	for i, document := range documents {
		if err := yaml.UnmarshalStrict([]byte(document), into[i]); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// writeKubeconfig lets the webhook be the user that its pod would be.
func writeKubeconfig(t *testing.T, config *rest.Config, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.Do(t, clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "test",
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"test": {Token: config.BearerToken, Impersonate: user}},
	}, file))
	return file
}

// writeCertificate makes a serving certificate for 127.0.0.1, and returns it.
func writeCertificate(t *testing.T, folder string) []byte {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))(t)
	key := must.Get(x509.MarshalPKCS8PrivateKey(private))(t)
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, content := range map[string][]byte{"tls.crt": chain, "tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	return chain
}
