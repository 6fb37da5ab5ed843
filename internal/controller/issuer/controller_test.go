package issuer_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud/bucket"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	testAccount = "123456789012"
	testRegion  = "us-west-2"
	testBucket  = "shell-test-oidc"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.Main(m))
}

// localAWS and kubernetes are what all tests share, one after the other: the API server's
// tokens name a bucket of the local AWS. Each test begins without what others have left.
var (
	localAWS   = testkit.Shared(startAWS)
	kubernetes = testkit.Shared(func(t testing.TB) *testkit.Cluster {
		c := testkit.StartCluster(t, testkit.ClusterOptions{Issuer: issuerURL(localAWS(t)), CRDs: []string{testkit.CRDs}})
		c.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tabard-issuer"}})
		return c
	})
)

func issuerURL(aws *awslocal.Server) string { return aws.URL() + "/" + testBucket }

func startAWS(t testing.TB) *awslocal.Server {
	t.Helper()
	aws, err := awslocal.New(awslocal.Options{Accounts: []string{testAccount, otherAccount, unseenAccount, attackersAccount}, Region: testRegion})
	if err == nil {
		err = aws.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = aws.Close(context.WithoutCancel(t.Context())) })
	return aws
}

// fixture is the controller on a real API server and a local AWS.
type fixture struct {
	api        *testkit.Cluster
	aws        *awslocal.Server
	url        string
	client     client.Client
	controller *issuer.Controller
	now        time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := onAWS(t)
	f.api = kubernetes(t).In(t)
	f.client = f.api
	var left v1alpha1.OIDCIssuerList
	must.Do(t, f.api.List(t.Context(), &left))
	for _, one := range left.Items {
		f.api.Merge(&one, `{"metadata":{"finalizers":null}}`)
		if err := f.api.Delete(t.Context(), &one); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	f.control(t, &issuer.Cluster{Config: f.api.Config, Client: f.client, ServiceAccount: client.ObjectKey{Namespace: "default", Name: "tabard-issuer"}})
	return f
}

// onAWS is a fixture without a cluster. The process's own identity is the account's
// administrator.
func onAWS(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{aws: localAWS(t), now: time.Now()}
	f.aws.Admin().Reset()
	f.url = issuerURL(f.aws)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	must.Do(t, os.WriteFile(ca, f.aws.CACertificate(), 0o600))
	admin := f.aws.Administrator(testAccount)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": f.aws.URL(), "AWS_CA_BUNDLE": ca, "AWS_REGION": testRegion,
		"AWS_ACCESS_KEY_ID": admin.AccessKeyID, "AWS_SECRET_ACCESS_KEY": admin.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
	return f
}

// control makes the controller.
func (f *fixture) control(t *testing.T, cluster *issuer.Cluster) {
	t.Helper()
	f.controller = &issuer.Controller{Observer: f.observer(t, cluster), Kit: controller.Kit{
		Client: f.client, Live: f.client, Events: events.NewFakeRecorder(1000), Finalizer: core.Finalizer, Owner: "tabard.issuer",
		Metrics: controller.NewMetrics(prometheus.NewRegistry(), "issuer"),
	}}
}

func (f *fixture) observer(t *testing.T, cluster *issuer.Cluster) *issuer.Observer {
	t.Helper()
	auth := must.Get(awsauth.New(awsauth.Options{Getenv: os.Getenv, ReadFile: os.ReadFile, Now: time.Now}))(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(f.aws.CACertificate())
	return &issuer.Observer{
		Cluster: cluster,
		AWS: issuer.AWS{
			Accounts: caller.New(auth), Buckets: bucket.New(auth),
			Providers: oidcprovider.New(auth), Roles: iamrole.New(auth),
		},
		Public:   &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}},
		Operator: identity.Identity{Base: identity.Session},
		Now:      func() time.Time { return f.now },
	}
}

// create stores an issuer for the fixture's URL.
func (f *fixture) create(t *testing.T, name string, change func(*v1alpha1.OIDCIssuer)) {
	t.Helper()
	object := &v1alpha1.OIDCIssuer{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.OIDCIssuerSpec{
			URL:         f.url,
			Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: testBucket, Region: testRegion, Create: true}},
			Providers:   []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com"}}},
		},
	}
	change(object)
	must.Do(t, f.client.Create(t.Context(), object))
}

