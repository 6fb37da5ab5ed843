package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// bootstrapWorld is the world as a person's own sessions reach it.
type bootstrapWorld struct {
	*issuer.Observer
	roles  *iamrole.Roles
	client client.Client
	told   bootstrapping.Told
}

func newBootstrapWorld(config *rest.Config, account client.ObjectKey) (*bootstrapWorld, error) {
	auth, err := newAuth()
	if err != nil {
		return nil, err
	}
	observer, err := newObserver(auth, config, identity.Session, account)
	if err != nil {
		return nil, err
	}
	return &bootstrapWorld{
		Observer: observer, roles: iamrole.New(auth), client: observer.Cluster.Client,
		told: bootstrapping.Told{Client: observer.Cluster.Client, Key: account},
	}, nil
}

// Stored reads the issuer. A cluster without the kind has none.
func (w *bootstrapWorld) Stored(ctx context.Context, name string) (*v1alpha1.OIDCIssuer, error) {
	var stored v1alpha1.OIDCIssuer
	err := w.client.Get(ctx, client.ObjectKey{Name: name}, &stored)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	return &stored, err
}

// Place asks the cluster what decides whether to begin.
func (w *bootstrapWorld) Place(ctx context.Context, role string) (cli.Place, error) {
	var out cli.Place
	var err error
	if out.Issuer, err = w.Cluster.IssuerName(ctx); err != nil {
		out.IssuerError = err.Error()
	}
	if seen, err := w.roles.Get(ctx, w.Operator, role); err != nil {
		out.RoleError = err.Error()
	} else {
		out.RoleExists = seen.Exists
	}
	seen, err := w.told.Look(ctx)
	out.Namespace, out.Role, out.Lacks = seen.Namespace, seen.Config["roleARN"], seen.Lacks
	return out, err
}

// Observe reads the world, rivals included where the kind is served.
func (w *bootstrapWorld) Observe(ctx context.Context, wanted *v1alpha1.OIDCIssuer) (core.World, error) {
	var list v1alpha1.OIDCIssuerList
	if err := w.client.List(ctx, &list); err != nil && !meta.IsNoMatchError(err) {
		return core.World{}, err
	}
	var rivals []v1alpha1.OIDCIssuer
	for _, other := range list.Items {
		if other.Name != wanted.Name {
			rivals = append(rivals, other)
		}
	}
	world := w.Observer.Observe(ctx, wanted, rivals)
	w.ObserveTrust(ctx, world)
	return world, nil
}

// Perform makes a step in AWS true.
func (w *bootstrapWorld) Perform(ctx context.Context, step core.Step) error {
	return w.AWS.Perform(ctx, step)
}

// Remember adds providers to the status of the issuer in the cluster.
func (w *bootstrapWorld) Remember(ctx context.Context, name string, providers []v1alpha1.ProviderStatus) error {
	err := w.change(ctx, name, w.client.Status().Patch, func(wanted *v1alpha1.OIDCIssuer) {
		for _, provider := range providers {
			if !slices.ContainsFunc(wanted.Status.Providers, func(p v1alpha1.ProviderStatus) bool { return p.AccountID == provider.AccountID }) {
				wanted.Status.Providers = append(wanted.Status.Providers, provider)
			}
		}
	})
	if err != nil {
		return fmt.Errorf("tell the OIDCIssuer %s of its providers before they are made: %w", name, err)
	}
	return nil
}

// Release removes the finalizer from the issuer in the cluster.
func (w *bootstrapWorld) Release(ctx context.Context, name string) error {
	patch := func(ctx context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
		return w.client.Patch(ctx, o, p)
	}
	return client.IgnoreNotFound(w.change(ctx, name, patch, func(wanted *v1alpha1.OIDCIssuer) {
		controllerutil.RemoveFinalizer(wanted, core.Finalizer)
	}))
}

// change patches the issuer in the cluster as it is now, again if the operator
// wrote in between.
func (w *bootstrapWorld) change(ctx context.Context, name string,
	patch func(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error, change func(*v1alpha1.OIDCIssuer),
) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var stored v1alpha1.OIDCIssuer
		if err := w.client.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
			return err
		}
		wanted := stored.DeepCopy()
		change(wanted)
		return patch(ctx, wanted, client.MergeFromWithOptions(&stored, client.MergeFromWithOptimisticLock{}))
	})
}

// EnsureRole makes the role as wanted.
func (w *bootstrapWorld) EnsureRole(ctx context.Context, role cli.Role) (string, error) {
	arn, _, err := w.roles.Ensure(ctx, role.Identity, iamrole.Want{
		RoleWant: cloud.RoleWant{Name: role.Name, Path: role.Path, Boundary: role.Boundary, Tags: role.Tags, Trust: role.Trust, Description: cli.RoleDescription},
		Owner:    cloud.Tag{Key: core.OwnerTag, Value: role.Owner}, PolicyName: cli.PolicyName, Policy: role.Policy,
	})
	return arn, err
}

// TellOperator writes the ConfigMap that the operator's Deployment reads. Pods that read it before
// are replaced.
func (w *bootstrapWorld) TellOperator(ctx context.Context, arn, region string) (string, error) {
	before, err := w.told.Config(ctx)
	if err != nil {
		return "", err
	}
	if err := w.told.Write(ctx, map[string]string{"roleARN": arn, "region": region}); err != nil {
		return "", err
	}
	said := fmt.Sprintf("ConfigMap %s tells the operator its role", w.told.Key)
	if role := before.Data["roleARN"]; role == "" || role == arn && before.Data["region"] == region {
		return said, nil // pods that wait for it start by themselves
	}
	return said + w.told.Restart(ctx, "identity.tabard.dev/operator-role", arn), nil
}

// Wait sleeps, or ends with the context.
func (w *bootstrapWorld) Wait(ctx context.Context, d time.Duration) error {
	defer command.Waiting(program.StandardStreams().Err, "AWS to show what was written")()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
