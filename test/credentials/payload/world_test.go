package payload

import (
	"os"
	"os/exec"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account    = "123456789012"
	region     = "eu-central-1"
	infra      = "prod-x7k2p"
	system     = "tabard-system"
	controller = "tabard-credentials"
	audience   = "sts.amazonaws.com"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// operators are the namespaces of OpenShift's operators that ask for credentials on AWS.
var operators = []string{
	"openshift-cloud-credential-operator", "openshift-cloud-network-config-controller", "openshift-cluster-csi-drivers",
	"openshift-image-registry", "openshift-ingress-operator", "openshift-machine-api",
}

// world is a cluster of OpenShift as far as Tabard looks, and an AWS in which ccoctl has
// registered its issuer.
type world struct {
	*testkit.Cluster
	aws *awstest.Lab
}

func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	w := &world{Cluster: testkit.StartCluster(t, testkit.ClusterOptions{
		CRDs: []string{
			"test/credentials/api/testdata/shipped.yaml", // the release's CredentialsRequest
			testkit.CRDs + "/identity.tabard.dev_credentialsboundaries.yaml", testkit.CRDs + "/identity.tabard.dev_credentialsgrants.yaml",
			testkit.CRDs + "/identity.tabard.dev_oidcissuers.yaml",
		},
		Foreign: []testkit.ForeignKinds{testkit.OpenShiftOperators, testkit.OpenShiftConfig, testkit.OpenShiftCredentials},
	})}
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: w.Roots})
	w.aws.Provider(account, w.Issuer(), "openshift", audience)
	w.MakeNamespaces(operators...)
	w.one("config.openshift.io/v1", "Infrastructure", map[string]any{}, map[string]any{
		"infrastructureName": infra, "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "HighlyAvailable",
		"platformStatus": map[string]any{"type": "AWS", "aws": map[string]any{"region": region}},
	})
	w.one("config.openshift.io/v1", "Authentication", map[string]any{"serviceAccountIssuer": w.Issuer()}, nil)
	w.one("operator.openshift.io/v1", "CloudCredential", map[string]any{"credentialsMode": "Manual"}, nil)
	return w
}

// one makes the object "cluster" of a kind.
func (w *world) one(version, kind string, spec, status map[string]any) {
	w.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "cluster"}, "spec": spec}}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	w.Make(o)
	if status != nil {
		o.Object["status"] = status
		must.Do(w, w.Status().Update(w.Context(), o))
	}
}

// install installs the controller, and bootstraps it as an administrator of the cluster and
// of the account does.
func (w *world) install() {
	w.Helper()
	w.Shell(`
		kubectl apply -f config/manifests/00-namespace.yaml
		kubectl apply -f config/rbac/credentials.yaml -f config/manifests/credentials/controller.yaml -f config/manifests/policies.yaml`)
	key := w.aws.Administrator(account)
	bootstrap := exec.CommandContext(w.Context(), testkit.Tabard(w), "credentials", "bootstrap")
	bootstrap.Env = append(w.inAWS(), "HOME="+w.TempDir(), "KUBECONFIG="+w.Kubeconfig(w.Config),
		"AWS_ACCESS_KEY_ID="+key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+key.SecretAccessKey)
	if said, err := bootstrap.CombinedOutput(); err != nil {
		w.Fatalf("tabard credentials bootstrap: %v\n%s", err, said)
	}
}

// inAWS are the variables that lead a process to the local AWS.
func (w *world) inAWS() []string {
	return []string{"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Write("ca.crt", string(w.aws.CACertificate())), "AWS_REGION=" + region}
}

// start runs the controller with the rights and a token of its ServiceAccount, as its
// Deployment does.
func (w *world) start() {
	w.Helper()
	told := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: controller}}
	must.Do(w, w.Get(w.Context(), client.ObjectKeyFromObject(told), told))
	environment := append(w.inAWS(), "AWS_ROLE_ARN="+told.Data["roleARN"],
		"AWS_WEB_IDENTITY_TOKEN_FILE="+w.aws.Write("token", w.Token(system, controller, 0, audience)))
	testkit.StartTabard(w, environment, "operator", "--controllers=credentials", "--service-account="+controller,
		"--infrastructure-name="+told.Data["infrastructure"], "--credentials-permissions-boundary="+told.Data["boundaryARN"],
		"--kubeconfig="+w.Kubeconfig(w.Account(system, controller)), "--metrics-bind-address=0", "--health-probe-bind-address=0")
}
