package credentials

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// seen are the targets as they were read, for writes that are locked to them; nil for one
// that is absent.
type seen map[core.Target]client.Object

// observe reads the world of a request. The error is one without which nothing can be
// decided; what else goes wrong is in the world.
func (c *Controller) observe(ctx context.Context, name types.NamespacedName) (core.World, seen, error) {
	world := core.World{Now: c.options.Now(), Settings: c.options.Settings}
	var err error
	if world.Request, err = read(ctx, c.kit.Live, name, &cloudv1.CredentialsRequest{}); err != nil {
		return world, nil, err
	}
	grant := types.NamespacedName{Name: core.GrantName(name.Namespace, name.Name)}
	if world.Grant, err = read(ctx, c.kit.Live, grant, &v1alpha1.CredentialsGrant{}); err != nil {
		return world, nil, err
	}
	if world.Request == nil && world.Grant == nil {
		return world, nil, nil
	}
	if world.Platform, err = c.options.Platform.Facts(ctx); err != nil {
		return world, nil, err
	}
	if world.Request != nil {
		world.Provider = core.DecodeProvider(world.Request)
	}
	c.observeCluster(&world, name)
	if err := c.observeAWS(ctx, &world); err != nil {
		return world, nil, err
	}
	// A target that others change while it is read wakes the request again.
	c.known.goesBy(name, &concern{core.Observed(world.Request, world.Grant), core.RoleNameOf(world)})
	targets := c.observeTargets(ctx, &world)
	c.known.saw(name, world.Targets, targets)
	return world, targets, nil
}

// read reads an object past all caches; nil is none.
func read[T any, P interface {
	*T
	client.Object
}](ctx context.Context, from client.Reader, name types.NamespacedName, into P) (P, error) {
	err := from.Get(ctx, name, into)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	if err != nil {
		return nil, fmt.Errorf("read %T %s: %w", into, name, err)
	}
	return into, nil
}

// observeCluster takes what is followed.
func (c *Controller) observeCluster(world *core.World, name types.NamespacedName) {
	world.Ahead = c.known.order.ahead(name)
	for _, b := range c.known.boundaries.All() {
		world.Boundaries = append(world.Boundaries, *b)
	}
	if namespace, has := c.known.namespaces.Get(name.Namespace); has {
		world.NamespaceLabels = map[string]string{}
		for key, value := range namespace.Labels {
			world.NamespaceLabels[key] = value
		}
	}
}

// observeAWS reads who the controller is, what is known of the role, and what a request
// needs to be given one. It asks AWS nothing for requests of other clouds.
func (c *Controller) observeAWS(ctx context.Context, world *core.World) error {
	role := core.RoleNameOf(*world)
	if world.Provider.AWS == nil && role == "" {
		return nil
	}
	account, arn, f := c.minter.who(ctx)
	world.Account, world.AccountFault = account, f
	if arn != "" {
		world.Settings.Partition = identity.PartitionOfARN(arn)
	}
	if !core.IsOver(*world) {
		if err := c.observeGiving(ctx, world, arn); err != nil {
			return err
		}
	}
	world.Role = c.roles.of(role)
	if world.Grant != nil && c.resyncs(world.Grant, world.Now) {
		world.Role = c.roles.look(ctx, role)
	}
	return nil
}

// observeGiving reads what only a request that lives needs: what no request may reach, the
// issuers' providers, and the role that it names. A deletion must not wait for these.
func (c *Controller) observeGiving(ctx context.Context, world *core.World, caller string) error {
	own, err := c.own.get(ctx)
	if err != nil {
		return err
	}
	if world.AccountFault == nil {
		world.Issuers, world.AccountFault = c.issuers(ctx, *world)
	}
	world.Protected = c.protected(*world, own, caller)
	world.Policies = map[string]core.PolicyInAWS{}
	for _, arn := range core.PoliciesOf(*world) {
		if arn != "" && world.AccountFault == nil {
			world.Policies[arn] = c.policies.get(ctx, arn, askedAt(world.Grant))
		}
	}
	if arn, _ := core.GivenRole(*world); arn != "" && c.options.ReadForeign && world.AccountFault == nil {
		world.Foreign = c.foreign.get(ctx, arn, world.Account, askedAt(world.Grant))
	}
	return nil
}

// resyncs says that an administrator asks for a look at the grant's role that was not
// made yet. One who asked long ago has been answered by a reading of all roles.
func (c *Controller) resyncs(grant *v1alpha1.CredentialsGrant, now time.Time) bool {
	at, asked := askedAt(grant), grant.Annotations[core.ResyncAnnotation]
	if at.IsZero() || grant.Status.Role == nil || now.Sub(at) > readEvery {
		return false
	}
	before, _ := c.resynced.Swap(grant.UID, asked)
	return before != asked
}

// askedAt is when an administrator asked last for a look at a request; zero for never.
func askedAt(grant *v1alpha1.CredentialsGrant) time.Time {
	if grant == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, grant.Annotations[core.ResyncAnnotation])
	if err != nil {
		return time.Time{}
	}
	return at
}
