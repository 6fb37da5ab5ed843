package awsauth

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// inputs are what a configuration is made of besides its identity. If they
// change then it is made anew.
type inputs struct {
	environment identity.Environment
	// version is that of the Secret.
	version string
	// client is nil if all calls are made by an injected one.
	client *trustingClient
}

// parts are the inputs with what they stand for.
type parts struct {
	inputs
	secret secret
	// person is the SDK's default chain, for the bases that are that.
	person aws.Config
}

// complete fills in the region and refuses what can never work.
func (a *Auth) complete(id identity.Identity) (identity.Identity, error) {
	switch id.Base {
	case identity.WebIdentity, identity.Secret, identity.ServiceAccount, identity.Container, identity.DefaultChain:
		if err := a.env.identity().Check(); err != nil {
			return id, undecided(err)
		}
	case identity.Session:
	default:
		return id, invalid("the identity's base is %q; it must be %q, %q, %q, %q, %q or %q", id.Base,
			identity.WebIdentity, identity.Secret, identity.ServiceAccount, identity.Container, identity.Session, identity.DefaultChain)
	}
	if (id.Base == identity.Secret) != (id.Secret.Name != "") {
		return id, invalid("the identity's base is %q and its Secret is %q; the base %q needs a Secret, and no other has one",
			id.Base, id.Secret, identity.Secret)
	}
	if err := checkServiceAccount(id); err != nil {
		return id, err
	}
	if a.injected != nil && id.CABundle != (identity.BundleRef{}) {
		return id, invalid("the identity has a CA bundle, and all calls are made by an HTTP client that cannot take it up")
	}
	if id.Region == "" && !isDefaultChain(id.Base) {
		id.Region = a.env.region()
		if id.Region == "" {
			return id, regionMissing()
		}
	}
	if id.Region != "" && !identity.IsRegion(id.Region) {
		return id, invalid("the region %q cannot be one: it is no label of a host name", id.Region)
	}
	if id.Base == identity.ServiceAccount {
		if err := checkPartition("the role of ServiceAccount "+id.ServiceAccount.String(), id.ServiceAccount.RoleARN, id.Region); err != nil {
			return id, err
		}
	}
	return id, checkRoles(id)
}

// checkServiceAccount wants the namespace to be said: there is none by default, as it
// would be the controller's own.
func checkServiceAccount(id identity.Identity) error {
	account := id.ServiceAccount
	switch {
	case id.Base != identity.ServiceAccount && account != (identity.ServiceAccountRef{}):
		return invalid("the identity's base is %q and it has the ServiceAccount %s; only the base %q has one", id.Base, account, identity.ServiceAccount)
	case id.Base == identity.ServiceAccount && (account.Namespace == "" || account.Name == ""):
		return invalid("the identity's ServiceAccount is %q; say its name, and as its namespace that of the object which asks", account)
	case id.Base == identity.ServiceAccount && !identity.IsRoleARN(account.RoleARN):
		return invalidARN("the role of ServiceAccount "+account.String(), account.RoleARN)
	}
	return nil
}

const (
	// The bounds of a session's duration (AWS STS API Reference: AssumeRole).
	minDuration = 15 * time.Minute
	maxDuration = 12 * time.Hour
)

func checkRoles(id identity.Identity) error {
	for _, role := range id.Roles.Roles() {
		switch {
		case !identity.IsRoleARN(role.ARN):
			return invalidARN("the role to assume", role.ARN)
		case role.Duration != 0 && (role.Duration < minDuration || role.Duration > maxDuration):
			return invalid("the session of %s is to hold %s; it must be between %s and %s", role.ARN, role.Duration, minDuration, maxDuration)
		case role.SessionName != "" && !isSessionName(role.SessionName):
			return invalid("the session of %s is to be called %q; STS takes 2 to 64 letters, digits and _+=,.@-", role.ARN, role.SessionName)
		}
		if err := checkPartition("the role to assume", role.ARN, id.Region); err != nil {
			return err
		}
	}
	return nil
}

// checkPartition refuses a role of another partition; an empty region is not
// known yet.
func checkPartition(what, arn, region string) error {
	if region != "" && identity.PartitionOfARN(arn) != identity.Partition(region) {
		return partitionMismatch(what, arn, region)
	}
	return nil
}

// gather reads what a configuration is made of. It holds no lock while it does:
// Secrets and bundles may come from far away.
func (a *Auth) gather(ctx context.Context, id identity.Identity) (parts, error) {
	p, err := a.surroundings(ctx, id)
	if err != nil {
		return parts{}, err
	}
	switch {
	case id.Base == identity.WebIdentity:
		err = checkWebIdentity(p.environment, id.Region)
	case id.Base == identity.Secret:
		p.secret, p.version, err = a.readSecret(ctx, id.Secret)
		if err == nil && p.secret.role != "" {
			err = checkPartition("the role in Secret "+id.Secret.String(), p.secret.role, id.Region)
		}
	case id.Base == identity.Container:
		err = a.checkContainer()
	}
	return p, err
}

// surroundings are the parts but for the credentials.
func (a *Auth) surroundings(ctx context.Context, id identity.Identity) (parts, error) {
	p := parts{inputs: inputs{environment: a.env.identity()}}
	var err error
	if isDefaultChain(id.Base) {
		if p.person, err = a.person.load(ctx, a); err != nil {
			return parts{}, err
		}
	}
	bundle, err := a.readBundle(ctx, id.CABundle)
	if err != nil {
		return parts{}, err
	}
	p.client, err = a.clientFor(id.CABundle, bundle)
	return p, err
}

// checkWebIdentity is for those who may be nobody else: the error says how to
// get a web identity.
func checkWebIdentity(env identity.Environment, region string) error {
	if _, err := identity.Decide(env, identity.Wish{}); err != nil {
		return &Error{Code: fault.CodeCredentialsMissing, cause: err, Message: err.Error() +
			": annotate the ServiceAccount with eks.amazonaws.com/role-arn, or set both variables and project a token"}
	}
	if !identity.IsRoleARN(env.RoleARN) {
		return invalidARN(envRoleARN, env.RoleARN)
	}
	return checkPartition(envRoleARN, env.RoleARN, region)
}

// clientFor is the HTTP client of a bundle, which trusts it as it is now.
func (a *Auth) clientFor(ref identity.BundleRef, bundle []byte) (*trustingClient, error) {
	if a.injected != nil || ref == (identity.BundleRef{}) {
		return a.trusting, nil
	}
	client, err := a.keptClient(ref)
	if err != nil {
		return nil, err
	}
	changed, err := client.give(bundle)
	if changed && bundle != nil {
		a.log.Info("using a custom CA bundle", "namespace", ref.Namespace, "configMap", ref.Name, "key", ref.Key)
	}
	return client, err
}

func (a *Auth) keptClient(ref identity.BundleRef) (*trustingClient, error) {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if client, ok := a.clients.get(ref, now); ok {
		return client, nil
	}
	client, err := a.newTrusting()
	if err == nil {
		a.clients.put(ref, client, now)
	}
	return client, err
}

func (a *Auth) newTrusting() (*trustingClient, error) {
	return newTrustingClient(a.env.getenv(envCABundle), a.readFile, a.now)
}

// isDefaultChain says whether the SDK finds the first credentials.
func isDefaultChain(base identity.Base) bool {
	return base == identity.Session || base == identity.DefaultChain
}
