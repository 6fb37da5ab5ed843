package hub

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// reach is how the agents of a cluster reach the hub before they have joined it.
type reach struct {
	token, server, caFile string
	// internal makes agents call the hub at the address that it has for those inside.
	internal bool
	// ca is the certificate authority in PEM; none where those of the system vouch for the hub.
	ca []byte
	// address is what agents call.
	address string
}

func (r *reach) add(f *pflag.FlagSet) {
	f.StringVar(&r.token, "hub-token", "", "the `token` by which agents first reach the hub: clusteradm get token prints one")
	f.StringVar(&r.server, "hub-apiserver", "", "the `URL` of the hub's API server")
	f.StringVar(&r.caFile, "ca-file", "", "`file` with the hub's certificate authority in PEM (default: the system's, or else the one that the hub shows)")
	f.BoolVar(&r.internal, "force-internal-endpoint-lookup", false, "agents call the hub at the address of its ConfigMap kube-public/cluster-info, in place of --hub-apiserver")
}

func (r *reach) check() error {
	if r.token == "" {
		return errors.New("--hub-token is missing: clusteradm get token prints one, or on the hub: kubectl -n open-cluster-management create token agent-registration-bootstrap --duration 1h")
	}
	at, err := url.Parse(r.server)
	if err != nil || at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("--hub-apiserver is %.200q, expected the URL of the hub's API server, such as https://ABC.gr7.us-west-2.eks.amazonaws.com", r.server)
	}
	if r.caFile == "" {
		return nil
	}
	if r.ca, err = (command.File{By: "--ca-file", Path: r.caFile, Expected: "a certificate authority in PEM"}).Read(nil); err != nil {
		return err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(r.ca) {
		return fmt.Errorf("--ca-file: %s has no certificate in PEM, expected the hub's certificate authority", r.caFile)
	}
	return nil
}

// config is how to reach the hub with an authority, in PEM or none.
func (r *reach) config(ca []byte) *rest.Config {
	return &rest.Config{Host: r.server, BearerToken: r.token, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

// find finds the hub's authority, and asks the hub whether the token is good for joining. It says
// what was taken on trust.
func (r *reach) find(ctx context.Context, world World, errs io.Writer, cluster string) error {
	r.address = r.server
	err := r.ask(ctx, world, cluster)
	unknown := r.ca == nil && isUnknownAuthority(err)
	if err != nil && !unknown {
		return err
	}
	if !unknown && !r.internal {
		return nil
	}
	// A hub in EKS has an authority of its own. As with clusteradm, the hub is asked for it.
	shown, err := r.shown(ctx, world, unknown)
	if err != nil {
		return err
	}
	if r.internal {
		if r.address = shown.server; r.address == "" {
			return errors.New("--force-internal-endpoint-lookup: the hub has no ConfigMap kube-public/cluster-info with an address; leave the flag out")
		}
	}
	if !unknown {
		return nil
	}
	if r.ca = shown.ca; len(r.ca) == 0 {
		return fmt.Errorf("nothing vouches for the hub %s, and it does not show its certificate authority: say it with --ca-file; for a hub in EKS: aws eks describe-cluster --name NAME --query cluster.certificateAuthority.data --output text | base64 -d", r.server)
	}
	say(errs, "warning: the hub's certificate authority is the one that %s showed, unverified: SHA-256 %s. Compare it, or say it with --ca-file: whoever is in between would get the token, and this cluster", r.server, fingerprint(r.ca))
	return r.ask(ctx, world, cluster)
}

// ask asks the hub for the ManagedCluster of the name, as the agent will. There need not be one.
func (r *reach) ask(ctx context.Context, world World, cluster string) error {
	_, err := r.managedCluster(ctx, world, cluster)
	if err == nil || isUnknownAuthority(err) {
		return err
	}
	return r.refused(err)
}

// refused is an error of the hub's, with what to do.
func (r *reach) refused(err error) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the hub %s does not accept --hub-token: it has ended or is of another hub. clusteradm get token prints a new one", r.server)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the hub %s does not let --hub-token join clusters: %w; clusteradm get token prints one that may", r.server, err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("%s is no hub: it does not know ManagedClusters; say --hub-apiserver of the hub", r.server)
	}
	return fmt.Errorf("ask the hub %s: %w", r.server, err)
}

// managedCluster reads one at the hub, by the bootstrap identity; nil for none.
func (r *reach) managedCluster(ctx context.Context, world World, name string) (*unstructured.Unstructured, error) {
	hub, err := world.Bootstrap(r.config(r.ca))
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(managedClusters)
	err = hub.Get(ctx, client.ObjectKey{Name: name}, out)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	return out, err
}

// shownHub is what a hub says of itself, empty where it does not.
type shownHub struct {
	server string
	ca     []byte
}

// shown reads the ConfigMaps by which a cluster shows its authority and its address.
func (r *reach) shown(ctx context.Context, world World, unverified bool) (out shownHub, err error) {
	config := r.config(r.ca)
	config.Insecure = unverified
	hub, err := world.Bootstrap(config)
	if err != nil {
		return out, err
	}
	var info corev1.ConfigMap
	err = hub.Get(ctx, client.ObjectKey{Namespace: "kube-public", Name: "cluster-info"}, &info)
	if err == nil {
		kubeconfig, err := clientcmd.Load([]byte(info.Data["kubeconfig"]))
		if err != nil || len(kubeconfig.Clusters) != 1 {
			return out, errors.New("the hub's ConfigMap kube-public/cluster-info has no kubeconfig with one cluster: say --ca-file, and leave --force-internal-endpoint-lookup out")
		}
		for _, only := range kubeconfig.Clusters {
			out = shownHub{only.Server, only.CertificateAuthorityData}
		}
		return out, nil
	}
	if !apierrors.IsNotFound(err) {
		return out, r.refused(err)
	}
	var root corev1.ConfigMap // which Kubernetes publishes in every namespace
	err = hub.Get(ctx, client.ObjectKey{Namespace: "kube-public", Name: "kube-root-ca.crt"}, &root)
	if err != nil && !apierrors.IsNotFound(err) {
		return out, r.refused(err)
	}
	return shownHub{ca: []byte(root.Data["ca.crt"])}, nil
}

// kubeconfig is the file by which agents first reach the hub.
func (r *reach) kubeconfig() ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: r.address, CertificateAuthorityData: r.ca}
	config.AuthInfos["bootstrap"] = &clientcmdapi.AuthInfo{Token: r.token}
	config.Contexts["bootstrap"] = &clientcmdapi.Context{Cluster: "hub", AuthInfo: "bootstrap", Namespace: "default"}
	config.CurrentContext = "bootstrap"
	return clientcmd.Write(*config)
}

func isUnknownAuthority(err error) bool {
	_, is := errors.AsType[x509.UnknownAuthorityError](err)
	return is
}

// fingerprint is the SHA-256 of the first certificate of a text in PEM, as openssl x509 prints it.
func fingerprint(ca []byte) string {
	block, _ := pem.Decode(ca)
	if block == nil {
		return "of no certificate"
	}
	return fmt.Sprintf("%X", sha256.Sum256(block.Bytes))
}
