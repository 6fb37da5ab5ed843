package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
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
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// rotation is the served cluster in the hands of both controllers, whose clock is moved,
// because tokens live for a day. Its tokens are of the new issuer, which is called served.
type rotation struct {
	*world
	namespace   string
	ahead       time.Duration // of the clock
	issuers     *issuer.Controller
	credentials *credentials.Controller
}

func newRotation(t *testing.T) *rotation {
	t.Helper()
	w := &rotation{world: newWorld(t)}
	w.namespace = w.served.NewNamespace()
	admin := w.aws.Administrator(account)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": w.aws.URL(), "AWS_CA_BUNDLE": w.aws.Path("ca.crt"), "AWS_REGION": region,
		"AWS_ACCESS_KEY_ID": admin.AccessKeyID, "AWS_SECRET_ACCESS_KEY": admin.SecretAccessKey,
	} {
		t.Setenv(name, value)
	}
	w.control(t)
	return w
}

// control makes both controllers, as the account's administrator.
func (w *rotation) control(t *testing.T) {
	t.Helper()
	auth := must.Get(awsauth.New(awsauth.Options{Getenv: os.Getenv, ReadFile: os.ReadFile, Now: time.Now}))(t)
	clock := func() time.Time { return time.Now().Add(w.ahead) }
	as := identity.Identity{Base: identity.Session}
	kit := func(name, finalizer string) controller.Kit {
		return controller.Kit{
			Client: w.served, Live: w.served, Events: events.NewFakeRecorder(1000), Finalizer: finalizer, Owner: "tabard." + name,
			Metrics: controller.NewMetrics(prometheus.NewRegistry(), name),
		}
	}
	w.issuers = &issuer.Controller{Kit: kit("issuer", coreissuer.Finalizer), Observer: &issuer.Observer{
		Cluster: &issuer.Cluster{Config: w.served.Config, Client: w.served, ServiceAccount: client.ObjectKey{Namespace: system, Name: "tabard-issuer"}},
		AWS:     issuer.AWS{Accounts: caller.New(auth), Buckets: bucket.New(auth), Providers: oidcprovider.New(auth), Roles: iamrole.New(auth)},
		Public:  w.aws.Client(), Operator: as, Now: clock,
	}}
	w.credentials = credentials.New(kit("credentials", corecredentials.Finalizer), must.Get(credentials.FollowedBy(w.served.Config))(t),
		credentials.NewMetrics(prometheus.NewRegistry()), credentials.Options{
			Settings: corecredentials.Settings{PermissionsBoundary: boundary, Drift: corecredentials.DriftEnforce}, Operator: as, Writes: 1000, Now: clock,
			AWS:      credentials.AWS{Accounts: caller.New(auth), Providers: oidcprovider.New(auth), Roles: iamrole.New(auth)},
			Platform: kubernetes{},
		})
	must.Do(t, w.credentials.Follow(t.Context(), func(reconcile.Request) {}))
}

// until makes passes of both controllers until something holds.
func (w *rotation) until(what func() error) {
	w.served.Helper()
	w.served.Await(func() error {
		var list v1alpha1.OIDCIssuerList
		must.Do(w.served, w.served.List(w.served.Context(), &list))
		for _, one := range list.Items {
			_, _ = controller.Typed(w.issuers.Kit, w.issuers).Reconcile(w.served.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: one.Name}}) // what it says is in the status
		}
		_, err := w.credentials.Reconcile(w.served.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: w.namespace, Name: "checkout"}})
		return errors.Join(what(), err)
	})
}

// trusts says whether the request's role trusts exactly these issuers.
func (w *rotation) trusts(names ...string) func() error {
	return func() error {
		role, err := w.role()
		if err != nil {
			return err
		}
		for _, name := range []string{"old", "served"} {
			wanted := strings.Contains(strings.Join(names, " "), name)
			if has := strings.Contains(aws.ToString(role.AssumeRolePolicyDocument), bucketOf(name)); has != wanted {
				return fmt.Errorf("the role trusts the issuer %s: %t, want %t", name, has, wanted)
			}
		}
		return nil
	}
}

func (w *rotation) role() (*iamtypes.Role, error) {
	found, err := w.account(w.namespace)
	if err != nil {
		return nil, err
	}
	arn := found.Annotations[corecredentials.RoleAnnotation]
	role, err := w.aws.IAM(account).GetRole(w.served.Context(), &iam.GetRoleInput{RoleName: aws.String(arn[strings.LastIndex(arn, "/")+1:])})
	if err != nil {
		return nil, err
	}
	return role.Role, nil
}

// kubernetes is a cluster without a Cloud Credential Operator.
type kubernetes struct{}

// Facts implements credentials.Platform.
func (kubernetes) Facts(context.Context) (platform.Facts, error) {
	return platform.Facts{Infrastructure: "prod", Region: region, Operator: platform.Operator{Why: "there is no Cloud Credential Operator"}}, nil
}

// TestAnIssuerIsRotatedUnderTheRolesThatTrustIt: a cluster gets a new issuer and loses its
// old one while roles of CredentialsRequests trust them.
func TestAnIssuerIsRotatedUnderTheRolesThatTrustIt(t *testing.T) {
	w := newRotation(t)
	w.served.Make(w.newIssuer("old"), allow(w.namespace), ask(w.namespace, "checkout"))
	w.until(w.trusts("old"))

	w.served.Make(w.newIssuer("served"))
	w.until(w.trusts("old", "served"))
	w.until(func() error { return w.says("served", "Ready", "") })
	role := must.Get(w.role())(t)
	must.Do(t, w.become(w.served, w.namespace, "checkout", *role.Arn))

	w.served.Remove(w.newIssuer("old"))
	w.until(func() error { return w.says("old", "DeletionBlocked", *role.RoleName) })
	w.ahead += 23 * time.Hour
	w.until(w.trusts("old", "served"))
	w.until(func() error { return w.says("old", "DeletionBlocked", *role.RoleName) })

	w.ahead += 3 * time.Hour // retireKeysAfter is 25 hours
	w.until(w.trusts("served"))
	w.ahead += time.Hour // roles that block a deletion are listed each ten minutes
	w.until(func() error { return w.gone(w.newIssuer("old")) })
	list := must.Get(w.aws.IAM(account).ListOpenIDConnectProviders(t.Context(), &iam.ListOpenIDConnectProvidersInput{}))(t)
	var others []string // than those of the new issuer and of the host
	for _, provider := range list.OpenIDConnectProviderList {
		if !strings.HasSuffix(*provider.Arn, bucketOf("served")) && !strings.HasSuffix(*provider.Arn, strings.TrimPrefix(w.host.Issuer(), "https://")) {
			others = append(others, *provider.Arn)
		}
	}
	if len(others) > 0 || len(list.OpenIDConnectProviderList) != 2 {
		t.Errorf("the account has %d providers, among them %q, want the new issuer's and the host's", len(list.OpenIDConnectProviderList), others)
	}
	must.Do(t, w.become(w.served, w.namespace, "checkout", *role.Arn))

	w.served.Remove(ask(w.namespace, "checkout"))
	w.until(func() error { return w.gone(ask(w.namespace, "checkout")) })
	w.served.Remove(allow(w.namespace))
	w.served.Remove(w.newIssuer("served"))
	w.until(func() error { return w.gone(w.newIssuer("served")) })
}