func unchanged(*v1alpha1.OIDCIssuer) {}

// reconcile makes one pass as the manager does.
func (f *fixture) reconcile(ctx context.Context, by *issuer.Controller, name string) (reconcile.Result, error) {
	return controller.Typed(by.Kit, by).Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
}

// pass runs Reconcile once.
func (f *fixture) pass(t *testing.T, name string) (*v1alpha1.OIDCIssuer, reconcile.Result) {
	t.Helper()
	result := must.Get(f.reconcile(t.Context(), f.controller, name))(t)
	stored := &v1alpha1.OIDCIssuer{}
	if err := f.client.Get(t.Context(), client.ObjectKey{Name: name}, stored); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return stored, result
}

// settle runs passes until one asks to look again only after half a minute.
func (f *fixture) settle(t *testing.T, name string) *v1alpha1.OIDCIssuer {
	t.Helper()
	for range 20 {
		stored, result := f.pass(t, name)
		if result.RequeueAfter >= 30*time.Second || result.RequeueAfter == 0 {
			return stored
		}
	}
	t.Fatal("20 passes did not come to rest")
	return nil
}

func wantCondition(t *testing.T, stored *v1alpha1.OIDCIssuer, kind string, status metav1.ConditionStatus, reason core.Reason) string {
	t.Helper()
	c := meta.FindStatusCondition(stored.Status.Conditions, kind)
	if c == nil || c.Status != status || c.Reason != string(reason) {
		for _, all := range stored.Status.Conditions {
			t.Logf("%s %s %s: %s", all.Type, all.Status, all.Reason, all.Message)
		}
		t.Fatalf("%s is %+v, expected %s %s", kind, c, status, reason)
	}
	return c.Message
}

func TestIssuerBecomesReadyAndRests(t *testing.T) {
	f := newFixture(t)
	f.create(t, "main", unchanged)
	stored := f.settle(t, "main")
	wantCondition(t, stored, "IssuerPublished", metav1.ConditionTrue, core.ReasonPublished)
	wantCondition(t, stored, "KeysInSync", metav1.ConditionTrue, core.ReasonInSync)
	wantCondition(t, stored, "ProviderReady", metav1.ConditionTrue, core.ReasonRegistered)
	wantCondition(t, stored, "Ready", metav1.ConditionTrue, core.ReasonVerified)
	again, _ := f.pass(t, "main")
	if again.ResourceVersion != stored.ResourceVersion {
		t.Error("a pass that changed nothing wrote the object")
	}
}

func TestReplacedKeyIsNamedAndThenPublishedBesideTheOld(t *testing.T) {
	f := newFixture(t)
	f.create(t, "main", unchanged)
	old := f.settle(t, "main").Status.Keys[0].KeyID
	f.api.RotateKey(t)
	stored, _ := f.pass(t, "main")
	message := wantCondition(t, stored, "KeysInSync", metav1.ConditionFalse, core.ReasonKeyNotPublished)
	stored = f.settle(t, "main")
	wantCondition(t, stored, "KeysInSync", metav1.ConditionTrue, core.ReasonInSync)
	wantCondition(t, stored, "Ready", metav1.ConditionTrue, core.ReasonVerified)
	for _, key := range stored.Status.Keys {
		switch {
		case key.KeyID == old && key.State != v1alpha1.KeyRetiring:
			t.Errorf("the old key is %s, expected Retiring", key.State)
		case key.KeyID != old && !strings.Contains(message, key.KeyID):
			t.Errorf("the condition said %q, expected it to name %s", message, key.KeyID)
		}
	}
	if len(stored.Status.Keys) != 2 {
		t.Errorf("%d keys are published, expected the old and the new", len(stored.Status.Keys))
	}
}

