package credentials

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/handoff"
)

const bootstrapLong = `Make what the controller of CredentialsRequests needs in AWS and in the cluster. An
administrator runs the command with their own AWS session and a kubeconfig of the cluster.
It makes:

  1. the boundary policy INFRASTRUCTURE-tabard-boundary, which limits every role that the
     controller makes: whatever a role's own policy allows, the role cannot write an
     issuer's bucket, cannot assume Tabard's own roles, and cannot make a role without
     the same boundary;
  2. the role INFRASTRUCTURE-tabard-credentials for the controller's ServiceAccount. This
     role can read roles. It can make and change roles with the cluster's names, tag and
     path, under the boundary policy. It can do nothing else;
  3. the ConfigMap tabard-credentials, which the controller's Deployment reads;
  4. the CredentialsBoundary "default", unless there is one.

The command is idempotent. Run it again after you make an OIDCIssuer: the boundary policy
then denies access to the issuer's bucket, and the role trusts the issuer's tokens.

With --print it writes nothing, and prints policy and role for another team to make. With
-f as well it needs no cluster. Run it without --print afterwards: it writes the ConfigMap,
and changes policy and role only if they differ.

Exit codes: 0 everything is in place; 1 AWS or the cluster refused something; 2 the input
cannot be used.`

// configName is the ConfigMap that the controller's Deployment reads.
const configName = "tabard-credentials"

func newBootstrap(streams command.Streams, world World) *cobra.Command {
	place := world.Place()
	var w wishes
	out := &cobra.Command{
		Use:   "bootstrap",
		Short: "Make the controller's role and the boundary of all roles that it makes, with your own AWS session",
		Long:  bootstrapLong,
		Example: `  tabard credentials bootstrap --infrastructure-name prod

  # for another team that makes the roles; the command reads the cluster's issuers
  tabard credentials bootstrap --infrastructure-name prod --print terraform --account 123456789012

  # the same without a cluster
  tabard credentials bootstrap --infrastructure-name prod --print cloudformation --account 123456789012 -f issuer.yaml

  # teams have a path of their own, and their administrators a boundary policy
  tabard credentials bootstrap --infrastructure-name prod --role-path /tabard/ --role-path /teams/ \
    --permissions-boundary arn:aws:iam::123456789012:policy/teams`,
		Args: command.NoArgs(streams),
		RunE: failed(streams, func(c *cobra.Command, _ []string) error {
			if err := w.check(); err != nil {
				return err
			}
			return bootstrap(c.Context(), streams, world, place, w)
		}),
	}
	f := out.Flags()
	place.AddFlags(f)
	f.StringVarP(&w.namespace, "namespace", "n", command.Namespace, "the controller's namespace")
	f.StringVar(&w.serviceAccount, "service-account", configName, "the controller's ServiceAccount")
	f.StringArrayVar(&w.paths, "role-path", []string{core.DefaultPath}, "a `path` at which roles may be made, which nothing but Tabard uses; the first is that of the boundary policy, and goes into the controller's --credentials-role-path. May be repeated")
	f.StringArrayVar(&w.boundaries, "permissions-boundary", nil, "the `ARN` of a further policy under which roles may be made, for CredentialsBoundaries that name it. May be repeated")
	f.StringArrayVarP(&w.files, "filename", "f", nil, "with --print: an OIDCIssuer's `file`, instead of those of the cluster. May be repeated")
	f.StringVar(&w.print, "print", "", "print what would be made, as `"+strings.Join(handoff.Forms(), "|")+"`, and make nothing")
	f.StringVar(&w.account, "account", "", "with --print: the AWS account to print it for (default: that of your session)")
	return out
}

