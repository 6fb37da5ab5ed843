// Package rotation tests that a cluster gets a new issuer and loses its old one while
// roles of CredentialsRequests trust them: the controllers issuer and credentials together,
// on a real API server and a local AWS. The clock is moved, because tokens live for a day.
package rotation

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud/bucket"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	corecredentials "github.com/tabard-dev/tabard/internal/core/credentials"
	coreissuer "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account  = "123456789012"
	region   = "us-west-2"
	audience = "sts.amazonaws.com"
	boundary = "arn:aws:iam::" + account + ":policy/tabard/boundary"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// world is a cluster whose tokens are of the new issuer.
type world struct {
	*testkit.Cluster
	aws         *awstest.Lab
	ahead       time.Duration // of the clock
	issuers     *issuer.Controller
	credentials *credentials.Controller
}

func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	w := &world{aws: awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region})}
	w.Cluster = testkit.StartCluster(t, testkit.ClusterOptions{
		Issuer: w.url("new"), CRDs: []string{testkit.CRDs}, Schemes: []func(*runtime.Scheme) error{cloudv1.AddToScheme},
	})
	w.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tabard-issuer"}})
	w.MakeNamespaces("shop")
	admin := w.aws.Administrator(account)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": w.aws.URL(), "AWS_CA_BUNDLE": w.aws.Write("ca.crt", string(w.aws.CACertificate())), "AWS_REGION": region,
		"AWS_ACCESS_KEY_ID": admin.AccessKeyID, "AWS_SECRET_ACCESS_KEY": admin.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
	w.control(t)
	return w
}

func (w *world) url(name string) string { return w.aws.URL() + "/" + name + "-issuer" }

// control makes both controllers, as the account's administrator.
func (w *world) control(t *testing.T) {
	t.Helper()
	auth := must.Get(awsauth.New(awsauth.Options{Getenv: os.Getenv, ReadFile: os.ReadFile, Now: time.Now}))(t)
	clock := func() time.Time { return time.Now().Add(w.ahead) }
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.aws.CACertificate())
	as := identity.Identity{Base: identity.Session}
	kit := func(name, finalizer string) controller.Kit {
		return controller.Kit{
			Client: w, Live: w, Events: events.NewFakeRecorder(1000), Finalizer: finalizer, Owner: "tabard." + name,
			Metrics: controller.NewMetrics(prometheus.NewRegistry(), name),
		}
	}
	w.issuers = &issuer.Controller{Kit: kit("issuer", coreissuer.Finalizer), Observer: &issuer.Observer{
		Cluster: &issuer.Cluster{Config: w.Config, Client: w, ServiceAccount: client.ObjectKey{Namespace: "default", Name: "tabard-issuer"}},
		AWS:     issuer.AWS{Accounts: caller.New(auth), Buckets: bucket.New(auth), Providers: oidcprovider.New(auth), Roles: iamrole.New(auth)},
		Public:  &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}, Operator: as, Now: clock,
	}}
	w.credentials = credentials.New(kit("credentials", corecredentials.Finalizer), must.Get(credentials.FollowedBy(w.Config))(t),
		credentials.NewMetrics(prometheus.NewRegistry()), credentials.Options{
			Settings: corecredentials.Settings{PermissionsBoundary: boundary, Drift: corecredentials.DriftEnforce}, Operator: as, Writes: 1000, Now: clock,
			AWS:      credentials.AWS{Accounts: caller.New(auth), Providers: oidcprovider.New(auth), Roles: iamrole.New(auth)},
			Platform: kubernetes{},
		})
	must.Do(t, w.credentials.Follow(t.Context(), func(reconcile.Request) {}))
}

// until makes passes of both controllers until something holds.
func (w *world) until(what func() error) {
	w.Helper()
	w.Await(func() error {
		var list v1alpha1.OIDCIssuerList
		must.Do(w, w.List(w.Context(), &list))
		for _, one := range list.Items {
			_, _ = controller.Typed(w.issuers.Kit, w.issuers).Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: one.Name}}) // what it says is in the status
		}
		_, err := w.credentials.Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "checkout"}})
		return errors.Join(what(), err)
	})
}

// makeIssuer makes one that is deleted with all that it is.
func (w *world) makeIssuer(name string) {
	w.Helper()
	w.Make(&v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.OIDCIssuerSpec{
		URL: w.url(name), DeletionPolicy: v1alpha1.DeletionPolicyDelete, Providers: []v1alpha1.Provider{{Audiences: []string{audience}}},
		Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: name + "-issuer", Region: region, Create: true}},
	}})
}

