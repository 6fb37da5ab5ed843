package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const adminToken = "load-administrator"

// makers is how many ServiceAccounts are made at once.
const makers = 32

// openReal starts an API server with its etcd and makes the ServiceAccounts.
func openReal(ctx context.Context, s settings, folder string) (kubeconfig string, closed func(), err error) {
	var ports [3]string
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return "", nil, err
		}
	}
	files, err := writeIdentity(folder)
	if err != nil {
		return "", nil, err
	}
	etcd, peer := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	closeEtcd, err := startComponent(ctx, s, folder, "etcd", "--data-dir", filepath.Join(folder, "etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	if err != nil {
		return "", nil, err
	}
	certificates := filepath.Join(folder, "certificates")
	closeServer, err := startComponent(ctx, s, folder, "kube-apiserver", "--etcd-servers", etcd, "--bind-address=127.0.0.1",
		"--secure-port", ports[2], "--cert-dir", certificates, "--token-auth-file", files.tokens, "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer=https://issuer.example.com", "--api-audiences=api", "--max-requests-inflight=1000", "--max-mutating-requests-inflight=1000",
		"--service-account-key-file", files.key, "--service-account-signing-key-file", files.key)
	if err != nil {
		closeEtcd()
		return "", nil, err
	}
	closed = func() { closeServer(); closeEtcd() }
	config := &rest.Config{
		Host: "https://127.0.0.1:" + ports[2], BearerToken: adminToken, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(certificates, "apiserver.crt")},
	}
	if err := fill(ctx, config, s.accounts); err != nil {
		closed()
		return "", nil, err
	}
	kubeconfig, err = writeKubeconfig(folder, config.Host, config.CAFile)
	return kubeconfig, closed, err
}

func startComponent(ctx context.Context, s settings, folder, component string, args ...string) (closed func(), err error) {
	log, err := os.Create(filepath.Join(folder, component+".log"))
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, s.localkube, append([]string{component}, args...)...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = command.Process.Kill() // it may have ended by itself
		_ = command.Wait()
		_ = log.Close()
	}, nil
}

// identity is what the API server reads of keys and users.
type identity struct{ tokens, key string }

func writeIdentity(folder string) (identity, error) {
	files := identity{tokens: filepath.Join(folder, "tokens.csv"), key: filepath.Join(folder, "sa.key")}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return files, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(files.key, text, 0o600); err != nil {
		return files, err
	}
	return files, os.WriteFile(files.tokens, []byte(adminToken+",administrator,administrator,system:masters\n"), 0o600)
}

// writeKubeconfig writes one for an administrator.
func writeKubeconfig(folder, host, ca string) (string, error) {
	path := filepath.Join(folder, "kubeconfig")
	return path, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: load
contexts: [{name: load, context: {cluster: load, user: load}}]
clusters: [{name: load, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: load, user: {token: %s}}]
`, host, ca, adminToken), 0o600)
}

// fill makes namespaces and ServiceAccounts.
func fill(ctx context.Context, config *rest.Config, accounts int) error {
	var clients *kubernetes.Clientset
	var err error
	for end := time.Now().Add(2 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		// The CA is there once the API server has made it.
		if clients, err = kubernetes.NewForConfig(config); err == nil {
			if err = clients.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err == nil {
				break
			}
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("the API server is not ready: %w", err)
		}
	}
	begin := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(makers)
	for i := 0; i < accounts; i += perNamespace {
		group.Go(func() error {
			space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: accountName(i).Namespace}}
			if _, err := clients.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
				return err
			}
			for j := i; j < min(i+perNamespace, accounts); j++ {
				one := account(j)
				if _, err := clients.CoreV1().ServiceAccounts(one.Namespace).Create(ctx, one, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	fmt.Printf("made %d ServiceAccounts in %v\n", accounts, time.Since(begin).Round(time.Second))
	return err
}
