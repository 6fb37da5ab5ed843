// Package beside runs Tabard and a stand-in for a live Cloud Credential Operator side by
// side on a real API server with OpenShift's kinds and a local AWS, while requests and
// modes change, and checks all that either of them wrote.
package beside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	standin "github.com/tabard-dev/tabard/test/credentials/cco"
)

const (
	account   = "123456789012"
	region    = "eu-central-1"
	infra     = "served"
	system    = "tabard-system"
	shop      = "shop"
	audience  = "sts.amazonaws.com"
	boundary  = "arn:aws:iam::" + account + ":policy/tabard/boundary"
	operators = "openshift-cloud-credential-operator"
	deployed  = "cloud-credential-operator"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.Main(m))
}

// world is an OpenShift cluster on AWS, as far as Tabard can see.
type world struct {
	*testkit.Cluster
	aws      *awstest.Lab
	iam      *iam.Client
	operator *standin.StandIn
	audit    string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	w := &world{audit: t.TempDir() + "/audit.log"}
	policy := t.TempDir() + "/policy.yaml"
	must.Do(t, os.WriteFile(policy, []byte(auditPolicy), 0o600))
	w.Cluster = testkit.StartCluster(t, testkit.ClusterOptions{
		Flags: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + w.audit},
		CRDs: []string{
			"test/credentials/api/testdata/shipped.yaml", // it prunes spec.storage
			testkit.CRDs + "/identity.tabard.dev_credentialsboundaries.yaml", testkit.CRDs + "/identity.tabard.dev_credentialsgrants.yaml",
			testkit.CRDs + "/identity.tabard.dev_oidcissuers.yaml",
		},
		Schemes: []func(*runtime.Scheme) error{cloudv1.AddToScheme},
		Foreign: []testkit.ForeignKinds{testkit.OpenShiftOperators, testkit.OpenShiftConfig, testkit.OpenShiftCredentials},
	})
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: w.Roots})
	w.iam = w.aws.IAM(account)
	w.Shell(`
		kubectl apply -f config/manifests/00-namespace.yaml
		kubectl apply -f config/rbac/credentials.yaml -f config/manifests/credentials/controller.yaml -f config/manifests/policies.yaml
		kubectl create namespace ` + shop + `
		kubectl create namespace ` + operators + `
		kubectl -n ` + shop + ` create rolebinding tabard-credentials-secrets --clusterrole=tabard-credentials-secrets --serviceaccount=tabard-system:tabard-credentials`)
	w.openshift()
	w.inAWS(t)
	w.Make(&v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}, Spec: v1alpha1.OIDCIssuerSpec{
		URL: w.Issuer(), Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: "keys", Region: region}},
		Providers: []v1alpha1.Provider{{Audiences: []string{audience}}},
	}}, &v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: shop}, Spec: v1alpha1.CredentialsBoundarySpec{
		Namespaces: []string{shop},
		AWS: &v1alpha1.AWSBoundary{
			PermissionsBoundary: boundary, Ceiling: document("s3:GetObject", "arn:aws:s3:::shop/*"), RoleARNPatterns: []string{givenRole},
		},
	}})
	return w
}

const givenRole = "arn:aws:iam::" + account + ":role/team/app"

func document(action, resource string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":[%q],"Resource":%q}]}`, action, resource)
}

// inAWS makes what is there before Tabard: its own role, a boundary, and a role of
// somebody else that has the name of one that a request asks for.
func (w *world) inAWS(t *testing.T) {
	t.Helper()
	provider := w.aws.Provider(account, w.Issuer(), audience, "openshift")
	w.aws.Must(w.iam.CreatePolicy(t.Context(), &iam.CreatePolicyInput{
		PolicyName: aws.String("boundary"), Path: aws.String("/tabard/"), PolicyDocument: aws.String(document("s3:*", "*")),
	}))
	own := "system:serviceaccount:" + system + ":tabard-credentials"
	w.aws.Role(account, "tabard-credentials", awstest.Trust(provider, own, audience), document("iam:*", "*"))
	taken := core.RoleName(core.Settings{OwnNamespaces: []string{system}}, infra, shop, "r0")
	w.aws.Role(account, taken, awstest.Trust(provider, own, audience), document("s3:GetObject", "*"))
}

