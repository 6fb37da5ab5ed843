// Package issuer decides what an OIDCIssuer needs: which keys belong into the
// published set, whether the documents, the bucket's policy and the provider
// are as wanted, what to do next and what to tell the user. It reads a World
// and returns a Plan; it does no I/O and asks no clock.
//
// The links of the identity chain that it covers: L0 issuer (the cluster's
// keys and token), L1 publication (the documents), L2 provider (IAM).
package issuer

import (
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// World is everything that one pass has observed, at one instant. The shell
// fills it; what only a living object needs is not observed for a dying one.
type World struct {
	// Issuer is the object as stored. Decide does not change it.
	Issuer *v1alpha1.OIDCIssuer
	// Now is the instant of the pass.
	Now time.Time
	// Rivals are the other OIDCIssuers of the cluster, all of them.
	Rivals []v1alpha1.OIDCIssuer
	// Caller is who the operator is in AWS.
	Caller Caller
	// Cluster is what the cluster signs with (L0).
	Cluster Cluster
	// Bucket is the bucket as the S3 API shows it (L1).
	Bucket Bucket
	// Public is what anybody sees at the issuer's URL (L1).
	Public Public
	// Providers are the registrations (L2), see ProviderTargets.
	Providers []ProviderState
	// DropForeignKeys takes keys that the status does not know out of the
	// published set. Only a person's command asks for it, never a controller.
	DropForeignKeys bool
}

// Caller is the operator's own identity in AWS.
type Caller struct {
	// Identity is how the operator becomes somebody.
	Identity identity.Identity
	// AccountID and ARN are what GetCallerIdentity said.
	AccountID, ARN string
	// Fault says why it did not answer.
	Fault *fault.Fault
	// TokenKeyID is the ID of the key that signed the token by which the operator
	// becomes somebody; empty where it does not become somebody by a token, or where
	// the token could not be read.
	TokenKeyID string
}

// Cluster is what the cluster signs tokens with.
type Cluster struct {
	// APIServers is what each API server said at its own address; one entry with
	// the client's own address where no EndpointSlice names any. Whatever the key
	// source is, each is asked for a token.
	APIServers []APIServer
	// ConfigMap is the key ConfigMap's data when the source is a ConfigMap.
	ConfigMap *KeyConfigMap
}

// APIServer is what one API server says of its issuer.
type APIServer struct {
	// Address is HOST:PORT.
	Address string
	// JWKS is the body of /openid/v1/jwks; not asked for where the key source is
	// a ConfigMap.
	JWKS []byte
	// Error says why it could not be read; empty for none.
	Error string
	// Token is a token requested just now at this address, for the operator's own
	// ServiceAccount: the key that this one signs with need not be that of the
	// others.
	Token Token
}

// KeyConfigMap is the ConfigMap that holds PEM public keys.
type KeyConfigMap struct {
	// Data is the ConfigMap's data.
	Data map[string]string
	// Missing says that there is no such ConfigMap.
	Missing bool
	// Error says why it could not be read; empty for none.
	Error string
}

// Token is what is known of a fresh token of the cluster; never the token.
type Token struct {
	// Issuer and KeyID are the token's "iss" and "kid".
	Issuer, KeyID string
	// IssuedAt is its "iat", by the API server's clock; zero if it has none.
	IssuedAt time.Time
	// PublicError says why the token does not verify against the documents
	// fetched anonymously; empty if it does, or if they were not fetched.
	PublicError string
	// Error says why no token could be had; empty for none.
	Error string
}

// PublicAccessBlock are the four switches of S3 Block Public Access.
type PublicAccessBlock struct {
	BlockPublicACLs, IgnorePublicACLs, BlockPublicPolicy, RestrictPublicBuckets bool
}

// Bucket is the bucket as the S3 API shows it to the operator.
type Bucket struct {
	// Fault says why the bucket could not be looked at; then nothing else here
	// is known. A missing bucket is no fault.
	Fault *fault.Fault
	// Exists says that there is a bucket of that name in the caller's account.
	Exists bool
	// Region is where the bucket really is.
	Region string
	// Owner is the value of Tabard's ownership tag, the URL of the issuer that
	// the bucket was created for; empty when Tabard did not create it.
	Owner string
	// Tombstone says that the bucket carries the mark of one that only keeps its
	// name: its issuer was deleted.
	Tombstone bool
	// Others says that the bucket holds objects beside the two documents;
	// observed for a dying issuer that deletes.
	Others bool
	// Access is the bucket's own public access block.
	Access PublicAccessBlock
	// Policy is the bucket policy, nil for none.
	Policy []byte
	// Keys and Discovery are the two documents.
	Keys, Discovery Document
}

// Document is one published document as the S3 API shows it.
type Document struct {
	// Exists says that the object is there.
	Exists bool
	// Body is its content, at most MaxDocumentBytes.
	Body []byte
	// ETag is its version, for the next write's If-Match.
	ETag string
}

// Public is what anybody sees at the issuer's URL.
type Public struct {
	Keys, Discovery Fetch
	// KeysAt is where Keys was fetched from; empty is where Tabard publishes it.
	KeysAt string
}

// Fetch is one anonymous GET.
type Fetch struct {
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Redirect is where the answer leads instead of being one; empty if it does
	// not. It is not followed.
	Redirect string
	// Body is the answer's body.
	Body []byte
	// Error says why there was no answer; empty for none.
	Error string
}

// ProviderState is one IAM OIDC provider as observed.
type ProviderState struct {
	// Want is the spec's entry, nil for one that the spec does not name.
	Want *v1alpha1.Provider
	// Identity is how its account is reached.
	Identity identity.Identity
	// AccountID is that account; empty if it could not be reached.
	AccountID string
	// ARN is what the provider's ARN is or would be.
	ARN string
	// Exists says that the account knows a provider for the issuer's URL.
	Exists bool
	// Owner is the value of Tabard's ownership tag; empty for a provider that
	// somebody else made.
	Owner string
	// Audiences are the provider's client IDs.
	Audiences []string
	// TrustedBy are the names of roles whose trust policy mentions the
	// provider; observed only where NeedsTrust says so.
	TrustedBy []string
	// Fault says why it could not be looked at.
	Fault *fault.Fault
}
