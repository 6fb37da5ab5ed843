package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/internal/lab/node"
)

// checkWithin bounds one question to a component.
const checkWithin = 5 * time.Second

// check returns the question that tells whether a component can be used: nil
// for yes, else what was seen.
func (lab Lab) check(name string) (func(context.Context) error, error) {
	switch name {
	case Etcd:
		return lab.httpsCheck(loopbackURL(lab.Ports.Etcd)+"/health", lab.pki("ca.crt"), "etcd-client")
	case LocalAWS:
		// The CA is made by the process itself, so it is read at each look.
		return func(ctx context.Context) error {
			check, err := lab.httpsCheck(lab.AWSURL()+"/_awslocal/health", lab.AWSCA(), "")
			if err != nil {
				return err
			}
			return check(ctx)
		}, nil
	case APIServer:
		return lab.httpsCheck(lab.APIServerURL()+"/readyz", lab.pki("ca.crt"), "admin")
	case ControllerManager:
		return lab.controllersCheck()
	case Holder:
		return lab.holderCheck(), nil
	case Scheduler:
		return lab.httpsCheck(loopbackURL(lab.Ports.Scheduler)+"/healthz", lab.pki("ca.crt"), "")
	case Containerd:
		return lab.containerdCheck(), nil
	case Proxy:
		// Its /healthz waits for the Node, which the kubelet is still to make.
		return plainCheck(fmt.Sprintf("http://%s:%d/livez", lab.Node.Address, node.ProxyHealthPort)), nil
	case Kubelet:
		return lab.kubeletCheck()
	}
	return nil, fmt.Errorf("the lab has no component %q", name)
}

// httpsCheck asks a URL, as the holder of a certificate if one is named, and
// wants the answer 200.
func (lab Lab) httpsCheck(url, caFile, holder string) (func(context.Context) error, error) {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("its CA: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("its CA file %s holds no certificate", caFile)
	}
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if holder != "" {
		pair, err := tls.LoadX509KeyPair(lab.pki(holder+".crt"), lab.pki(holder+".key"))
		if err != nil {
			return nil, fmt.Errorf("the certificate of %s: %w", holder, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	// No proxy: everything is on this machine.
	client := &http.Client{Timeout: checkWithin, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	return func(ctx context.Context) error { return get(ctx, client, url) }, nil
}

// plainCheck asks a URL of the node without TLS.
func plainCheck(url string) func(context.Context) error {
	client := &http.Client{Timeout: checkWithin, Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) error { return get(ctx, client, url) }
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	err = errors.Join(err, response.Body.Close())
	if response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("%s answered %s: %s", url, response.Status, body), err)
	}
	return err
}

// Client returns an administrator's client of the lab's cluster.
func (lab Lab) Client() (kubernetes.Interface, error) {
	config, err := lab.ClientConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// ClientConfig is the administrator's client configuration.
func (lab Lab) ClientConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", lab.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("the lab's client configuration: %w", err)
	}
	return config, nil
}

// controllersCheck asks the controller manager itself, and looks for its work:
// after a repair the work of its predecessor is there from the start.
func (lab Lab) controllersCheck() (func(context.Context) error, error) {
	client, err := lab.Client()
	if err != nil {
		return nil, err
	}
	healthy, err := lab.httpsCheck(loopbackURL(lab.Ports.ControllerManager)+"/healthz", lab.pki("ca.crt"), "")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if err := healthy(ctx); err != nil {
			return err
		}
		return controllersWork(ctx, client)
	}, nil
}

// controllersWork looks for what a pod needs to be accepted and to run: both
// are made by controllers, for every namespace.
func controllersWork(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	if _, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return err
	}
	_, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
	return err
}

// kubeletCheck asks the kubelet itself, and whether the API server knows its node to
// be ready.
func (lab Lab) kubeletCheck() (func(context.Context) error, error) {
	client, err := lab.Client()
	if err != nil {
		return nil, err
	}
	healthy := plainCheck(fmt.Sprintf("http://%s:%d/healthz", lab.Node.Address, node.KubeletHealthPort))
	return func(ctx context.Context) error {
		if err := healthy(ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, checkWithin)
		defer cancel()
		found, err := client.CoreV1().Nodes().Get(ctx, lab.Node.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range found.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
			if condition.Type == corev1.NodeReady {
				err = fmt.Errorf("the node is not ready: %s: %s", condition.Reason, condition.Message)
			}
		}
		return errors.Join(err, errNotReady)
	}, nil
}

var errNotReady = errors.New("the node has not said that it is ready")
