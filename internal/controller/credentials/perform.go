package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// pass is one look at one request.
type pass struct {
	*Controller
	key   reconcile.Request
	world core.World
	plan  *core.Plan
	seen  seen
	// request and grant are kept; nil for one that there is not.
	request *controller.Keeper[*cloudv1.CredentialsRequest]
	grant   *controller.Keeper[*v1alpha1.CredentialsGrant]
	// role is the role as the steps made it; nil if that is not known.
	role *core.Role
}

func (c *Controller) begin(key reconcile.Request, world core.World, plan *core.Plan, targets seen) *pass {
	p := &pass{Controller: c, key: key, world: world, plan: plan, seen: targets}
	if world.Request != nil {
		p.request = controller.Keep(c.requests, world.Request)
	}
	if world.Grant != nil {
		p.grant = controller.Keep(c.kit, world.Grant)
	}
	if world.Role.Live && world.Role.Exists {
		role := world.Role.Role
		p.role = &role
	}
	return p
}

// perform makes the steps of the plan. A fault becomes a condition, and the decision says
// when to look after it: what IAM does not find right after it was made is there soon.
func (p *pass) perform(ctx context.Context) controller.Outcome {
	return controller.Perform(ctx, p.kit.Metrics, controller.Work[core.Step]{
		Steps: p.plan.Steps, Do: p.do, Again: p.plan.Again,
		Tell: func(step core.Step, f fault.Fault) time.Duration {
			*p.plan = core.Failed(*p.plan, step, f, p.world)
			return p.plan.Again
		},
	})
}

// isKnown says that steps were made, and that the role is known as they left it.
func (p *pass) isKnown() bool {
	return len(p.plan.Steps) > 0 && (p.role != nil || !slices.ContainsFunc(p.plan.Steps, func(s core.Step) bool { return roleOfStep(s) != "" }))
}

// do makes one step true.
func (p *pass) do(ctx context.Context, step core.Step) error {
	switch s := step.(type) {
	case core.Hold:
		return p.request.Hold(ctx)
	case core.Release:
		return p.release(ctx, s)
	case core.MakeGrant:
		return p.makeGrant(ctx, s)
	case core.Record:
		return p.grant.Record(ctx, p.setGrant)
	case core.DeleteGrant:
		return p.deleteGrant(ctx)
	case core.WriteServiceAccount:
		return refusal(p.writeAccount(ctx, s))
	case core.ClearServiceAccount:
		return refusal(p.clearAccount(ctx, s))
	case core.WriteSecret:
		return refusal(p.writeSecret(ctx, s))
	case core.ClearSecret:
		return refusal(p.clearSecret(ctx, s))
	}
	return p.changeRole(ctx, step)
}

// changeRole makes a step in AWS, and notes what the role is then.
func (p *pass) changeRole(ctx context.Context, step core.Step) error {
	if err := p.changes.wait(ctx, p.key.Namespace); err != nil {
		return err
	}
	name := roleOfStep(step)
	if err := p.options.AWS.perform(ctx, p.options.Operator, step); err != nil {
		p.role = nil
		p.roles.set(name, "")
		return err
	}
	if p.role = after(p.role, step); p.role != nil {
		p.roles.set(name, core.Digest(*p.role))
	} else {
		p.roles.set(name, "")
	}
	return nil
}

func (p *pass) setGrant(g *v1alpha1.CredentialsGrant) { g.Status = p.plan.Grant }

// makeGrant creates the grant, or holds the one that a person's command made.
func (p *pass) makeGrant(ctx context.Context, step core.MakeGrant) error {
	if p.grant != nil {
		return p.grant.Hold(ctx)
	}
	grant := &v1alpha1.CredentialsGrant{
		ObjectMeta: metav1.ObjectMeta{Name: step.Name, Finalizers: []string{core.Finalizer}},
		Spec:       v1alpha1.CredentialsGrantSpec{Request: step.Request},
	}
	if err := p.kit.Client.Create(ctx, grant, client.FieldOwner(p.kit.Owner)); err != nil {
		return err
	}
	p.grant = controller.Keep(p.kit, grant)
	return nil
}

