// Package issuer holds the commands under "tabard issuer". They take what they
// need of the world as an interface, and run the same decisions as the
// controller.
package issuer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
)

// maxPasses bounds a bootstrap. A healthy one takes three: make the bucket and
// the documents, see them and register, see that nothing is left.
const maxPasses = 30

// World is what the bootstrap needs; the program's wiring fills it.
type World interface {
	// Stored is the OIDCIssuer in the cluster, nil if there is none yet.
	Stored(ctx context.Context, name string) (*v1alpha1.OIDCIssuer, error)
	// Place asks the cluster what decides whether to begin, and AWS for the operator's role.
	Place(ctx context.Context, role string) (Place, error)
	// Observe reads everything that a decision needs.
	Observe(ctx context.Context, issuer *v1alpha1.OIDCIssuer) (core.World, error)
	// Perform makes one step true. Steps about the object itself are not for
	// it: a bootstrap keeps the object in memory.
	Perform(ctx context.Context, step core.Step) error
	// Remember adds providers to the status of the OIDCIssuer in the cluster, so
	// that its deletion finds them whatever its spec says.
	Remember(ctx context.Context, name string, providers []v1alpha1.ProviderStatus) error
	// Release removes the finalizer from the OIDCIssuer in the cluster.
	Release(ctx context.Context, name string) error
	// EnsureRole makes the operator's role.
	EnsureRole(ctx context.Context, role Role) (arn string, err error)
	// TellOperator stores the role's ARN and the region where the operator's
	// Deployment reads them, and says where that is.
	TellOperator(ctx context.Context, arn, region string) (where string, err error)
	// Wait lets time pass between two passes.
	Wait(ctx context.Context, d time.Duration) error
}

// Role is the operator's own role as wanted.
type Role struct {
	Identity identity.Identity
	ownrole.Wish
	Owner         string
	Trust, Policy string
}

// Bootstrap publishes and registers an issuer with a person's own session, and
// makes the role that the operator goes on with.
type Bootstrap struct {
	World World
	// Operator is the ServiceAccount that the role is for, and Role what the person chose of it.
	Operator core.Subject
	Role     ownrole.Wish
	// DropForeignKeys removes keys from the published set that status does not
	// know.
	DropForeignKeys bool
	// Consent is what the person has allowed beforehand.
	Consent Consent
	// DryRun shows the plan, and writes nothing.
	DryRun bool
	// Confirm asks the person; nil goes on without asking.
	Confirm func(question string) (bool, error)
	// Out receives the plan, and then one line a change.
	Out io.Writer

	// Result is what a program may read of it afterwards, also of one that failed.
	Result Result

	// stored says that the cluster has the object.
	stored bool
}

// Run carries the bootstrap out. It is idempotent, and repairs what is missing.
func (b *Bootstrap) Run(ctx context.Context, wanted *v1alpha1.OIDCIssuer) error {
	stored, err := b.World.Stored(ctx, wanted.Name)
	if err != nil {
		return err
	}
	if stored != nil {
		if stored.Spec.URL != wanted.Spec.URL {
			return fmt.Errorf("the OIDCIssuer %s in the cluster has the url %s, the file says %s: an issuer's url cannot change", wanted.Name, stored.Spec.URL, wanted.Spec.URL)
		}
		if !stored.DeletionTimestamp.IsZero() {
			return b.finish(ctx, wanted, stored)
		}
		wanted.ObjectMeta, wanted.Status = stored.ObjectMeta, stored.Status
	}
	if warning := core.NameWarning(wanted.Spec); warning != "" {
		b.say("warning: %s", warning)
	}
	b.stored = stored != nil
	if goOn, err := b.prepare(ctx, wanted); err != nil || !goOn {
		return err
	}
	world, err := b.publish(ctx, wanted)
	if err != nil {
		return err
	}
	if err := b.operatorRole(ctx, world); err != nil {
		return err
	}
	b.tellUndo(wanted)
	b.say("next: kubectl apply -f the same file; the operator keeps everything in step from here")
	return nil
}

// tellUndo says how all of it is taken back.
func (b *Bootstrap) tellUndo(issuer *v1alpha1.OIDCIssuer) {
	b.Result.Undo = b.undo(issuer)
	b.say("to undo all of it later, when no role trusts the issuer any more:")
	for _, line := range b.Result.Undo {
		b.say("  %s", line)
	}
}

