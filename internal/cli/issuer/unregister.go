package issuer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// Registration is what an account knows of an issuer.
type Registration struct {
	// Caller and AccountID are who asks, and in which account.
	Caller, AccountID string
	// ARN is that of the provider that the account has or would have.
	ARN    string
	Exists bool
	// Owner is the value of the provider's tag core.OwnerTag; empty if it has none.
	Owner     string
	Audiences []string
	// Roles are the names of those whose trust policies mention the provider, sorted; where
	// IAM may not be read, RolesError says why.
	Roles      []string
	RolesError string
}

// Registered is what an unregistration needs; the program's wiring fills it.
type Registered interface {
	// Users are the names of the OIDCIssuers in the cluster that have the URL.
	Users(ctx context.Context, url string) ([]string, error)
	// Registration reads what the account of the person's session knows of the URL.
	Registration(ctx context.Context, url string) (Registration, error)
	// Remove deletes the provider, if it still carries the owner's tag.
	Remove(ctx context.Context, arn, owner string) error
}

// Unregister takes an issuer's OIDC provider away from the account of a person's session, after
// the operator that would have done it is gone.
type Unregister struct {
	World Registered
	// WithoutCluster does not ask the cluster whether an OIDCIssuer still needs the provider.
	WithoutCluster bool
	// DryRun shows the plan, and writes nothing.
	DryRun bool
	// Yes goes on without asking.
	Yes bool
	// Confirm asks the person; nil where there is none to ask.
	Confirm func(question string) (bool, error)
	// Out receives the plan, and then what was done.
	Out io.Writer
}

// Run carries it out. A provider that is gone already is success.
func (u *Unregister) Run(ctx context.Context, url string) error {
	if err := u.unused(ctx, url); err != nil {
		return err
	}
	seen, err := u.World.Registration(ctx, url)
	if err != nil {
		return err
	}
	u.say("issuer %s, as %s in account %s", url, seen.Caller, seen.AccountID)
	if !seen.Exists {
		u.say("  = there is no OIDC provider %s: nothing to do", seen.ARN)
		return nil
	}
	if seen.Owner != url {
		return fmt.Errorf("the OIDC provider %s was not made by Tabard: its tag %s is %q, expected %s; if nothing needs it, delete it yourself: aws iam delete-open-id-connect-provider --open-id-connect-provider-arn %s",
			seen.ARN, core.OwnerTag, seen.Owner, url, seen.ARN)
	}
	u.plan(seen)
	if u.DryRun {
		u.say("this was a dry run: nothing was written")
		return nil
	}
	if err := u.confirm(); err != nil {
		return err
	}
	if err := u.World.Remove(ctx, seen.ARN, url); err != nil {
		return err
	}
	u.say("OIDC provider %s deleted", seen.ARN)
	u.left(url, seen)
	return nil
}

// unused refuses while the cluster has an OIDCIssuer of the URL: its operator would register it again.
func (u *Unregister) unused(ctx context.Context, url string) error {
	if u.WithoutCluster {
		return nil
	}
	users, err := u.World.Users(ctx, url)
	if err != nil {
		return fmt.Errorf("whether an OIDCIssuer still needs the provider cannot be told: %w; if the cluster is gone, add --without-cluster", err)
	}
	if len(users) > 0 {
		return fmt.Errorf("the OIDCIssuer %[1]s in the cluster has this URL, and its operator would register it again: kubectl delete oidcissuer %[1]s with deletionPolicy Delete takes the provider away, in every account; if no operator runs any more, add --without-cluster", users[0])
	}
	return nil
}

// plan says what goes, and what stops working then.
func (u *Unregister) plan(seen Registration) {
	u.say("  - OIDC provider %s, audiences %s", seen.ARN, strings.Join(seen.Audiences, ", "))
	for _, role := range seen.Roles {
		u.say("  ! role %s trusts it: pods can no longer become this role, and credentials that they have end with their session", role)
	}
	switch {
	case seen.RolesError != "":
		u.say("  ? roles that trust it are not known (%s): pods can no longer become any of them", seen.RolesError)
	case len(seen.Roles) == 0:
		u.say("  = no role of the account trusts it")
	}
}

// confirm asks, since what goes may be in use.
func (u *Unregister) confirm() error {
	if u.Yes {
		return nil
	}
	if u.Confirm == nil {
		return errors.New("nothing was written: there is no terminal to ask at, add --yes to delete the provider, or --dry-run to see the plan only")
	}
	yes, err := u.Confirm("Delete it?")
	if err == nil && !yes {
		err = ErrDeclined
	}
	return err
}

// left says what still exists, and how to bring the provider back.
func (u *Unregister) left(url string, seen Registration) {
	u.say("left in AWS:")
	u.say("  the bucket of the documents; while a role of any account trusts %s, do not free its name", url)
	for _, role := range seen.Roles {
		if isOperatorRole(role, url) {
			u.say("  the operator's role, to delete it:")
			u.say("    aws iam delete-role-policy --role-name %s --policy-name %s", role, PolicyName)
			u.say("    aws iam delete-role --role-name %s", role)
		}
	}
	u.say("to undo:")
	u.say("  aws iam create-open-id-connect-provider --url %s --client-id-list%s --tags Key=%s,Value=%s", line.Quoted(url), words(seen.Audiences), core.OwnerTag, line.Quoted(url))
}

// isOperatorRole says that a role has a name which a bootstrap gives for the URL, whatever the OIDCIssuer's.
func isOperatorRole(role, url string) bool {
	prefix, suffix, _ := strings.Cut(core.RoleName("NAME", url), "NAME")
	return strings.HasPrefix(role, prefix) && strings.HasSuffix(role, suffix)
}

func words(texts []string) (out string) {
	for _, text := range texts {
		out += " " + line.Quoted(text)
	}
	return out
}

func (u *Unregister) say(format string, args ...any) { fmt.Fprintf(u.Out, format+"\n", args...) }
