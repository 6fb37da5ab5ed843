package issuer

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// Place is what a bootstrap asks of the cluster before it writes anything.
type Place struct {
	// Issuer is what the API server's discovery document names; where it could not be
	// read, it is empty and IssuerError says why.
	Issuer, IssuerError string
	// Namespace says that the operator's namespace exists.
	Namespace bool
	// Role is the ARN of the role that the operator is told now, empty for none.
	Role string
	// Lacks are rights in the cluster that the person's session does not have.
	Lacks []string
	// RoleExists says that AWS has the role of RoleName; RoleError why that is not known.
	RoleExists bool
	RoleError  string
}

// Consent are what a person has allowed by flags.
type Consent struct {
	// OtherIssuer publishes although the cluster's tokens name another issuer.
	OtherIssuer bool
	// ReplaceRole tells the operator this issuer's role in place of that of another OIDCIssuer.
	ReplaceRole bool
}

// ErrDeclined says that the person answered no. Nothing was written.
var ErrDeclined = errors.New("nothing was written")

// prepare looks at everything, refuses what would go wrong, shows the plan and asks. It writes nothing.
func (b *Bootstrap) prepare(ctx context.Context, wanted *v1alpha1.OIDCIssuer) (goOn bool, err error) {
	world, err := b.World.Observe(ctx, wanted)
	if err != nil {
		return false, err
	}
	if err := signedIn(world); err != nil {
		return false, err
	}
	place, err := b.World.Place(ctx, roleName(b.Role, wanted))
	if err != nil {
		return false, err
	}
	if err := b.refusals(world, place); err != nil {
		return false, err
	}
	b.Result.begin(world, b.DryRun)
	b.Result.Plan = b.planned(world, place)
	b.say("issuer %s, as %s in account %s", wanted.Spec.URL, world.Caller.ARN, world.Caller.AccountID)
	for _, line := range b.Result.Plan {
		b.say("  %s %s", line.Change.mark(), line.Object)
	}
	if b.DryRun {
		b.say("this was a dry run: nothing was written")
		return false, nil
	}
	return true, b.confirm()
}

func (b *Bootstrap) confirm() error {
	if b.Confirm == nil {
		return nil
	}
	yes, err := b.Confirm("Continue?")
	if err == nil && !yes {
		err = ErrDeclined
	}
	return err
}

func signedIn(world core.World) error {
	if world.Caller.Fault != nil {
		return bootstrapping.SignInFirst(*world.Caller.Fault)
	}
	return nil
}

// refusals are all reasons not to begin, together.
func (b *Bootstrap) refusals(world core.World, place Place) error {
	var errs []error
	operator := b.Operator
	if !b.Consent.OtherIssuer {
		errs = append(errs, otherIssuer(world, place))
	}
	if !place.Namespace {
		errs = append(errs, fmt.Errorf("there is no namespace %s, in which the operator would be told its role: install Tabard first (helm install tabard charts/tabard --namespace %s --create-namespace), then run this again", operator.Namespace, operator.Namespace))
	}
	for _, right := range place.Lacks {
		errs = append(errs, fmt.Errorf("your session in the cluster may not %s: ask whoever administers it, or use another kubeconfig", right))
	}
	if !b.Consent.ReplaceRole {
		errs = append(errs, b.otherRole(world, place))
	}
	return errors.Join(errs...)
}

// otherRole refuses to take the operator away from another OIDCIssuer, or from a role that
// somebody has written by hand.
func (b *Bootstrap) otherRole(world core.World, place Place) error {
	if place.Role == "" || path.Base(place.Role) == roleName(b.Role, world.Issuer) {
		return nil
	}
	for _, rival := range world.Rivals {
		if path.Base(place.Role) == core.RoleName(rival.Name, rival.Spec.URL) {
			return fmt.Errorf("the operator's role is %s, that of the OIDCIssuer %s: with another it could not publish for that one any more; add --replace-role if it shall be so", place.Role, rival.Name)
		}
	}
	return fmt.Errorf("the operator is told the role %s, which this command would not make: name it with --role-name %s if an earlier run made it, or add --replace-role if another shall take its place", place.Role, path.Base(place.Role))
}

