package credentials

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// refusing reads a cluster in which the controller has no right to a kind.
type refusing struct {
	client.Reader
	kind string
}

func (r refusing) refuse() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: r.kind}, "", nil)
}

func (r refusing) Get(ctx context.Context, name client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, is := o.(*corev1.ConfigMap); is && r.kind == "configmaps" {
		return r.refuse()
	}
	return r.Reader.Get(ctx, name, o, options...)
}

func (r refusing) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return r.refuse()
}

// noProviders is an IAM that shows no provider.
type noProviders struct{}

func (noProviders) Get(context.Context, identity.Identity, string) (cloud.Provider, error) {
	return cloud.Provider{}, fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "GetOpenIDConnectProvider"}
}

// made is a controller that follows nothing: its stores are filled by the test.
func made(t *testing.T, live client.Reader, options Options) *Controller {
	t.Helper()
	registry := prometheus.NewRegistry()
	kit := controller.Kit{Live: live, Events: events.NewFakeRecorder(10), Metrics: controller.NewMetrics(registry, Name)}
	c := New(kit, must.Get(FollowedBy(&rest.Config{Host: "https://localhost:1"}))(t), NewMetrics(registry), options)
	app := &metav1.PartialObjectMetadata{}
	app.Name = "app"
	c.known.namespaces.Set(app)
	return c
}

// ends are the ends that a request may come to.
func ends() map[string]func(*core.World) {
	now := metav1.NewTime(time.Unix(1, 0))
	return map[string]func(*core.World){
		"the request is being deleted": func(w *core.World) { w.Request.DeletionTimestamp = &now },
		"the request is gone":          func(w *core.World) { w.Request = nil },
		"the request is another one":   func(w *core.World) { w.Request.UID = "another" },
		"the grant is being deleted":   func(w *core.World) { w.Grant.DeletionTimestamp = &now },
	}
}

// world is one of a request that has a role.
func world() core.World {
	w := core.World{Request: &cloudv1.CredentialsRequest{}, Grant: &v1alpha1.CredentialsGrant{}, Now: time.Unix(100, 0)}
	w.Request.UID, w.Grant.Spec.Request.UID = "uid", "uid"
	w.Grant.Status.Role = &v1alpha1.GrantedRole{Name: "r", ARN: "arn:aws:iam::111111111111:role/r", AccountID: "111111111111"}
	w.Platform.Issuer = "https://issuer.example.com"
	return w
}

// TestADeletionNeedsNoneOfWhatIsForGiving: neither the ConfigMaps of Tabard's programs nor
// the issuers' providers in AWS.
func TestADeletionNeedsNoneOfWhatIsForGiving(t *testing.T) {
	for _, kind := range []string{"configmaps", "nothing"} {
		options := Options{
			AWS: AWS{Providers: noProviders{}}, Now: func() time.Time { return time.Unix(100, 0) },
			Own: OwnConfigs{Reader: refusing{fake.NewClientBuilder().Build(), kind}, Namespace: "tabard-system", Names: []string{"tabard-issuer"}},
		}
		c := made(t, nil, options)
		c.minter.account, c.minter.arn, c.minter.until = "111111111111", "arn:aws:iam::111111111111:role/tabard", time.Unix(1000, 0)
		living := world()
		if err := c.observeAWS(t.Context(), &living); (err != nil) != (kind == "configmaps") || err == nil && living.AccountFault == nil {
			t.Errorf("without %s: a request that lives is decided on: %v, %v", kind, err, living.AccountFault)
		}
		for name, end := range ends() {
			over := world()
			end(&over)
			must.Do(t, c.observeAWS(t.Context(), &over))
			if over.AccountFault != nil || over.Account == "" {
				t.Errorf("without %s: %s, and its role is kept by %v", kind, name, over.AccountFault)
			}
		}
	}
}

// TestADeletionNeedsNoPods: who uses the static keys of a Secret is asked only for a request
// that lives.
func TestADeletionNeedsNoPods(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "app", Name: "keys", Annotations: map[string]string{core.RemoveStaticKeysAnnotation: "true"},
	}}
	c := made(t, refusing{fake.NewClientBuilder().WithObjects(secret).Build(), "pods"}, Options{})
	living := world()
	living.Grant.Status.Targets = []v1alpha1.GrantedTarget{{Kind: core.KindSecret, Namespace: "app", Name: "keys"}}
	c.observeTargets(t.Context(), &living)
	if len(living.Targets) != 1 || living.Targets[0].Error == "" {
		t.Fatalf("of a request that lives, the targets are %+v", living.Targets)
	}
	for name, end := range ends() {
		over := world()
		over.Grant.Status.Targets = living.Grant.Status.Targets
		end(&over)
		c.observeTargets(t.Context(), &over)
		if len(over.Targets) != 1 || over.Targets[0].Error != "" {
			t.Errorf("%s, and the targets are %+v", name, over.Targets)
		}
	}
}
