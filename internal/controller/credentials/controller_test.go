package credentials_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	testAccount   = "123456789012"
	testIssuer    = "https://issuer.example.com"
	ownNamespace  = "tabard-system"
	infra         = "lab-x1"
	testPolicyARN = "arn:aws:iam::123456789012:policy/tabard/boundary"
	givenRole     = "arn:aws:iam::123456789012:role/team/app"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.Main(m))
}

var shared = testkit.SharedCluster(testkit.ClusterOptions{
	CRDs: []string{testkit.CRDs}, Schemes: []func(*runtime.Scheme) error{cloudv1.AddToScheme},
	Foreign: []testkit.ForeignKinds{testkit.OpenShiftOperators, testkit.OpenShiftConfig, testkit.OpenShiftCredentials},
})

// here is the platform, as a test says.
type here struct {
	mu    sync.Mutex
	facts platform.Facts
}

func (h *here) Facts(context.Context) (platform.Facts, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.facts, nil
}

// fixture is the controller on a real API server and a local AWS, for one namespace.
type fixture struct {
	*testkit.Cluster
	aws        *awstest.Lab
	iam        *iam.Client
	controller *credentials.Controller
	platform   *here
	told       *events.FakeRecorder
	woken      chan reconcile.Request
	namespace  string
	registry   *prometheus.Registry
	passes     *controller.Metrics
	// issuer is the URL of the issuer that roles trust.
	issuer string
	// as is who the controller is, and config how it follows the cluster; options change what
	// it is made of.
	as      client.Client
	config  *rest.Config
	options func(*credentials.Options)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureBy(t, testIssuer, nil)
}

// newFixtureBy has an issuer whose documents AWS reads, trusting roots.
func newFixtureBy(t *testing.T, issuer string, roots *x509.CertPool) *fixture {
	t.Helper()
	cluster := shared(t)
	f := &fixture{
		Cluster: cluster, as: cluster, config: cluster.Config, issuer: issuer, options: func(*credentials.Options) {},
		aws:  awstest.Start(t, awslocal.Options{Accounts: []string{testAccount}, Region: "us-west-2", TrustedCAs: roots}),
		told: events.NewFakeRecorder(1000), woken: make(chan reconcile.Request, 10000),
		platform: &here{facts: platform.Facts{Infrastructure: infra, Region: "us-west-2"}},
	}
	f.iam = f.aws.IAM(testAccount)
	admin := f.aws.Administrator(testAccount)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	must.Do(t, os.WriteFile(ca, f.aws.CACertificate(), 0o600))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": f.aws.URL(), "AWS_CA_BUNDLE": ca, "AWS_REGION": "us-west-2",
		"AWS_ACCESS_KEY_ID": admin.AccessKeyID, "AWS_SECRET_ACCESS_KEY": admin.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
	f.aws.Must(f.iam.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &issuer, ClientIDList: []string{"sts.amazonaws.com", "openshift"},
	}))
	f.aws.Must(f.iam.CreatePolicy(t.Context(), &iam.CreatePolicyInput{
		PolicyName: aws.String("boundary"), Path: aws.String("/tabard/"), PolicyDocument: aws.String(document("s3:*", "*")),
	}))
	f.world()
	f.start(t)
	return f
}

// world makes what an administrator makes.
func (f *fixture) world() {
	f.Helper()
	if err := f.Create(f.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownNamespace}}); err != nil && !apierrors.IsAlreadyExists(err) {
		f.Fatal(err)
	}
	f.namespace = f.NewNamespace()
	issuer := &v1alpha1.OIDCIssuer{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster"},
		Spec: v1alpha1.OIDCIssuerSpec{
			URL: f.issuer, Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: "keys", Region: "us-west-2"}},
			Providers: []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com"}}},
		},
	}
	if err := f.Create(f.Context(), issuer); err != nil && !apierrors.IsAlreadyExists(err) {
		f.Fatal(err)
	}
	f.Make(&v1alpha1.CredentialsBoundary{
		ObjectMeta: metav1.ObjectMeta{Name: f.namespace},
		Spec: v1alpha1.CredentialsBoundarySpec{
			Namespaces: []string{f.namespace},
			AWS:        &v1alpha1.AWSBoundary{PermissionsBoundary: testPolicyARN, Ceiling: document("s3:GetObject", "arn:aws:s3:::team/*"), RoleARNPatterns: []string{givenRole}},
		},
	})
	f.Cleanup(func() {
		ctx := context.WithoutCancel(f.Context())
		_ = f.DeleteAllOf(ctx, &v1alpha1.CredentialsBoundary{})
		_ = f.DeleteAllOf(ctx, &v1alpha1.OIDCIssuer{})
		f.forget(ctx)
	})
}