// otherIssuer refuses a file for another issuer than the cluster's tokens name. What the tokens
// say wins over the discovery document, which the operator's ServiceAccount need not exist for.
func otherIssuer(world core.World, place Place) error {
	const consent = "set kube-apiserver's --service-account-issuer first, or add --allow-other-issuer to publish before you do"
	want := world.Issuer.Spec.URL
	names := tokensName(world.Cluster)
	if len(names) == 0 && place.Issuer != "" {
		names = []string{place.Issuer}
	}
	if len(names) == 0 {
		return fmt.Errorf("what issuer the cluster's tokens name cannot be told (%s): ask for the right to read /.well-known/openid-configuration at the API server, or add --allow-other-issuer if you know that it is %s", place.IssuerError, want)
	}
	for _, name := range names {
		if name != want {
			return fmt.Errorf("the cluster's tokens name the issuer %s, the file says %s: both must be equal byte for byte, or AWS refuses the tokens; %s", name, want, consent)
		}
	}
	return nil
}

// tokensName are the issuers that tokens of the API servers name, of those that gave one.
func tokensName(cluster core.Cluster) (names []string) {
	for _, server := range cluster.APIServers {
		if name := server.Token.Issuer; server.Token.Error == "" && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// planned says what will be made, and what is there already.
func (b *Bootstrap) planned(world core.World, place Place) []Planned {
	spec := world.Issuer.Spec
	s3 := spec.Publication.S3
	readers := "that everybody may read"
	if s3.PublicRead == v1alpha1.PublicReadNone {
		readers = "that you let others read"
	}
	plan := []Planned{{changeOf(world.Bucket.Exists, world.Bucket.Fault != nil), fmt.Sprintf("bucket %s in %s, with two documents %s", s3.Bucket, s3.Region, readers)}}
	own := false
	for _, p := range world.Providers {
		if p.Want == nil {
			continue
		}
		own = own || p.Want.AssumeRoleARN == ""
		plan = append(plan, Planned{changeOf(p.Exists, p.Fault != nil), fmt.Sprintf("OIDC provider %s, audiences %s", p.ARN, strings.Join(p.Want.Audiences, ", "))})
	}
	if !own {
		return plan
	}
	plan = append(plan, Planned{changeOf(place.RoleExists, place.RoleError != ""), b.Role.Describe(roleName(b.Role, world.Issuer)) + fmt.Sprintf(" for the ServiceAccount %s/%s: it keeps bucket and provider", b.Operator.Namespace, b.Operator.ServiceAccount)})
	config := Planned{changeOf(place.Role != "", false), fmt.Sprintf("ConfigMap %s/%s, which tells the operator its role", b.Operator.Namespace, b.Operator.ServiceAccount)}
	if place.Role != "" && path.Base(place.Role) != roleName(b.Role, world.Issuer) {
		config = Planned{Replace, config.Object + " in place of " + place.Role}
	}
	return append(plan, config)
}

// DefaultServiceAccount is the operator's where no flag names another.
const DefaultServiceAccount = "tabard-issuer"

// undo are the commands that take back what the bootstrap has made. The operator's role may delete only
// what the OIDCIssuer says that it deletes, so one that says Retain gets these rights first.
func (b *Bootstrap) undo(issuer *v1alpha1.OIDCIssuer) (lines []string) {
	name, role, hasRole := issuer.Name, roleName(b.Role, issuer), b.Result.RoleARN != ""
	if issuer.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete {
		lines = append(lines, fmt.Sprintf(`kubectl patch oidcissuer %s --type=merge -p '{"spec":{"deletionPolicy":"Delete"}}'`, name))
		if hasRole {
			lines = append(lines, fmt.Sprintf("kubectl get oidcissuer %s -o yaml | tabard issuer bootstrap --yes%s -f -", name, b.again()))
		}
	}
	lines = append(lines, fmt.Sprintf("kubectl delete oidcissuer %s --timeout=10m", name))
	if !hasRole {
		return lines
	}
	return append(lines,
		fmt.Sprintf("aws iam delete-role-policy --role-name %s --policy-name %s", role, PolicyName),
		"aws iam delete-role --role-name "+role,
		fmt.Sprintf("kubectl delete configmap %s --namespace %s", b.Operator.ServiceAccount, b.Operator.Namespace))
}

// again are the flags with which the same role is chosen once more, each after a space. What the role
// has of a path, a permissions boundary and tags it keeps without them.
func (b *Bootstrap) again() (flags string) {
	for _, each := range []struct{ flag, value, usual string }{
		{"--role-name", b.Role.Name, ""},
		{"--namespace", b.Operator.Namespace, command.Namespace},
		{"--service-account", b.Operator.ServiceAccount, DefaultServiceAccount},
	} {
		if each.value != each.usual {
			flags += " " + each.flag + " " + each.value
		}
	}
	if b.Consent.OtherIssuer {
		flags += " --allow-other-issuer"
	}
	return flags
}
