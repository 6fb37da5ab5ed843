package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

const adoptLong = `Have Tabard take over a request of a Cloud Credential Operator that has been removed. The
operator's finalizer on the request shows that it was the operator's. Tabard leaves such a
request alone until an administrator runs this command.

Tabard then writes the Secret that the operator wrote, and removes the operator's
finalizer when the request is deleted. Access keys that the operator minted stay in the
Secret until its owner says that they may go (docs/credentials.md).

The command refuses while an operator is live, and a request that would get nothing
nevertheless. It records the adoption in the CredentialsGrant. For that you need the right
to create and patch credentialsgrants.

Exit codes: 0 Tabard has it, or had it already; 1 it cannot be adopted, or the cluster
refuses it; 2 the input cannot be used.`

func newAdopt(streams command.Streams, world World) *cobra.Command {
	w := &where{place: world.Place()}
	out := &cobra.Command{
		Use: "adopt NAME", Short: "Have Tabard take over a request that a Cloud Credential Operator had",
		Long: adoptLong, Example: `  tabard credentials adopt registry -n openshift-image-registry`,
		Args: oneName(streams),
		RunE: deciding(streams, func(c *cobra.Command, args []string) error { return adopt(c.Context(), streams, w, args[0]) }),
	}
	w.add(out.Flags(), false)
	return out
}

func adopt(ctx context.Context, streams command.Streams, w *where, name string) error {
	s, request, err := w.one(ctx, name)
	if err != nil {
		return err
	}
	acting := core.Act(core.AskedOf(s.World(request)))
	switch {
	case acting.Actor == core.ActorTabard:
		return streams.Print(fmt.Sprintf("Tabard fulfils %s/%s already: %s.\n", request.Namespace, name, acting.Text))
	case acting.Reason != core.ReasonNotAdopted:
		return refusal{fmt.Errorf("%s/%s is not taken over: %s", request.Namespace, name, acting.Text)}
	}
	adopted := func(spec *v1alpha1.CredentialsGrantSpec) { spec.Adopted = true }
	why, err := s.undeliverable(ctx, request, adopted)
	if err != nil {
		return err
	}
	if why != "" {
		return refusal{fmt.Errorf("%s/%s is not taken over, it would get nothing: %s", request.Namespace, name, why)}
	}
	if err := s.decide(ctx, request, adopted); err != nil {
		return err
	}
	return streams.Print(fmt.Sprintf("Tabard takes %s/%s over: tabard credentials describe %[2]s -n %[1]s tells how far it is.\n", request.Namespace, name))
}

const bindLong = `Give a request an existing identity: a role in AWS, or an identity in Azure or Google
Cloud. Tabard writes it where workloads look for it, and makes no role.

An administrator chooses the role, so the CredentialsBoundary's patterns of roles do not
apply. The namespace needs a CredentialsBoundary nevertheless.

If you have an AWS session of the role's account, the command reads the role first. It
refuses a role that does not allow what the request asks for, or does not trust the
ServiceAccounts that the request names; --force binds the role nevertheless. If the command
cannot read or evaluate the role, it binds the role and says so. "tabard credentials
render" prints a role that fits.

It refuses a request that would get nothing nevertheless, because its target is not allowed for
example. If the request already has an identity of this kind, the command refuses; --replace gives
the request another. The command records the identity in the CredentialsGrant. For that
you need the right to create and patch credentialsgrants.

Exit codes: 0 it is bound; 1 it cannot be, or the cluster refuses it; 2 the input cannot
be used.`

// bindFlags are the identity.
type bindFlags struct {
	identity v1alpha1.BoundIdentity
	replace  bool
	force    bool
	aws      func() (AWS, error)
}