// deleteGrant lets the grant go, and deletes it if nobody else has.
func (p *pass) deleteGrant(ctx context.Context) error {
	if p.grant == nil {
		return nil
	}
	if err := client.IgnoreNotFound(p.grant.Release(ctx)); err != nil {
		return err
	}
	err := p.kit.Client.Delete(ctx, p.world.Grant, client.Preconditions{UID: &p.world.Grant.UID})
	p.grant = nil
	return client.IgnoreNotFound(err)
}

// release lets the request go that is meant.
func (p *pass) release(ctx context.Context, step core.Release) error {
	if p.request == nil || string(p.world.Request.UID) != step.UID {
		return nil
	}
	kits := []controller.Kit{p.requests}
	if step.CCO {
		foreign := p.requests
		foreign.Finalizer = cloudv1.Finalizer
		kits = []controller.Kit{foreign, p.requests}
	}
	for _, kit := range kits {
		if !slices.Contains(p.world.Request.Finalizers, kit.Finalizer) {
			continue
		}
		if err := client.IgnoreNotFound(controller.Keep(kit, p.world.Request).Release(ctx)); err != nil {
			return err
		}
	}
	if p.world.Request.DeletionTimestamp != nil {
		p.request = nil // nothing is left to write to
	}
	return nil
}

// refusal is the fault in what the API server refuses for a reason that a repetition does
// not mend.
func refusal(err error) error {
	if err == nil || !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return err
	}
	return fault.Fault{Class: fault.Denied, Service: "Kubernetes", Operation: "write", Code: string(apierrors.ReasonForError(err)), Message: err.Error()}
}

// finish writes what was found, tells of it, and says when to look next.
func (p *pass) finish(ctx context.Context, outcome controller.Outcome) (reconcile.Result, error) {
	p.tell()
	err := errors.Join(p.record(ctx), p.project(ctx))
	switch {
	case outcome.Err != nil:
		return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
	case err != nil:
		return reconcile.Result{}, err
	case p.world.Request == nil && p.grant == nil:
		p.known.goesBy(p.key.NamespacedName, nil)
		p.kit.Metrics.Forget(p.key)
		p.metrics.gone(p.key.NamespacedName)
		return reconcile.Result{}, nil
	}
	p.kit.Metrics.Found(p.key, p.plan.Grant.Conditions)
	p.metrics.acting(p.key.NamespacedName, p.plan.Acting)
	return reconcile.Result{RequeueAfter: outcome.Again}, nil
}

func (p *pass) record(ctx context.Context) error {
	if p.grant == nil {
		return nil
	}
	return client.IgnoreNotFound(p.grant.Record(ctx, p.setGrant))
}

// project writes the request's status, by which nothing is decided. What the schema
// requires of a status is always named: a patch of what differs would leave out what is
// false or 0, also where there is no status yet.
func (p *pass) project(ctx context.Context) error {
	if p.request == nil || p.plan.Project == nil || equality.Semantic.DeepEqual(p.world.Request.Status, *p.plan.Project) {
		return nil
	}
	wanted := p.world.Request.DeepCopy()
	wanted.Status = *p.plan.Project
	differs, err := client.MergeFrom(p.world.Request).Data(wanted)
	if err != nil {
		return err
	}
	change := struct {
		Metadata map[string]any `json:"metadata"`
		Status   map[string]any `json:"status"`
	}{}
	if err := json.Unmarshal(differs, &change); err != nil {
		return err
	}
	change.Metadata = map[string]any{"uid": wanted.UID}
	if change.Status == nil {
		change.Status = map[string]any{}
	}
	change.Status["provisioned"], change.Status["lastSyncGeneration"] = wanted.Status.Provisioned, wanted.Status.LastSyncGeneration
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	err = p.kit.Client.Status().Patch(ctx, wanted, client.RawPatch(types.MergePatchType, text), client.FieldOwner(p.kit.Owner))
	return client.IgnoreNotFound(err)
}
