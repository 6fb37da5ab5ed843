package hub

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// hand is an identity of the hub that tries things.
type hand struct {
	client.Client
	kube    kubernetes.Interface
	cluster *testkit.Cluster
	config  *rest.Config
}

func newHand(hub *testkit.Cluster, token string) *hand {
	config := rest.AnonymousClientConfig(hub.Config)
	config.QPS, config.BearerToken = -1, token
	return handOf(hub, config)
}

func handOf(hub *testkit.Cluster, config *rest.Config) *hand {
	return &hand{hub.ClientFor(config), must.Get(kubernetes.NewForConfig(config))(hub), hub, config}
}

// try is a thing to try.
type try func(ctx context.Context, h *hand) error

// change changes an object before it is written.
type change func(*unstructured.Unstructured)

// set sets a field.
func set(value any, path ...string) change {
	return func(o *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
			panic(err)
		}
	}
}

// annotate sets annotations; those without a value go.
func annotate(annotations map[string]*string) change {
	return func(o *unstructured.Unstructured) {
		all := o.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		for key, value := range annotations {
			if delete(all, key); value != nil {
				all[key] = *value
			}
		}
		o.SetAnnotations(all)
	}
}

// claim sets both annotations of AWS.
func claim(arn, suffix string) change {
	return annotate(map[string]*string{arnAnnotation: &arn, suffixAnnotation: &suffix})
}

func create(kind schema.GroupVersionKind, namespace, name string, changes ...change) try {
	return func(ctx context.Context, h *hand) error {
		object := ocm.New(kind, namespace, name)
		for _, change := range changes {
			change(object)
		}
		return h.Create(ctx, object)
	}
}

// often is how a write is tried again: the hub and the agents write the same objects.
var often = wait.Backoff{Steps: 50, Duration: 5 * time.Millisecond, Factor: 1.1, Jitter: 1}

// update writes an object over that is there. Who may not read it writes what an administrator reads.
func update(kind schema.GroupVersionKind, namespace, name string, changes ...change) try {
	return func(ctx context.Context, h *hand) error {
		return retry.OnError(often, isStale, func() error {
			object := ocm.New(kind, namespace, name)
			if err := h.cluster.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				return err
			}
			for _, change := range changes {
				change(object)
			}
			return h.Update(ctx, object)
		})
	}
}

// isStale says that the object was changed after it was read. Where the hub has put a taint on a
// ManagedCluster since, its webhook says so before the API server does.
func isStale(err error) bool {
	return apierrors.IsConflict(err) || strings.Contains(err.Error(), "It is not allowed to set TimeAdded of Taint")
}

func patch(kind schema.GroupVersionKind, namespace, name, body string) try {
	return func(ctx context.Context, h *hand) error {
		return h.Patch(ctx, ocm.New(kind, namespace, name), client.RawPatch("application/merge-patch+json", []byte(body)))
	}
}

func patchStatus(kind schema.GroupVersionKind, namespace, name, body string) try {
	return func(ctx context.Context, h *hand) error {
		return h.Status().Patch(ctx, ocm.New(kind, namespace, name), client.RawPatch("application/merge-patch+json", []byte(body)))
	}
}

func remove(kind schema.GroupVersionKind, namespace, name string) try {
	return func(ctx context.Context, h *hand) error { return h.Delete(ctx, ocm.New(kind, namespace, name)) }
}

func removeAll(kind schema.GroupVersionKind, namespace string) try {
	return func(ctx context.Context, h *hand) error {
		return h.DeleteAllOf(ctx, ocm.New(kind, namespace, ""), client.InNamespace(namespace))
	}
}

func read(kind schema.GroupVersionKind, namespace, name string) try {
	return func(ctx context.Context, h *hand) error {
		return h.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, ocm.New(kind, namespace, name))
	}
}

func list(kind schema.GroupVersionKind, namespace string) try {
	return func(ctx context.Context, h *hand) error {
		all := &unstructured.UnstructuredList{}
		all.SetGroupVersionKind(kind)
		return h.List(ctx, all, client.InNamespace(namespace))
	}
}

// rename writes an object of one name to the place of another's.
func rename(kind schema.GroupVersionKind, at, name string) try {
	return func(ctx context.Context, h *hand) error {
		body := `{"apiVersion":"` + kind.GroupVersion().String() + `","kind":"` + kind.Kind + `","metadata":{"name":"` + name + `"}}`
		return h.kube.Discovery().RESTClient().Put().AbsPath("/apis", kind.Group, kind.Version, "managedclusters", at).
			SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(ctx).Error()
	}
}

// as does a thing with the headers of impersonation.
func as(user, group string, do try) try {
	return func(ctx context.Context, h *hand) error {
		config := rest.CopyConfig(h.config)
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{group}}
		other, err := client.New(config, client.Options{Scheme: h.Scheme(), Mapper: h.RESTMapper()}) // which it may not ask for
		if err != nil {
			return err
		}
		return do(ctx, &hand{Client: other, cluster: h.cluster, config: config})
	}
}

// tokenFor asks for a token of a ServiceAccount.
func tokenFor(namespace, account string) try {
	return func(ctx context.Context, h *hand) error {
		_, err := h.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		return err
	}
}

// request is a certificate that is asked for.
type request struct {
	name, signer, cluster, commonName string
	organizations                     []string
}

// ask asks for it, with the label of the cluster.
func (r request) ask(ctx context.Context, h *hand) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: r.commonName, Organization: r.organizations},
	}, key)
	if err != nil {
		return err
	}
	return h.Create(ctx, &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: r.name, Labels: map[string]string{"open-cluster-management.io/cluster-name": r.cluster}},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: text}), SignerName: r.signer,
			Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth},
		},
	})
}

// approval approves a request.
func approval(name string) try {
	return func(ctx context.Context, h *hand) error {
		asked, err := h.kube.CertificatesV1().CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		asked.Status.Conditions = append(asked.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Approved",
		})
		_, err = h.kube.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, name, asked, metav1.UpdateOptions{})
		return err
	}
}