func newBind(streams command.Streams, world World) *cobra.Command {
	w := &where{place: world.Place()}
	b := bindFlags{aws: world.AWS}
	out := &cobra.Command{
		Use: "bind NAME", Short: "Give a request an identity that exists already",
		Long: bindLong,
		Example: `  tabard credentials bind reports -n team-a --role-arn arn:aws:iam::123456789012:role/reports

  tabard credentials bind disks -n storage --azure-client-id 11111111-0000-0000-0000-000000000000 \
    --azure-tenant-id 22222222-0000-0000-0000-000000000000 \
    --azure-subscription-id 33333333-0000-0000-0000-000000000000 --azure-region westeurope

  tabard credentials bind backups -n storage --gcp-service-account-email backups@example.iam.gserviceaccount.com \
    --gcp-audience //iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/prod/providers/prod`,
		Args: oneName(streams),
		RunE: deciding(streams, func(c *cobra.Command, args []string) error { return bind(c.Context(), streams, w, args[0], b) }),
	}
	w.add(out.Flags(), false)
	f, i := out.Flags(), &b.identity
	f.StringVar(&i.RoleARN, "role-arn", "", "the `ARN` of a role in AWS")
	f.StringVar(&i.AzureClientID, "azure-client-id", "", "the client `ID` of an identity in Azure")
	f.StringVar(&i.AzureTenantID, "azure-tenant-id", "", "its tenant's `ID`")
	f.StringVar(&i.AzureSubscriptionID, "azure-subscription-id", "", "its subscription's `ID`")
	f.StringVar(&i.AzureRegion, "azure-region", "", "its `region`")
	f.StringVar(&i.ServiceAccountEmail, "gcp-service-account-email", "", "the `email` of a service account in Google Cloud")
	f.StringVar(&i.Audience, "gcp-audience", "", "the `audience` of the workload identity provider in Google Cloud")
	f.BoolVar(&b.force, "force", false, "bind a role that lacks something of what the request needs")
	f.BoolVar(&b.replace, "replace", false, "give it another identity than it was bound to")
	return out
}

func bind(ctx context.Context, streams command.Streams, w *where, name string, b bindFlags) error {
	s, request, err := w.one(ctx, name)
	if err != nil {
		return err
	}
	of := s.World(request)
	unread := errors.Join(s.readController(ctx, command.Namespace, &of), s.addIssuers(ctx, &of))
	if wrong := core.Bindable(of, b.identity); wrong != "" {
		return fmt.Errorf("%s/%s cannot be bound: %s", request.Namespace, name, wrong)
	}
	acting := core.Act(core.AskedOf(of))
	if acting.Actor != core.ActorTabard {
		return refusal{fmt.Errorf("%s/%s is not bound, Tabard does not fulfil it: %s", request.Namespace, name, acting.Text)}
	}
	if grant := core.GrantOf(of); grant != nil && grant.Spec.Bound != nil && !b.replace {
		if equality.Semantic.DeepEqual(*grant.Spec.Bound, b.identity) {
			return streams.Print(fmt.Sprintf("%s/%s is bound to that already.\n", request.Namespace, name))
		}
		return refusal{fmt.Errorf("%s/%s is bound to %s: --replace binds it to %s", request.Namespace, name, identityText(*grant.Spec.Bound), identityText(b.identity))}
	}
	bound := func(spec *v1alpha1.CredentialsGrantSpec) { spec.Bound = &b.identity }
	why, err := s.undeliverable(ctx, request, bound)
	if err != nil {
		return err
	}
	if why != "" {
		return refusal{fmt.Errorf("%s/%s is not bound, it would get nothing: %s", request.Namespace, name, why)}
	}
	checked, err := b.check(ctx, cmp.Or(s.Facts.Region, "us-east-1"), of, unread)
	if err != nil {
		return err
	}
	if err := s.decide(ctx, request, bound); err != nil {
		return err
	}
	if err := streams.Print(checked); err != nil {
		return err
	}
	return streams.Print(fmt.Sprintf("%s/%s is bound to %s: tabard credentials describe %[2]s -n %[1]s tells how far it is.\n", request.Namespace, name, identityText(b.identity)))
}

// check compares a role in AWS with what the request needs, and says what came of it. A
// role that is proved to lack something is refused. One that could not be read or judged is
// bound, and that is said: the administrator of a cluster need not be one of AWS.
func (b bindFlags) check(ctx context.Context, region string, of core.World, unread error) (said string, err error) {
	if b.identity.RoleARN == "" {
		return "", nil
	}
	unchecked := func(err error) (string, error) {
		return fmt.Sprintf("not checked: the role %s could not be compared with the request: %v\n", b.identity.RoleARN, err), nil
	}
	if unread != nil {
		return unchecked(unread)
	}
	aws, err := b.aws()
	if err != nil {
		return unchecked(fmt.Errorf("there is no AWS session: %w", err))
	}
	role, err := aws.ReadRole(ctx, cmp.Or(aws.Region(), region), b.identity.RoleARN)
	if err != nil {
		return unchecked(err)
	}
	switch v := core.CompareRole(of, &role); {
	case v.IsTrue() && !b.force:
		return "", refusal{fmt.Errorf("%s/%s is not bound: %s; mend the role (tabard credentials render prints one that fits), or use --force", of.Request.Namespace, of.Request.Name, v.Message)}
	case v.IsTrue():
		return "warning: " + v.Message + "\n", nil
	case v.Status == metav1.ConditionUnknown:
		return "not decided: " + v.Message + "\n", nil
	default:
		return "checked: " + v.Message + "\n", nil
	}
}

