package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud/bucket"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// envLabCA names the certificate of a lab's local AWS, which only the lab sets: it is
// trusted when the issuer's URL is looked at as anybody would.
const envLabCA = "TABARD_LAB_CA"

func declareIssuer() *declaration {
	return &declaration{name: "issuer", does: "publishes and registers the cluster's token issuer (OIDCIssuer)", page: "oidc-issuer.md", add: addIssuer}
}

func addIssuer(_ context.Context, mgr ctrl.Manager, op *operator) error {
	auth, err := newAuth()
	if err != nil {
		return err
	}
	observer, err := newObserver(auth, mgr.GetConfig(), identity.WebIdentity,
		client.ObjectKey{Namespace: op.namespace, Name: op.serviceAccount})
	if err != nil {
		return err
	}
	observer.OwnToken = func() ([]byte, error) { return os.ReadFile(auth.Environment().TokenFile) }
	return (&issuer.Controller{Kit: controller.NewKit(mgr, "issuer", core.Finalizer), Observer: observer}).Add(mgr)
}

func newAuth() (*awsauth.Auth, error) {
	return awsauth.New(awsauth.Options{Getenv: os.Getenv, ReadFile: os.ReadFile, Now: time.Now})
}

// newObserver reads a cluster and AWS; base says who to be in AWS.
func newObserver(auth *awsauth.Auth, config *rest.Config, base identity.Base, account client.ObjectKey) (*issuer.Observer, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	live, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	public, err := issuer.NewPublic(os.Getenv(envLabCA))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envLabCA, err)
	}
	return &issuer.Observer{
		Cluster: &issuer.Cluster{Config: config, Client: live, ServiceAccount: account},
		AWS: issuer.AWS{
			Accounts:  caller.New(auth),
			Buckets:   bucket.New(auth),
			Providers: oidcprovider.New(auth),
			Roles:     iamrole.New(auth),
		},
		Public:   public,
		Operator: identity.Identity{Base: base},
		Now:      time.Now,
	}, nil
}
