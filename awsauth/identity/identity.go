// Package identity says, as plain data, who to be in AWS and where: the base
// credentials, the roles assumed on top of them, the region, the endpoints and
// the certificates to trust. Decisions produce an Identity, adapters hand it to
// awsauth, which resolves it. That is the only way from an object to an AWS
// call. Secrets and certificates are named, never held.
//
// Decide answers which base a process uses for an object. An empty variable
// counts as unset:
//
//	AWS_ROLE_ARN  AWS_WEB_IDENTITY_TOKEN_FILE  Secret  the base is
//	set           set                          any     the web identity; the Secret is not even read
//	set           unset                        any     none: half a web identity is an error
//	unset         set                          any     none: half a web identity is an error
//	unset         unset                        named   the Secret
//	unset         unset                        none    container credentials, if asked for and present;
//	                                                   the SDK's default chain, if asked for;
//	                                                   else none: an error
//
// Access keys in the environment, profiles and instance metadata are no part of
// it: they count only within the SDK's default chain.
package identity

// Base is where the first credentials come from.
type Base string

const (
	// WebIdentity exchanges the projected ServiceAccount token that the
	// environment names (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE).
	WebIdentity Base = "WebIdentity"
	// Secret takes what a Secret holds: an access key, or a role and the token
	// file that this process mounts for it.
	Secret Base = "Secret"
	// ServiceAccount exchanges a token of a ServiceAccount that the process requests
	// from the API server: a controller acts as the people of a namespace let it.
	ServiceAccount Base = "ServiceAccount"
	// Container asks the agent that the environment names
	// (AWS_CONTAINER_CREDENTIALS_FULL_URI), as with EKS Pod Identity.
	Container Base = "Container"
	// Session is a person's own AWS session, found by the SDK's default chain.
	// Only commands that people type ask for it, never a controller.
	Session Base = "Session"
	// DefaultChain is the SDK's default chain for a process whose administrator
	// asked for it: access keys of the environment, profiles, instance metadata.
	DefaultChain Base = "DefaultChain"
)

// SecretRef names a Secret. The zero value names none.
type SecretRef struct{ Namespace, Name string }

// String is NAMESPACE/NAME.
func (s SecretRef) String() string { return s.Namespace + "/" + s.Name }

// ServiceAccountRef names a ServiceAccount, and the role that its token is exchanged for.
// The zero value names none.
//
// A controller that requests tokens can become every ServiceAccount of its cluster. Who
// may name which one is its caller's decision, and a wrong one makes it a confused
// deputy: the namespace must be that of the object which asks, taken from its metadata
// and never from its spec, unless an administrator wrote the spec. The role's trust
// policy is no second line: it trusts the ServiceAccount, whoever asked.
type ServiceAccountRef struct {
	Namespace, Name string
	// RoleARN is the role whose trust policy lets the ServiceAccount in.
	RoleARN string
}

// String is NAMESPACE/NAME.
func (s ServiceAccountRef) String() string { return s.Namespace + "/" + s.Name }

// BundleRef names a bundle of certificates in PEM by the ConfigMap and the key
// that hold it. The zero value names none.
type BundleRef struct{ Namespace, Name, Key string }

// Identity is who to be and where. It is comparable: equal identities share one
// cached configuration.
type Identity struct {
	// Base is the source of the first credentials. The zero value is no
	// identity and is refused.
	Base Base
	// Secret is what Base Secret reads; no other base may have one.
	Secret SecretRef
	// ServiceAccount is whose token Base ServiceAccount exchanges, and for which role; no
	// other base may have one.
	ServiceAccount ServiceAccountRef
	// Roles are assumed from the base, one after the other.
	Roles Chain
	// Region is where calls are signed for and sent to; empty is the process's
	// own.
	Region string
	// Endpoints are used instead of AWS's own. A service's variable in the
	// environment (AWS_ENDPOINT_URL_STS) goes before them.
	Endpoints Endpoints
	// CABundle is trusted besides the system's roots. A bundle that does not
	// exist is none.
	CABundle BundleRef
}

// In is the same identity in another region.
func (i Identity) In(region string) Identity {
	i.Region = region
	return i
}

// Assuming is the same identity with a role assumed on top; an empty ARN leaves
// it as it is.
func (i Identity) Assuming(roleARN string) Identity {
	if roleARN == "" {
		return i
	}
	return i.Via(Role{ARN: roleARN})
}

// Via is the same identity with roles assumed on top.
func (i Identity) Via(roles ...Role) Identity {
	i.Roles = i.Roles.Then(roles...)
	return i
}

// RoleARN is the role that the calls are made with: the last of the chain,
// empty for none.
func (i Identity) RoleARN() string {
	roles := i.Roles.Roles()
	if len(roles) == 0 {
		return ""
	}
	return roles[len(roles)-1].ARN
}