// trusts says whether the request's role trusts exactly these issuers.
func (w *world) trusts(names ...string) func() error {
	return func() error {
		role, err := w.role()
		if err != nil {
			return err
		}
		for _, name := range []string{"old", "new"} {
			wanted := strings.Contains(strings.Join(names, " "), name)
			if has := strings.Contains(aws.ToString(role.AssumeRolePolicyDocument), name+"-issuer"); has != wanted {
				return fmt.Errorf("the role trusts the issuer %s: %t, want %t", name, has, wanted)
			}
		}
		return nil
	}
}

func (w *world) role() (*iamtypes.Role, error) {
	var found corev1.ServiceAccount
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: "shop", Name: "checkout"}, &found); err != nil {
		var grants v1alpha1.CredentialsGrantList
		must.Do(w, w.List(w.Context(), &grants))
		for _, grant := range grants.Items {
			err = fmt.Errorf("%w; %+v", err, grant.Status.Conditions)
		}
		return nil, err
	}
	arn := found.Annotations[corecredentials.RoleAnnotation]
	role, err := w.aws.IAM(account).GetRole(w.Context(), &iam.GetRoleInput{RoleName: aws.String(arn[strings.LastIndex(arn, "/")+1:])})
	if err != nil {
		return nil, err
	}
	return role.Role, nil
}

// become has a pod's token become the role.
func (w *world) become(t *testing.T) {
	t.Helper()
	role := must.Get(w.role())(t)
	must.Get(sts.New(sts.Options{Region: region, BaseEndpoint: aws.String(w.aws.URL()), HTTPClient: w.aws.Client()}).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: role.Arn, RoleSessionName: aws.String("test"), WebIdentityToken: aws.String(w.Token("shop", "checkout", 0, audience)),
	}))(t)
}

// kubernetes is a cluster without a Cloud Credential Operator.
type kubernetes struct{}

// Facts implements credentials.Platform.
func (kubernetes) Facts(context.Context) (platform.Facts, error) {
	return platform.Facts{Infrastructure: "prod", Region: region, Operator: platform.Operator{Why: "there is no Cloud Credential Operator"}}, nil
}

func TestAnIssuerIsRotatedUnderTheRolesThatTrustIt(t *testing.T) {
	w := newWorld(t)
	w.aws.Must(w.aws.IAM(account).CreatePolicy(t.Context(), &iam.CreatePolicyInput{
		PolicyName: aws.String("boundary"), Path: aws.String("/tabard/"), PolicyDocument: aws.String(allowed),
	}))
	w.makeIssuer("old")
	w.Make(&v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1alpha1.CredentialsBoundarySpec{
		Namespaces: []string{"shop"}, AWS: &v1alpha1.AWSBoundary{Ceiling: allowed},
	}}, request())
	w.until(w.trusts("old"))

	w.makeIssuer("new")
	w.until(w.trusts("old", "new"))
	w.until(func() error { return w.says("new", "Ready", "") })
	w.become(t)

	w.Remove(&v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "old"}})
	role := must.Get(w.role())(t)
	w.until(func() error { return w.says("old", "DeletionBlocked", *role.RoleName) })
	w.ahead += 23 * time.Hour
	w.until(w.trusts("old", "new"))
	w.until(func() error { return w.says("old", "DeletionBlocked", *role.RoleName) })

	w.ahead += 3 * time.Hour // retireKeysAfter is 25 hours
	w.until(w.trusts("new"))
	w.ahead += time.Hour // roles that block a deletion are listed each ten minutes
	w.until(func() error {
		if err := w.Get(t.Context(), client.ObjectKey{Name: "old"}, &v1alpha1.OIDCIssuer{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the old OIDCIssuer: %w, want it gone", err)
		}
		return nil
	})
	list := must.Get(w.aws.IAM(account).ListOpenIDConnectProviders(t.Context(), &iam.ListOpenIDConnectProvidersInput{}))(t)
	if got := len(list.OpenIDConnectProviderList); got != 1 {
		t.Errorf("the account has %d providers, want that of the new issuer", got)
	}
	w.become(t)
}

const allowed = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::shop/*"}]}`

func request() *cloudv1.CredentialsRequest {
	return &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout"},
		Spec: cloudv1.CredentialsRequestSpec{
			Storage: &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: "shop", Name: "checkout"}},
			ProviderSpec: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec",
				"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::shop/*"}]}`)},
		},
	}
}

// says demands that a condition of an issuer is True, and says a text.
func (w *world) says(name, kind, text string) error {
	var one v1alpha1.OIDCIssuer
	if err := w.Get(w.Context(), client.ObjectKey{Name: name}, &one); err != nil {
		return err
	}
	if c := meta.FindStatusCondition(one.Status.Conditions, kind); c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, text) {
		return fmt.Errorf("%s of the issuer %s is %+v, want True, saying %q", kind, name, c, text)
	}
	return nil
}