// finish carries on a deletion that the operator cannot go on with: its own way
// into AWS is among the first things that a deletion removes. The file must say
// what the object says: a person's session may do more than the operator, and
// others may have changed the object.
func (b *Bootstrap) finish(ctx context.Context, wanted, dying *v1alpha1.OIDCIssuer) error {
	deletes := dying.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete
	release := deletes && dying.Spec.Publication.S3.ReleaseName
	if deletes && wanted.Spec.DeletionPolicy != dying.Spec.DeletionPolicy || release && !wanted.Spec.Publication.S3.ReleaseName {
		return fmt.Errorf("the OIDCIssuer %s in the cluster is being deleted, with deletionPolicy %s and releaseName %t, and the file says %s and %t: write the same into the file to carry the deletion on, or take it back in the cluster",
			dying.Name, dying.Spec.DeletionPolicy, release, wanted.Spec.DeletionPolicy, wanted.Spec.Publication.S3.ReleaseName)
	}
	b.say("the OIDCIssuer %s is being deleted, with deletionPolicy %s: its deletion is carried on", dying.Name, dying.Spec.DeletionPolicy)
	if _, err := b.publish(ctx, dying); err != nil {
		return err
	}
	b.say("the OIDCIssuer %s is gone; the operator's role %s, if bootstrap made it, is left to you", dying.Name, roleName(b.Role, dying))
	return nil
}

// publish runs passes until nothing is left to do.
func (b *Bootstrap) publish(ctx context.Context, issuer *v1alpha1.OIDCIssuer) (core.World, error) {
	for range maxPasses {
		world, err := b.World.Observe(ctx, issuer)
		if err != nil {
			return world, err
		}
		if err := signedIn(world); err != nil {
			return world, err
		}
		if err := b.adoptRevoked(ctx, issuer); err != nil {
			return world, err
		}
		world.DropForeignKeys = b.DropForeignKeys
		plan := core.Decide(world)
		if err := b.perform(ctx, issuer, world, &plan); err != nil {
			return world, err
		}
		issuer.Status = plan.Status
		if len(plan.Steps) == 0 {
			return world, b.judge(issuer)
		}
		if err := b.World.Wait(ctx, plan.Again); err != nil {
			return world, err
		}
	}
	return core.World{}, fmt.Errorf("still not as wanted after %d passes: somebody else is changing the same things", maxPasses)
}

// adoptRevoked adds the keys that the cluster's object revokes to those that the file
// does: a file that somebody has kept must not bring a revoked key back. The object is
// read after the documents were; a key that is revoked later is seen in the next pass of
// whoever took it out, and the write that would add it is refused.
func (b *Bootstrap) adoptRevoked(ctx context.Context, issuer *v1alpha1.OIDCIssuer) error {
	stored, err := b.World.Stored(ctx, issuer.Name)
	if err != nil || stored == nil {
		return err
	}
	for _, entry := range stored.Spec.Keys.Revoked {
		at := slices.IndexFunc(issuer.Spec.Keys.Revoked, func(own v1alpha1.RevokedKey) bool { return own.KeyID == entry.KeyID })
		if at < 0 {
			issuer.Spec.Keys.Revoked = append(issuer.Spec.Keys.Revoked, entry)
			continue
		}
		own := &issuer.Spec.Keys.Revoked[at]
		own.Force = own.Force || entry.Force
	}
	return nil
}

func (b *Bootstrap) perform(ctx context.Context, issuer *v1alpha1.OIDCIssuer, world core.World, plan *core.Plan) error {
	for _, step := range plan.Steps {
		switch step.(type) {
		case core.HoldFinalizer:
			issuer.Finalizers = append(issuer.Finalizers, core.Finalizer)
			continue
		case core.Record:
			issuer.Status = plan.Status
			if err := b.remember(ctx, issuer); err != nil {
				return err
			}
			continue
		case core.ReleaseFinalizer:
			if err := b.World.Release(ctx, issuer.Name); err != nil {
				return err
			}
			issuer.Finalizers = nil
			continue
		}
		err := b.World.Perform(ctx, step)
		if known, ok := errors.AsType[fault.Fault](err); ok {
			if known.Passing() {
				return b.World.Wait(ctx, time.Second) // the next pass observes again
			}
			issuer.Status = core.Failed(*plan, step, known, world)
			return b.judge(issuer)
		}
		if err != nil {
			return err
		}
		b.Result.Changes = append(b.Result.Changes, describe(step))
		b.say("%s", describe(step))
	}
	return nil
}