func TestTokenOfAnotherIssuerIsNotReady(t *testing.T) {
	f := newFixture(t)
	f.create(t, "main", func(o *v1alpha1.OIDCIssuer) {
		o.Spec.URL += "/elsewhere"
		o.Spec.Publication.S3.Prefix = "elsewhere"
	})
	stored := f.settle(t, "main")
	message := wantCondition(t, stored, "Ready", metav1.ConditionFalse, core.ReasonIssuerMismatch)
	if !strings.Contains(message, f.url) || !strings.Contains(message, stored.Spec.URL) {
		t.Errorf("the condition says %q, expected both issuers", message)
	}
}

func TestAccountThatBlocksPublicAccessIsToldAndMayBeUnblocked(t *testing.T) {
	f := newFixture(t)
	f.aws.Admin().BlockPublicAccess(testAccount, true)
	f.create(t, "main", unchanged)
	stored := f.settle(t, "main")
	wantCondition(t, stored, "IssuerPublished", metav1.ConditionFalse, core.ReasonPublicAccessBlocked)
	wantCondition(t, stored, "ProviderReady", metav1.ConditionUnknown, core.ReasonWaitingForPublication)
	f.aws.Admin().BlockPublicAccess(testAccount, false)
	stored = f.settle(t, "main")
	wantCondition(t, stored, "Ready", metav1.ConditionTrue, core.ReasonVerified)
}

func TestYoungerIssuerOfTheSameURLIsRefusedUntilTheOlderGoes(t *testing.T) {
	f := newFixture(t)
	f.create(t, "a-first", unchanged)
	f.create(t, "b-second", unchanged)
	f.settle(t, "a-first")
	stored := f.settle(t, "b-second")
	wantCondition(t, stored, "Ready", metav1.ConditionFalse, core.ReasonDuplicateURL)
	must.Do(t, f.client.Delete(t.Context(), &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "a-first"}}))
	f.pass(t, "a-first") // deletionPolicy Retain: only lets the object go
	stored = f.settle(t, "b-second")
	wantCondition(t, stored, "Ready", metav1.ConditionTrue, core.ReasonVerified)
}

func TestKeyConfigMapWithAPrivateKeyIsRefusedWithAnEvent(t *testing.T) {
	f := newFixture(t)
	public, private := keyPair(t)
	keys := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "signers"},
		Data:       map[string]string{"service-account-001.pub": public, "service-account-002.pub": private},
	}
	must.Do(t, f.client.Create(t.Context(), keys))
	f.create(t, "main", func(o *v1alpha1.OIDCIssuer) {
		o.Spec.Keys = v1alpha1.KeySource{
			Source:    v1alpha1.KeySourceConfigMap,
			ConfigMap: &v1alpha1.ConfigMapReference{Namespace: "default", Name: "signers"},
		}
	})
	stored := f.settle(t, "main")
	message := wantCondition(t, stored, "KeysInSync", metav1.ConditionFalse, core.ReasonPrivateKeyInSource)
	if secret := strings.Split(private, "\n")[1]; strings.Contains(message, secret) {
		t.Error("the condition shows a part of the private key")
	}
	if len(stored.Status.Keys) != 0 {
		t.Errorf("%d keys were taken from a source with a private key, expected none", len(stored.Status.Keys))
	}
	if event := f.event(string(core.ReasonPrivateKeyInSource)); !strings.HasPrefix(event, corev1.EventTypeWarning) {
		t.Errorf("the event is %q, expected a warning", event)
	}
	// Only the public key, and not the one that the cluster signs with.
	delete(keys.Data, "service-account-002.pub")
	must.Do(t, f.client.Update(t.Context(), keys))
	stored = f.settle(t, "main")
	wantCondition(t, stored, "KeysInSync", metav1.ConditionFalse, core.ReasonSigningKeyUnknown)
}

// event is the first recorded one with a reason.
func (f *fixture) event(reason string) string {
	recorded := f.controller.Kit.Events.(*events.FakeRecorder).Events
	for {
		select {
		case event := <-recorded:
			if strings.Contains(event, reason) {
				return event
			}
		default:
			return ""
		}
	}
}

// keyPair is a new key as PEM.
func keyPair(t *testing.T) (public, private string) {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	der := must.Get(x509.MarshalPKIXPublicKey(&key.PublicKey))(t)
	public = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	private = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	return public, private
}