func bootstrap(ctx context.Context, streams command.Streams, world World, place Place, w wishes) error {
	override, err := place.Override()
	if err != nil {
		return err
	}
	if w.print == "" && (len(w.files) > 0 || w.account != "") {
		return fmt.Errorf("-f and --account are for --print: without it the cluster and your session say what they say")
	}
	var cluster Cluster
	var k known
	if len(w.files) > 0 {
		k, err = knownFrom(world.ReadFile, w.files, override)
	} else if cluster, err = place.Cluster(); err == nil {
		k, err = knownOf(ctx, cluster, w.namespace)
	}
	if err != nil {
		return err
	}
	account, region := w.account, ""
	var session AWS
	if account == "" {
		if session, err = world.AWS(); err != nil {
			return err
		}
		region = session.Region()
		if account, _, err = session.Caller(ctx, region); err != nil {
			return streams.Refuse(command.Found, bootstrapping.SignInFirst(err))
		}
	}
	s, err := setupOf(k, w, account, region)
	if err != nil {
		return err
	}
	if w.print != "" {
		text, err := s.work(w).Text(handoff.Form(w.print))
		if err != nil {
			return fmt.Errorf("--print: %w", err)
		}
		return streams.Print(text)
	}
	if err := s.make(ctx, streams, cluster, session, w); err != nil {
		return streams.Refuse(command.Found, err)
	}
	return nil
}

const minterDescription = "Makes the roles of CredentialsRequests (Tabard)"

// work is the part of a bootstrap that somebody else may do.
func (s *setup) work(w wishes) handoff.Work {
	m := s.minter
	out := handoff.Work{
		About: []string{
			fmt.Sprintf("What Tabard needs in account %s to fulfil the CredentialsRequests of the cluster %s.", m.Account, m.Infrastructure),
			fmt.Sprintf("The role is for the ServiceAccount %s/%s. It may make roles %s under the boundary policy.", w.namespace, w.serviceAccount, strings.Join(s.names(), " and ")),
			"Then run tabard credentials bootstrap with the same flags but for --print, with a session that may read both: it tells the controller.",
		},
		Owner: handoff.Tag{Key: core.MinterTag, Value: m.Infrastructure},
		Policies: []handoff.ManagedPolicy{{
			ARN: m.BoundaryARN(), Name: m.BoundaryName(), Path: m.BoundaryPath(), Description: "Bounds the roles of CredentialsRequests (Tabard)", Document: handoff.Policy(s.boundary),
		}},
		Roles: []handoff.Role{{
			Name: m.RoleName(), Description: minterDescription, Trust: handoff.Policy(s.trust), PolicyName: core.MinterPolicyName, Policy: handoff.Policy(s.policy),
		}},
	}
	for _, warning := range s.warnings {
		out.About = append(out.About, "Warning: "+warning+".")
	}
	return out
}

// names are those of the roles that may be made.
func (s *setup) names() []string {
	var out []string
	for _, path := range s.minter.Paths {
		out = append(out, path+s.minter.Infrastructure+"-*")
	}
	return out
}