// remember tells the object in the cluster of the providers that are about to be
// made: they may not be in its spec.
func (b *Bootstrap) remember(ctx context.Context, issuer *v1alpha1.OIDCIssuer) error {
	if !b.stored || len(issuer.Status.Providers) == 0 {
		return nil
	}
	return b.World.Remember(ctx, issuer.Name, issuer.Status.Providers)
}

// judge turns conditions that ask for a person into an error. What only time or
// the operator can settle is printed and is none.
func (b *Bootstrap) judge(issuer *v1alpha1.OIDCIssuer) error {
	var failed []error
	b.Result.Conditions = issuer.Status.Conditions
	for _, c := range issuer.Status.Conditions {
		if c.Type == core.TypeReady {
			continue
		}
		b.say("%s %s: %s", c.Type, c.Status, c.Message)
		if bad := c.Status == "False"; bad != (c.Type == core.TypeDeletionBlocked) {
			failed = append(failed, fmt.Errorf("%s: %s: %s", c.Type, c.Reason, c.Message))
		}
	}
	return errors.Join(failed...)
}

func (b *Bootstrap) operatorRole(ctx context.Context, world core.World) error {
	spec := world.Issuer.Spec
	target, ok := ownProvider(world)
	if !ok {
		b.say("no provider in the operator's own account is wanted (spec.providers): the operator needs other AWS credentials")
		return nil
	}
	wish := b.Role
	wish.Name = roleName(wish, world.Issuer)
	arn, err := b.World.EnsureRole(ctx, Role{
		Identity: target.Identity,
		Wish:     wish,
		Owner:    spec.URL,
		Trust:    core.TrustPolicy(target.ARN, b.Operator),
		Policy:   core.PermissionPolicy(spec, target.AccountID),
	})
	if err != nil {
		return fmt.Errorf("make the operator's role: %w", err)
	}
	b.Result.RoleARN = arn
	b.say("role %s for ServiceAccount %s/%s", arn, b.Operator.Namespace, b.Operator.ServiceAccount)
	where, err := b.World.TellOperator(ctx, arn, spec.Publication.S3.Region)
	if err != nil {
		return err
	}
	b.say("%s", where)
	return nil
}

// ownProvider is the registration in the caller's own account.
func ownProvider(world core.World) (core.ProviderState, bool) {
	for _, p := range world.Providers {
		if p.Want != nil && p.Want.AssumeRoleARN == "" {
			return p, true
		}
	}
	return core.ProviderState{}, false
}

func (b *Bootstrap) say(format string, args ...any) {
	fmt.Fprintf(b.Out, format+"\n", args...)
}

// describe says in one line what a step has made true.
func describe(step core.Step) string {
	switch s := step.(type) {
	case core.CreateBucket:
		return fmt.Sprintf("bucket %s created in %s", s.Bucket.Name, s.Bucket.Region)
	case core.SetPublicAccess:
		if s.Access.BlockPublicPolicy {
			return fmt.Sprintf("bucket %s: nothing in it can be public", s.Bucket.Name)
		}
		return fmt.Sprintf("bucket %s: a public policy is allowed, public ACLs stay blocked", s.Bucket.Name)
	case core.PutDocument:
		return fmt.Sprintf("s3://%s/%s written", s.Bucket.Name, s.Key)
	case core.PutBucketPolicy:
		return fmt.Sprintf("bucket %s: its policy has been written", s.Bucket.Name)
	case core.SetTombstone:
		return fmt.Sprintf("bucket %s: the mark of a bucket that only keeps its name, %s, set: %t", s.Bucket.Name, core.TombstoneTag, s.On)
	case core.DeleteDocument:
		return fmt.Sprintf("s3://%s/%s deleted", s.Bucket.Name, s.Key)
	case core.DeleteBucket:
		return fmt.Sprintf("bucket %s deleted, its name is free", s.Bucket.Name)
	case core.DeleteProvider:
		return fmt.Sprintf("%s deleted", s.ARN)
	case core.CreateProvider:
		return fmt.Sprintf("OIDC provider for %s registered with audiences %s", s.URL, s.Audiences)
	case core.AddAudience:
		return fmt.Sprintf("audience %s added to %s", s.Audience, s.ARN)
	case core.RemoveAudience:
		return fmt.Sprintf("audience %s removed from %s", s.Audience, s.ARN)
	}
	return fmt.Sprintf("%T", step)
}