// openshift makes what says that this is OpenShift, with a Cloud Credential Operator.
func (w *world) openshift() {
	w.one("config.openshift.io/v1", "Infrastructure", "cluster", map[string]any{}, map[string]any{
		"infrastructureName": infra, "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "HighlyAvailable",
		"platformStatus": map[string]any{"type": "AWS", "aws": map[string]any{"region": region}},
	})
	w.one("config.openshift.io/v1", "Authentication", "cluster", map[string]any{"serviceAccountIssuer": w.Issuer()}, nil)
	w.one("operator.openshift.io/v1", kindMode, "cluster", map[string]any{"credentialsMode": "Manual"}, nil)
	w.one("config.openshift.io/v1", "ClusterOperator", "cloud-credential", map[string]any{}, nil)
	w.one("admissionregistration.k8s.io/v1", kindWebhook, "pod-identity-webhook", nil, nil)
	labels := map[string]string{"app": "cco"}
	w.Make(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: operators, Name: deployed},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "cco", Image: "cco"}}},
			},
		},
	})
}

func (w *world) one(version, kind, name string, spec, status map[string]any) {
	w.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
	if spec != nil {
		o.Object["spec"] = spec
	}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	w.Make(o)
	if status != nil {
		o.Object["status"] = status
		must.Do(w, w.Status().Update(w.Context(), o))
	}
}

// start runs Tabard.
func (w *world) start(t *testing.T, flags ...string) *testkit.Process {
	t.Helper()
	token := w.aws.Write("token", w.Token(system, "tabard-credentials", 0, audience))
	environment := []string{
		"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Write("ca.crt", string(w.aws.CACertificate())), "AWS_REGION=" + region,
		"AWS_ROLE_ARN=arn:aws:iam::" + account + ":role/tabard-credentials", "AWS_WEB_IDENTITY_TOKEN_FILE=" + token,
	}
	return testkit.StartTabard(t, environment, append([]string{
		"operator", "--controllers=credentials", "--service-account=tabard-credentials", "--credentials-permissions-boundary=" + boundary,
		"--kubeconfig=" + w.Kubeconfig(w.Account(system, "tabard-credentials")), "--credentials-writes-per-second=100",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--log-level=error",
	}, flags...)...)
}

// roles are all roles but that of Tabard itself, whose use changes it.
func (w *world) roles() (out []Role) {
	w.Helper()
	details := must.Get(w.iam.GetAccountAuthorizationDetails(w.Context(), &iam.GetAccountAuthorizationDetailsInput{}))(w)
	if details.IsTruncated {
		w.Fatal("there are more roles than one page has")
	}
	for _, role := range details.RoleDetailList {
		if *role.RoleName == "tabard-credentials" {
			continue
		}
		role.RoleLastUsed = nil
		state := must.Get(json.Marshal(role))(w)
		out = append(out, Role{Name: *role.RoleName, State: string(state)})
	}
	return out
}

// left are what is there of requests.
func (w *world) left() (out []string) {
	w.Helper()
	for _, kind := range []string{kindRequest, kindGrant, kindSecret, kindAccount} {
		list := must.Get(w.Dynamic.Resource(kinds[kind]).List(w.Context(), metav1.ListOptions{}))(w)
		for _, o := range list.Items {
			marks := o.GetAnnotations()
			if kind == kindSecret || kind == kindAccount {
				if marks[core.RequestAnnotation] == "" && marks[core.RoleAnnotation] == "" {
					continue
				}
			}
			out = append(out, fmt.Sprintf("%s %s/%s (finalizers %s)", kind, o.GetNamespace(), o.GetName(), o.GetFinalizers()))
		}
	}
	return out
}

// end deletes all requests and waits until nothing is left of them; what is left in the
// end is for the rules.
func (w *world) end() (left []string) {
	w.Helper()
	must.Do(w, w.DeleteAllOf(w.Context(), &cloudv1.CredentialsRequest{}, client.InNamespace(shop)))
	_ = wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, testkit.Patience, true, func(context.Context) (bool, error) {
		left = w.left()
		return len(left) == 0, nil
	})
	return left
}

// seen says that Tabard has told of a request why it does nothing for it.
func (w *world) seen(request string) (revision string, err error) {
	list, err := w.Kube.EventsV1().Events(shop).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, event := range list.Items {
		if event.Regarding.Name == request && strings.HasPrefix(event.Reason, "CloudCredentialOperator") {
			return event.ResourceVersion, nil
		}
	}
	return "", errors.New("not yet")
}
