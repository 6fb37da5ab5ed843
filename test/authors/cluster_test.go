// Package authors tests the example operator, and the page for authors of
// operators that explains it: the built program at a real API server, with the
// rights of its manifests, and at the local AWS.
package authors

import (
	"context"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
)

const (
	name = "token-operator"
	// audience is that of the token which the Deployment mounts.
	audience = "openshift"
	region   = "eu-central-1"
	account  = "123456789012"
)

var (
	infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	authentications = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "authentications"}
	credentials     = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "cloudcredentials"}
	requests        = schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}
	whoamis         = schema.GroupVersionResource{Group: "example.tabard.dev", Version: "v1", Resource: "whoamis"}
)

// program is the example, built.
var program string

func TestMain(m *testing.M) {
	os.Exit(testkit.RunWithProgram(m, "../../examples/token-operator", &program))
}

// world is a cluster, an AWS that can read its issuer, and who administrates
// both.
type world struct {
	t      *testing.T
	dir    string
	server *testkit.APIServer
	// operators is where the operator's calls go.
	operators *rest.Config
	client    dynamic.Interface
	clients   kubernetes.Interface
	issuer    string
	aws       *awslocal.Server
}

// newWorld has no kinds of OpenShift's, and nothing of the example yet.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	var roots *x509.CertPool
	w.server, roots = testkit.StartIssuer(t)
	w.issuer = w.server.Issuer()
	// OpenShift's API servers have this plugin.
	w.operators = w.server.StartAnother(t, "--enable-admission-plugins=OwnerReferencesPermissionEnforcement").Config
	var err error
	if w.client, err = dynamic.NewForConfig(w.server.Config); err != nil {
		t.Fatal(err)
	}
	if w.clients, err = kubernetes.NewForConfig(w.server.Config); err != nil {
		t.Fatal(err)
	}
	if w.aws, err = awslocal.New(awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: roots}); err != nil {
		t.Fatal(err)
	}
	if err := w.aws.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.aws.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w.write("ca.pem", w.aws.CACertificate())
	return w
}

func (w *world) write(file string, content []byte) string {
	w.t.Helper()
	path := filepath.Join(w.dir, file)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// apply applies files of the example, as a user does.
func (w *world) apply(files ...string) {
	w.t.Helper()
	script := ""
	for _, file := range files {
		script += "kubectl apply -f examples/token-operator/manifests/" + file + "\n"
	}
	testkit.Shell(w.t, w.server.Config, script)
}

// serveCluster installs the kinds by which a cluster says what it is.
func (w *world) serveCluster() {
	w.t.Helper()
	w.server.InstallForeign(w.t, testkit.OpenShiftConfig, testkit.OpenShiftCredentials)
}

func (w *world) serveRequests() {
	w.t.Helper()
	w.server.InstallCRDsFrom(w.t, "testdata/credentialsrequests.yaml")
}

// describe makes the cluster say what it is.
func (w *world) describe(platform, mode string) {
	w.t.Helper()
	w.put(infrastructures, "Infrastructure", map[string]any{}, map[string]any{"platformStatus": map[string]any{
		"type": platform,
		"aws": map[string]any{"region": region, "serviceEndpoints": []any{
			map[string]any{"name": "sts", "url": w.aws.URL()},
		}},
	}})
	w.put(credentials, "CloudCredential", map[string]any{"credentialsMode": mode}, nil)
	w.put(authentications, "Authentication", map[string]any{"serviceAccountIssuer": w.issuer}, nil)
}

// put makes the object "cluster" of a kind what it should be.
func (w *world) put(resource schema.GroupVersionResource, kind string, spec, status map[string]any) {
	w.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": "cluster"}, "spec": spec,
	}}
	options := metav1.ApplyOptions{FieldManager: "administrator", Force: true}
	if _, err := w.client.Resource(resource).Apply(w.t.Context(), "cluster", object, options); err != nil {
		w.t.Fatal(err)
	}
	if status == nil {
		return
	}
	delete(object.Object, "spec")
	object.Object["status"] = status
	if _, err := w.client.Resource(resource).ApplyStatus(w.t.Context(), "cluster", object, options); err != nil {
		w.t.Fatal(err)
	}
}

// token is one of the operator's ServiceAccount.
func (w *world) token(audience string) string {
	w.t.Helper()
	made, err := w.clients.CoreV1().ServiceAccounts(name).CreateToken(w.t.Context(), name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return made.Status.Token
}

// object is one of the operator's, nil if it or its kind does not exist.
func (w *world) object(resource schema.GroupVersionResource) *unstructured.Unstructured {
	w.t.Helper()
	found, err := w.client.Resource(resource).Namespace(name).Get(w.t.Context(), name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		w.t.Fatal(err)
	}
	return found
}
