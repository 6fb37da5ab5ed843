package credentials

import (
	"time"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

// World is everything that one pass has observed, at one instant. The shell fills it.
// It holds no secret value.
type World struct {
	// Request is the request as stored, nil if there is none of that name.
	Request *cloudv1.CredentialsRequest
	// Grant is the grant of the name that GrantName gives, nil if there is none.
	Grant *v1alpha1.CredentialsGrant
	// Ahead is how many other requests of the namespace come before this one: those that
	// have something, and older ones.
	Ahead int
	// Provider is what the request asks for: see DecodeProvider.
	Provider Provider
	// Platform is what the cluster says of itself.
	Platform platform.Facts
	// Settings are the controller's flags.
	Settings Settings
	// Boundaries are all CredentialsBoundaries of the cluster.
	Boundaries []v1alpha1.CredentialsBoundary
	// NamespaceLabels are those of the request's namespace; nil if they could not be read.
	NamespaceLabels map[string]string
	// Foreign is the role that the request names, if roles of others are read.
	Foreign *ForeignRole
	// Protected are things that no request may reach, whatever its CredentialsBoundary says.
	Protected Protected
	// Policies are the permissions boundaries that PoliciesOf names, by ARN.
	Policies map[string]PolicyInAWS
	// Issuers are the cluster's issuers, the wanted one first.
	Issuers []Issuer
	// Targets are the objects that Observed names.
	Targets []TargetState
	// Role is the role that RoleName names.
	Role RoleState
	// Account is the AWS account of the minter; AccountFault says why it is not known.
	Account      string
	AccountFault *fault.Fault
	// Now is the instant of the pass.
	Now time.Time
}

// Settings are the controller's flags.
type Settings struct {
	// Partition is the partition of the minter's account, such as aws.
	Partition string
	// Path is the path of roles whose boundary has none; DefaultPath if empty.
	Path string
	// PermissionsBoundary is the ARN of the boundary policy of roles whose
	// CredentialsBoundary has none.
	PermissionsBoundary string
	// OwnNamespaces are Tabard's own: their requests may use the boundary "default" and
	// any target namespace, and their roles' names have no hash.
	OwnNamespaces []string
	// TokenPath is where workloads find their token if the request does not say;
	// DefaultTokenPath if empty.
	TokenPath string
	// Tags are further tags of roles.
	Tags map[string]string
	// Drift says what is done about what others did to a role.
	Drift Drift
}

// Drift says what is done about what others did to a role of Tabard's.
type Drift string

// The answers to drift.
const (
	// DriftEnforce puts it back. It is the default.
	DriftEnforce Drift = "Enforce"
	// DriftReport only tells of policies that others attached or added.
	DriftReport Drift = "Report"
)

// DefaultPath is the path of roles.
const DefaultPath = "/tabard/"

// DefaultTokenPath is the path of the projected token in a workload's pod.
const DefaultTokenPath = "/var/run/secrets/openshift/serviceaccount/token"

// Provider is a providerSpec, decoded.
type Provider struct {
	// Missing says that the request has none.
	Missing bool
	// Kind is its kind, empty if it has none.
	Kind string
	// AWS, Azure and GCP are what is asked for; the one of the kind is not nil, unless
	// there is an Error.
	AWS   *cloudv1.AWSProviderSpec
	Azure *cloudv1.AzureProviderSpec
	GCP   *cloudv1.GCPProviderSpec
	// Unknown are the fields of AWS's statements that are none, by the place of their statement.
	Unknown map[int][]string
	// Error says why it could not be understood; empty for none.
	Error string
}

// Issuer is one issuer of the cluster.
type Issuer struct {
	// Name is the OIDCIssuer's; empty for the one of OpenShift's Authentication.
	Name string
	// URL is the issuer's, ProviderARN its provider in the minter's account.
	URL, ProviderARN string
	// Registered says that the provider exists, Audiences are its client IDs.
	Registered bool
	Audiences  []string
	// AudiencesField is the JSON pointer of the provider's audiences in the OIDCIssuer, such as
	// /spec/providers/0/audiences, and Wanted are those that stand there. It is empty where
	// Tabard does not change the provider: the OIDCIssuer names none for the account, or
	// somebody else made the provider.
	AudiencesField string
	Wanted         []string
	// Retired says that an administrator marked it so, Deleting that it is being deleted.
	Retired, Deleting bool
	// RetireAfter is how long tokens of an issuer that leaves are trusted.
	RetireAfter time.Duration
}

// Target is an object by which workloads find credentials.
type Target struct {
	// Kind is KindSecret or KindServiceAccount.
	Kind, Namespace, Name string
}

// The kinds of targets.
const (
	KindSecret         = "Secret"
	KindServiceAccount = "ServiceAccount"
)

// String is "KIND NAMESPACE/NAME".
func (t Target) String() string { return t.Kind + " " + t.Namespace + "/" + t.Name }

// TargetState is what was seen of a target.
type TargetState struct {
	Target
	// Error says why it could not be read; empty for none. Then nothing else is known.
	Error string
	// NamespaceMissing says that there is no such namespace, or that it is being deleted.
	NamespaceMissing bool
	// Exists says that the object is there; Deleting that it is on its way out.
	Exists, Deleting bool
	// Labels and Annotations are the object's.
	Labels, Annotations map[string]string
	// Type is a Secret's, Immutable its field.
	Type      string
	Immutable bool
	// Digests are the hexadecimal SHA-256 of a Secret's values by key.
	Digests map[string]string
	// KeyUsers name the pods that use a Secret's static keys by name.
	KeyUsers []string
	// Extended says that somebody added more to a ServiceAccount that Tabard made, such
	// as an image pull secret.
	Extended bool
}

// RoleState is what was seen of the role.
type RoleState struct {
	// Fault says why it could not be looked at; then nothing else is known.
	Fault *fault.Fault
	// Seen says that it was looked at: in the snapshot of all roles, or by itself.
	Seen bool
	// Live says that it was looked at by itself, just now.
	Live bool
	// Exists says that there is a role of that name.
	Exists bool
	// Digest is that of the role in the snapshot: see Digest.
	Digest string
	// Role is the role; only where it is Live and Exists.
	Role Role
}

// Role is a role in AWS.
type Role struct {
	Name, Path, ARN string
	// Trust is the trust policy in JSON.
	Trust string
	// Tags are all of them.
	Tags map[string]string
	// Boundary is the ARN of its permissions boundary, empty for none.
	Boundary string
	// MaxSession is the longest session.
	MaxSession time.Duration
	// Policies are the inline policies in JSON by name.
	Policies map[string]string
	// Attached are the ARNs of the attached managed policies.
	Attached []string
}

// RoleWant is a role as it should be. It is comparable.
type RoleWant struct {
	Name, Path, ARN string
	// Owner is the value of OwnerTag.
	Owner string
	// Trust is the trust policy, Policy the inline one of the name PolicyName; in JSON.
	Trust, PolicyName, Policy string
	// Tags are all tags that Tabard sets, OwnerTag among them.
	Tags Values
	// Boundary is the ARN of the permissions boundary, empty for none.
	Boundary string
	// MaxSession is the longest session.
	MaxSession time.Duration
}

// What a World is seen by besides: marks that people set.
const (
	// RetiredAnnotation, with the value "true", on an OIDCIssuer says that it leaves:
	// roles stop to trust it once the last of its tokens that are in use has expired.
	RetiredAnnotation = "identity.tabard.dev/retired"
	// ResyncAnnotation on a grant has its role looked at now. Its value is the time at
	// which that was asked for (RFC 3339).
	ResyncAnnotation = "identity.tabard.dev/resync"
)