// make makes everything true, one after another, and says what it changed.
func (s *setup) make(ctx context.Context, streams command.Streams, cluster Cluster, session AWS, w wishes) error {
	m := s.minter
	err := cluster.Get(ctx, client.ObjectKey{Name: w.namespace}, &corev1.Namespace{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no namespace %s to tell the controller its role in: apply Tabard's manifests, then run this again", w.namespace)
	}
	if err != nil {
		return fmt.Errorf("read the namespace %s: %w", w.namespace, err)
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(streams.Out, format+"\n", args...) }
	say("In account %s, for the cluster %s, whose roles are %s:", m.Account, m.Infrastructure, strings.Join(s.names(), " and "))
	for _, warning := range s.warnings {
		say("warning: %s", warning)
	}
	changed, err := session.EnsurePolicy(ctx, s.region, m.BoundaryARN(), Policy{Name: m.BoundaryName(), Path: m.BoundaryPath(), Document: s.boundary, Owner: m.Infrastructure})
	if err != nil {
		return fmt.Errorf("make the boundary policy %s: %w", m.BoundaryARN(), err)
	}
	say("%s policy %s, the boundary of all roles that are made; it keeps %d issuers' buckets", verb(changed), m.BoundaryARN(), len(m.Buckets))
	parts, err := session.EnsureRole(ctx, s.region, Role{Name: m.RoleName(), Description: minterDescription, Trust: s.trust, PolicyName: core.MinterPolicyName, Policy: s.policy, Owner: m.Infrastructure})
	if err != nil {
		return fmt.Errorf("make the role %s: %w", m.RoleARN(), err)
	}
	say("%s role %s for ServiceAccount %s/%s", verb(len(parts) > 0), m.RoleARN(), w.namespace, w.serviceAccount)
	if changed, err = s.tell(ctx, cluster, w); err != nil {
		return err
	}
	say("%s ConfigMap %s/%s, by which the controller knows both", verb(changed), w.namespace, configName)
	if changed, err = makeDefault(ctx, cluster, m.BoundaryPath()); err != nil {
		return err
	}
	say("%s CredentialsBoundary %s, for requests of namespace %s alone", verb(changed), v1alpha1.DefaultBoundary, w.namespace)
	if woken, err := wake(ctx, cluster); err != nil {
		say("warning: what waited for this is looked at within five minutes, because the controller cannot be asked: %v", err)
	} else if woken > 0 {
		say("the controller is asked to look at each of the requests that wait: %d", woken)
	}
	say("%s", s.undo(w))
	if m.BoundaryPath() != core.DefaultPath {
		say("next: set --credentials-role-path=%s in the controller's Deployment", m.BoundaryPath())
	}
	say("next: give a team's namespace a CredentialsBoundary; nothing is given in a namespace without one")
	return nil
}

// wake asks for a look at each request that is not Ready, as it may have waited for what has been
// made.
func wake(ctx context.Context, cluster Cluster) (woken int, err error) {
	var grants v1alpha1.CredentialsGrantList
	if err := cluster.List(ctx, &grants); err != nil {
		return 0, err
	}
	for i := range grants.Items {
		grant := &grants.Items[i]
		if meta.IsStatusConditionTrue(grant.Status.Conditions, core.TypeReady) {
			continue
		}
		if err := askForLook(ctx, cluster, cluster.Now(), grant); client.IgnoreNotFound(err) != nil {
			return woken, fmt.Errorf("annotate CredentialsGrant %s: %w", grant.Name, err)
		}
		woken++
	}
	return woken, nil
}

func verb(changed bool) string {
	if changed {
		return "changed:  "
	}
	return "unchanged:"
}

// tell writes the ConfigMap.
func (s *setup) tell(ctx context.Context, cluster Cluster, w wishes) (changed bool, err error) {
	data := map[string]string{"roleARN": s.minter.RoleARN(), "boundaryARN": s.minter.BoundaryARN(), "region": s.region, "infrastructure": s.minter.Infrastructure}
	if s.openShift { // where the Infrastructure says it, and no flag may
		data["infrastructure"] = ""
	}
	told := bootstrapping.Told{Client: cluster, Key: client.ObjectKey{Namespace: w.namespace, Name: configName}}
	stored, err := told.Config(ctx)
	if err != nil || maps.Equal(stored.Data, data) {
		return false, err
	}
	if err := told.Write(ctx, data); err != nil {
		return false, err
	}
	return true, nil
}

// defaultCeiling allows all that the boundary policy leaves.
const defaultCeiling = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`

// makeDefault makes the boundary of Tabard's own namespace, unless there is one.
func makeDefault(ctx context.Context, cluster Cluster, path string) (changed bool, err error) {
	wanted := &v1alpha1.CredentialsBoundary{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DefaultBoundary},
		Spec:       v1alpha1.CredentialsBoundarySpec{AWS: &v1alpha1.AWSBoundary{Ceiling: defaultCeiling}},
	}
	if path != core.DefaultPath {
		wanted.Spec.AWS.PathPrefix = path
	}
	err = cluster.Create(ctx, wanted)
	switch {
	case apierrors.IsAlreadyExists(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("make the CredentialsBoundary %s: %w", v1alpha1.DefaultBoundary, err)
	}
	return true, nil
}

// undo says how to take everything back.
func (s *setup) undo(w wishes) string {
	m := s.minter
	return strings.Join([]string{
		"to undo it, first delete all CredentialsRequests that have roles, then:",
		fmt.Sprintf("  aws iam delete-role-policy --role-name %s --policy-name %s", m.RoleName(), core.MinterPolicyName),
		"  aws iam delete-role --role-name " + m.RoleName(),
		fmt.Sprintf("  for version in $(aws iam list-policy-versions --policy-arn %s --query 'Versions[?!IsDefaultVersion].VersionId' --output text); do", m.BoundaryARN()),
		fmt.Sprintf("    aws iam delete-policy-version --policy-arn %s --version-id $version; done", m.BoundaryARN()),
		"  aws iam delete-policy --policy-arn " + m.BoundaryARN(),
		fmt.Sprintf("  kubectl -n %s delete configmap %s", w.namespace, configName),
		"  kubectl delete credentialsboundary " + v1alpha1.DefaultBoundary,
	}, "\n")
}