// forget removes what a test has left, so that the next one is not woken for it.
func (f *fixture) forget(ctx context.Context) {
	var requests cloudv1.CredentialsRequestList
	var grants v1alpha1.CredentialsGrantList
	_, _ = f.List(ctx, &requests), f.List(ctx, &grants)
	for i := range requests.Items {
		_ = f.Patch(ctx, &requests.Items[i], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		_ = f.Delete(ctx, &requests.Items[i])
	}
	for i := range grants.Items {
		_ = f.Patch(ctx, &grants.Items[i], client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		_ = f.Delete(ctx, &grants.Items[i])
	}
}

// start makes a controller and has it follow the cluster, as a new process does.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	auth := must.Get(awsauth.New(awsauth.Options{Getenv: os.Getenv, ReadFile: os.ReadFile, Now: time.Now}))(t)
	f.registry = prometheus.NewRegistry()
	f.passes = controller.NewMetrics(f.registry, credentials.Name)
	options := credentials.Options{
		Settings: core.Settings{OwnNamespaces: []string{ownNamespace}, Drift: core.DriftEnforce, PermissionsBoundary: testPolicyARN},
		Operator: identity.Identity{Base: identity.Session}, Platform: f.platform, Writes: 1000,
		AWS: credentials.AWS{Accounts: caller.New(auth), Providers: oidcprovider.New(auth), Roles: iamrole.New(auth)},
	}
	f.options(&options)
	f.controller = credentials.New(
		controller.Kit{
			Client: f.as, Live: f.as, Events: f.told, Owner: "tabard.credentials",
			Metrics: f.passes,
		},
		must.Get(credentials.FollowedBy(f.config))(t), credentials.NewMetrics(f.registry), options)
	must.Do(t, f.controller.Follow(t.Context(), func(request reconcile.Request) {
		select {
		case f.woken <- request:
		default:
		}
	}))
}

func document(action, resource string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":[%q],"Resource":%q}]}`, action, resource)
}

// request is one for a ServiceAccount of the fixture's namespace.
func (f *fixture) request(name, account string) *cloudv1.CredentialsRequest {
	return &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec: cloudv1.CredentialsRequestSpec{
			Storage: &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: f.namespace, Name: account}},
			ProviderSpec: &runtime.RawExtension{Raw: []byte(
				`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::team/a/*"}]}`)},
		},
	}
}

func keyOf(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}

// until makes passes over a request until its grant is as a test wants, or there is none.
func (f *fixture) until(request client.Object, is func(*v1alpha1.CredentialsGrant) error) *v1alpha1.CredentialsGrant {
	f.Helper()
	var grant *v1alpha1.CredentialsGrant
	f.Await(func() error {
		_, passed := f.controller.Reconcile(f.Context(), keyOf(request))
		grant = &v1alpha1.CredentialsGrant{}
		err := f.Get(f.Context(), client.ObjectKey{Name: core.GrantName(request.GetNamespace(), request.GetName())}, grant)
		if apierrors.IsNotFound(err) {
			grant, err = nil, nil
		}
		if err := errors.Join(passed, err); err != nil {
			return err
		}
		return is(grant)
	})
	return grant
}

// has wants a condition with a status and a reason, of which an empty one is any.
func has(kind string, status metav1.ConditionStatus, reason string) func(*v1alpha1.CredentialsGrant) error {
	return func(g *v1alpha1.CredentialsGrant) error {
		if g == nil {
			return errors.New("there is no grant")
		}
		c := meta.FindStatusCondition(g.Status.Conditions, kind)
		if c == nil || c.Status != status || reason != "" && c.Reason != reason {
			text, _ := json.Marshal(g.Status)
			return fmt.Errorf("want %s %s %s, the grant's status is %s", kind, status, reason, text)
		}
		return nil
	}
}

func isReady(g *v1alpha1.CredentialsGrant) error {
	return has(core.TypeReady, metav1.ConditionTrue, "")(g)
}

func isGone(g *v1alpha1.CredentialsGrant) error {
	if g != nil {
		text, _ := json.Marshal(g)
		return fmt.Errorf("the grant is still there: %s", text)
	}
	return nil
}

// role reads a role as its administrator; nil is none.
func (f *fixture) role(name string) *iam.GetRoleOutput {
	f.Helper()
	out, err := f.iam.GetRole(f.Context(), &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		if strings.Contains(err.Error(), "NoSuchEntity") {
			return nil
		}
		f.Fatal(err)
	}
	return out
}

func (f *fixture) account(name string) *corev1.ServiceAccount {
	f.Helper()
	var account corev1.ServiceAccount
	err := f.Get(f.Context(), client.ObjectKey{Namespace: f.namespace, Name: name}, &account)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must.Do(f, err)
	return &account
}

// heard is every event so far.
func (f *fixture) heard() string {
	var out []string
	for {
		select {
		case e := <-f.told.Events:
			out = append(out, e)
		default:
			return strings.Join(out, "\n")
		}
	}
}

// awaitWake waits until a change in the cluster wakes a request.
func (f *fixture) awaitWake(request client.Object) {
	f.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case woken := <-f.woken:
			if woken == keyOf(request) {
				return
			}
		case <-timeout:
			f.Fatalf("nothing wakes %s", client.ObjectKeyFromObject(request))
		}
	}
}

func (f *fixture) drain() {
	for {
		select {
		case <-f.woken:
		default:
			return
		}
	}
}

// versions are the resource versions of what a pass could write.
func (f *fixture) versions(request *cloudv1.CredentialsRequest) string {
	f.Helper()
	var grant v1alpha1.CredentialsGrant
	must.Do(f, f.Get(f.Context(), client.ObjectKeyFromObject(request), request))
	must.Do(f, f.Get(f.Context(), client.ObjectKey{Name: core.GrantName(request.Namespace, request.Name)}, &grant))
	return request.ResourceVersion + " " + grant.ResourceVersion + " " + f.account("app").ResourceVersion
}

func (h *here) set(change func(*platform.Facts)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.facts)
}