const unbindLong = `End the use of the identity that "tabard credentials bind" gave a request. The request then
gets the role that it names itself, or a role that Tabard makes, if its CredentialsBoundary
allows one of the two.

If it allows neither, what was written for the bound identity stays until the request is
deleted, because workloads use it. AWS stops them when the role's trust policy no longer
admits them.

The decision is recorded in the CredentialsGrant, which needs the right to patch
credentialsgrants.

Exit codes: 0 it is not bound; 1 the cluster refuses it; 2 the input cannot be used.`

func newUnbind(streams command.Streams, world World) *cobra.Command {
	w := &where{place: world.Place()}
	out := &cobra.Command{
		Use: "unbind NAME", Short: "End the use of the identity that a request was bound to",
		Long: unbindLong, Example: `  tabard credentials unbind reports -n team-a`,
		Args: oneName(streams),
		RunE: deciding(streams, func(c *cobra.Command, args []string) error { return unbind(c.Context(), streams, w, args[0]) }),
	}
	w.add(out.Flags(), false)
	return out
}

func unbind(ctx context.Context, streams command.Streams, w *where, name string) error {
	s, request, err := w.one(ctx, name)
	if err != nil {
		return err
	}
	grant := core.GrantOf(s.World(request))
	if grant == nil || grant.Spec.Bound == nil {
		return streams.Print(fmt.Sprintf("%s/%s is not bound.\n", request.Namespace, name))
	}
	was := identityText(*grant.Spec.Bound)
	if err := s.decide(ctx, request, func(spec *v1alpha1.CredentialsGrantSpec) { spec.Bound = nil }); err != nil {
		return err
	}
	return streams.Print(fmt.Sprintf("%s/%s is no longer bound to %s.\n", request.Namespace, name, was))
}

// deciding runs a command that records a decision. Where the controller has written the
// grant since it was read, the command reads all again and decides again: it prints nothing
// before its decision is stored.
func deciding(streams command.Streams, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return failed(streams, func(c *cobra.Command, args []string) error {
		return retry.OnError(retry.DefaultBackoff, isOutrun, func() error { return run(c, args) })
	})
}

// isOutrun says that somebody else has changed or made the object in between.
func isOutrun(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// undeliverable says why the controller would refuse a request after a decision, for what no
// decision mends; empty if it would not. It judges as the controller does.
func (s *seen) undeliverable(ctx context.Context, request *cloudv1.CredentialsRequest, change func(*v1alpha1.CredentialsGrantSpec)) (string, error) {
	w := s.World(request)
	w.Settings.OwnNamespaces = []string{command.Namespace}
	grant := newGrant(request)
	if w.Grant != nil {
		grant = w.Grant.DeepCopy()
	}
	change(&grant.Spec)
	w.Grant = grant
	var err error
	if w.Boundaries, err = allBoundaries(ctx, s); err != nil && !meta.IsNoMatchError(err) {
		return "", err
	}
	var namespace corev1.Namespace
	if err := s.Get(ctx, client.ObjectKey{Name: request.Namespace}, &namespace); client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("read the namespace %s, by whose labels its CredentialsBoundary is chosen: %w", request.Namespace, err)
	}
	w.NamespaceLabels = namespace.Labels
	return core.Undeliverable(w), nil
}

// decide records a decision about a request, in its grant or in a new one. It is locked to
// the grant that was read, and one of an earlier request is not taken for this one's.
func (s *seen) decide(ctx context.Context, request *cloudv1.CredentialsRequest, change func(*v1alpha1.CredentialsGrantSpec)) error {
	w := s.World(request)
	if w.Grant != nil && core.GrantOf(w) == nil {
		return refusal{fmt.Errorf(
			"%s/%s has taken the place of an earlier request of the same name, of which what was made goes first: try again when the CredentialsGrant %s is gone",
			request.Namespace, request.Name, w.Grant.Name)}
	}
	if w.Grant == nil {
		grant := newGrant(request)
		change(&grant.Spec)
		return s.Create(ctx, grant, client.FieldOwner(fieldOwner))
	}
	before := w.Grant.DeepCopy()
	change(&w.Grant.Spec)
	return s.Patch(ctx, w.Grant, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(fieldOwner))
}

// newGrant is the grant of a request that has none.
func newGrant(request *cloudv1.CredentialsRequest) *v1alpha1.CredentialsGrant {
	return &v1alpha1.CredentialsGrant{
		ObjectMeta: metav1.ObjectMeta{Name: core.GrantName(request.Namespace, request.Name)},
		Spec:       v1alpha1.CredentialsGrantSpec{Request: v1alpha1.RequestRef{Namespace: request.Namespace, Name: request.Name, UID: request.UID}},
	}
}
