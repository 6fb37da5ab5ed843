// Package authors tests the example operator, and the page for authors of
// operators that explains it: the built program at a real API server, with the
// rights of its manifests, and at the local AWS.
package authors

import (
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
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
	os.Exit(testkit.RunWithProgram(m, "../../../examples/token-operator", &program))
}

// world is a cluster, an AWS that can read its issuer, and who administrates
// both.
type world struct {
	*testkit.Cluster
	dir string
	aws *awstest.Lab
	// environment is what the operator's environment has beside what it always has.
	environment []string
	// session is an administrator's environment, nil before it is asked for.
	session []string
}

// newWorld has no kinds of OpenShift's, and nothing of the example yet.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{dir: t.TempDir(), Cluster: testkit.StartCluster(t, testkit.ClusterOptions{
		Flags: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"}, // as OpenShift's have it
	})}
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: w.Roots})
	w.write("ca.pem", w.aws.CACertificate())
	return w
}

func (w *world) write(file string, content []byte) string {
	w.Helper()
	path := filepath.Join(w.dir, file)
	must.Do(w, os.WriteFile(path, content, 0o600))
	return path
}

// apply applies files of the example, as a user does.
func (w *world) apply(files ...string) {
	w.Helper()
	script := ""
	for _, file := range files {
		script += "kubectl apply -f examples/token-operator/manifests/" + file + "\n"
	}
	w.Shell(script)
}

// serveCluster installs the kinds by which a cluster says what it is.
func (w *world) serveCluster() {
	w.Helper()
	w.InstallForeign(w, testkit.OpenShiftConfig, testkit.OpenShiftCredentials)
}

func (w *world) serveRequests() {
	w.Helper()
	w.InstallCRDsFrom(w, "../../../config/crd/cloudcredential.openshift.io_credentialsrequests.yaml")
}

// describe makes the cluster say what it is.
func (w *world) describe(platform, mode string) {
	w.Helper()
	w.put(infrastructures, "Infrastructure", map[string]any{}, map[string]any{"infrastructureName": "prod-x7k2p", "platformStatus": map[string]any{
		"type": platform,
		"aws": map[string]any{"region": region, "serviceEndpoints": []any{
			map[string]any{"name": "sts", "url": w.aws.URL()},
		}},
	}})
	w.put(credentials, "CloudCredential", map[string]any{"credentialsMode": mode}, nil)
	w.put(authentications, "Authentication", map[string]any{"serviceAccountIssuer": w.Issuer()}, nil)
}

// put makes the object "cluster" of a kind what it should be.
func (w *world) put(resource schema.GroupVersionResource, kind string, spec, status map[string]any) {
	w.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": "cluster"}, "spec": spec,
	}}
	options := metav1.ApplyOptions{FieldManager: "administrator", Force: true}
	must.Get(w.Dynamic.Resource(resource).Apply(w.Context(), "cluster", object, options))(w)
	if status == nil {
		return
	}
	delete(object.Object, "spec")
	object.Object["status"] = status
	must.Get(w.Dynamic.Resource(resource).ApplyStatus(w.Context(), "cluster", object, options))(w)
}

// object is one of the operator's, nil if it or its kind does not exist.
func (w *world) object(resource schema.GroupVersionResource) *unstructured.Unstructured {
	w.Helper()
	found, err := w.Dynamic.Resource(resource).Namespace(name).Get(w.Context(), name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		w.Fatal(err)
	}
	return found
}
