package api

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account  = "123456789012"
	region   = "eu-central-1"
	system   = "tabard-system"
	boundary = "arn:aws:iam::" + account + ":policy/tabard/boundary"
	audience = "sts.amazonaws.com"
	allowed  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::shop/*"}]}`
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.Main(m))
}

// world is a cluster that is served, one that Tabard can run in beside it, and an AWS that
// has the bucket of the first one's issuer, and whose roles for Tabard trust the issuer of
// the second. Tabard's kinds and rights are in both clusters.
type world struct {
	served, host *testkit.Cluster
	aws          *awstest.Lab
}

var started = testkit.Shared(func(t testing.TB) *world {
	t.Helper()
	options := testkit.ClusterOptions{CRDs: []string{testkit.CRDs}, Schemes: []func(*runtime.Scheme) error{cloudv1.AddToScheme}}
	w := &world{host: testkit.StartCluster(t, options)}
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: w.host.Roots})
	options.Issuer = w.url("served")
	w.served = testkit.StartCluster(t, options)
	for _, c := range []*testkit.Cluster{w.served, w.host} {
		c.MakeFiles("config/manifests/00-namespace.yaml", "config/rbac/issuer.yaml", "config/rbac/credentials.yaml",
			"config/manifests/issuer.yaml", "config/manifests/credentials/controller.yaml", "config/manifests/policies.yaml")
	}
	w.aws.Must(w.aws.IAM(account).CreatePolicy(t.Context(), &iam.CreatePolicyInput{
		PolicyName: aws.String("boundary"), Path: aws.String("/tabard/"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`),
	}))
	provider := w.aws.Provider(account, w.host.Issuer(), audience)
	for name, rights := range map[string]string{"tabard-issuer": `["s3:*","iam:*"]`, "tabard-credentials": `"iam:*"`} {
		w.aws.Role(account, name, awstest.Trust(provider, "system:serviceaccount:"+system+":"+name, audience),
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":`+rights+`,"Resource":"*"}]}`)
	}
	return w
})

// newWorld is the world for a test, which removes what it makes outside of a
// namespace of its own.
func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	w := started(t)
	return &world{served: w.served.In(t), host: w.host.In(t), aws: w.aws}
}

// url is that of an issuer, which is published in a bucket.
func (w *world) url(name string) string { return w.aws.URL() + "/" + bucketOf(name) }

func bucketOf(issuer string) string { return issuer + "-issuer" }

// newIssuer is one that is deleted with all that it is.
func (w *world) newIssuer(name string) *v1alpha1.OIDCIssuer {
	return &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.OIDCIssuerSpec{
		URL: w.url(name), DeletionPolicy: v1alpha1.DeletionPolicyDelete, Providers: []v1alpha1.Provider{{Audiences: []string{audience}}},
		Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: bucketOf(name), Region: region, Create: true}},
	}}
}

// ask is a request of a namespace for a role of one of its ServiceAccounts.
func ask(namespace, account string) *cloudv1.CredentialsRequest {
	return &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "checkout"},
		Spec: cloudv1.CredentialsRequestSpec{
			Storage: &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: namespace, Name: account}},
			ProviderSpec: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec",
				"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::shop/*"}]}`)},
		},
	}
}

// allow is the boundary of a namespace that may ask so.
func allow(namespace string) *v1alpha1.CredentialsBoundary {
	return &v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: v1alpha1.CredentialsBoundarySpec{
		Namespaces: []string{namespace}, AWS: &v1alpha1.AWSBoundary{Ceiling: allowed},
	}}
}

// become has a ServiceAccount of a cluster become a role, as a pod does.
func (w *world) become(from *testkit.Cluster, namespace, name, role string) error {
	client := sts.New(sts.Options{Region: region, BaseEndpoint: aws.String(w.aws.URL()), HTTPClient: w.aws.Client()})
	_, err := client.AssumeRoleWithWebIdentity(from.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role, RoleSessionName: aws.String("test"), WebIdentityToken: aws.String(from.Token(namespace, name, 0, audience)),
	})
	return err
}

// gone is nil if the served cluster has an object no longer.
func (w *world) gone(object client.Object) error {
	err := w.served.Get(w.served.Context(), client.ObjectKeyFromObject(object), object)
	if err == nil {
		return fmt.Errorf("%T %s is there still, with the finalizers %q", object, object.GetName(), object.GetFinalizers())
	}
	return client.IgnoreNotFound(err)
}

// says demands that a condition of an issuer is True, and says a text.
func (w *world) says(name, kind, text string) error {
	var one v1alpha1.OIDCIssuer
	if err := w.served.Get(w.served.Context(), client.ObjectKey{Name: name}, &one); err != nil {
		return err
	}
	if c := meta.FindStatusCondition(one.Status.Conditions, kind); c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, text) {
		return fmt.Errorf("%s of the issuer %s is %+v, want True, saying %q", kind, name, c, text)
	}
	return nil
}

// account is the ServiceAccount that a request of a namespace asked for.
func (w *world) account(namespace string) (*corev1.ServiceAccount, error) {
	found := &corev1.ServiceAccount{}
	if err := w.served.Get(w.served.Context(), client.ObjectKey{Namespace: namespace, Name: "checkout"}, found); err != nil {
		return nil, fmt.Errorf("%w; its grants say %s", err, said(w.grants(w.served)))
	}
	return found, nil
}

func (w *world) grants(of *testkit.Cluster) []v1alpha1.CredentialsGrant {
	of.Helper()
	var grants v1alpha1.CredentialsGrantList
	must.Do(of, of.List(of.Context(), &grants))
	return grants.Items
}

func said(grants []v1alpha1.CredentialsGrant) (text string) {
	for _, g := range grants {
		for _, c := range g.Status.Conditions {
			text += fmt.Sprintf("%s is %s: %s; ", c.Type, c.Status, c.Message)
		}
	}
	return text
}
