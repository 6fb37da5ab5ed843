package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OIDCIssuer publishes the issuer of this cluster's ServiceAccount tokens: the
// OpenID Connect discovery document and the set of public keys, at the URL that
// the tokens name as their "iss". It may also register the issuer as an IAM
// OIDC provider, one entry per account.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=oidcissuers,singular=oidcissuer,shortName=issuer,categories=tabard
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type OIDCIssuer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   OIDCIssuerSpec   `json:"spec"`
	Status OIDCIssuerStatus `json:"status,omitempty"`
}

// OIDCIssuerList is a list of OIDCIssuer.
//
// +kubebuilder:object:root=true
type OIDCIssuerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []OIDCIssuer `json:"items"`
}

// OIDCIssuerSpec is what the administrator wants published, and where.
type OIDCIssuerSpec struct {
	// URL is the issuer: byte for byte the "iss" of the cluster's tokens
	// (kube-apiserver's --service-account-issuer). https only; no user, query,
	// fragment or trailing slash. It cannot be changed.
	//
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="url is immutable: an issuer's URL is the name that role trust policies use; make a second OIDCIssuer for a second URL"
	// +kubebuilder:validation:XValidation:rule="self.matches('^https://[^/?#@\\\\s]+(/[^?#\\\\s]*[^/?#\\\\s])?$')",message="url must be https://HOST[:PORT][/PATH], without user, query, fragment or trailing slash"
	URL string `json:"url"`

	// Keys says where the public keys of the cluster's token signers are read.
	//
	// +optional
	// +kubebuilder:default={source: APIServer}
	Keys KeySource `json:"keys,omitzero"`

	// Publication says where the documents are written.
	Publication Publication `json:"publication"`

	// Providers are the IAM OIDC providers to register, one entry per account.
	// Empty: the issuer is published and not registered.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Providers []Provider `json:"providers,omitempty"`

	// RetireKeysAfter is how long a key stays published after it was seen gone from
	// every API server, so that every token it signed has expired.
	//
	// +optional
	// +kubebuilder:default="25h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h')",message="retireKeysAfter must be at least 24h, the longest life of a pod's token"
	RetireKeysAfter metav1.Duration `json:"retireKeysAfter,omitzero"`

	// DeletionPolicy says what deleting this object does to what it made in
	// AWS. Retain leaves all of it. Delete removes the providers and then the
	// documents, once no role's trust policy mentions a provider of the URL, and
	// closes the bucket. The bucket stays, so that nobody else gets its name; see
	// publication.s3.releaseName.
	//
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy says what becomes of things in AWS when their object goes.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

// Deletion policies.
const (
	DeletionPolicyRetain DeletionPolicy = "Retain"
	DeletionPolicyDelete DeletionPolicy = "Delete"
)

// Publication is where the documents are written.
type Publication struct {
	// S3 publishes to an S3 bucket.
	S3 S3Publication `json:"s3"`
}

// PublicRead says who may read the published documents.
//
// +kubebuilder:validation:Enum=BucketPolicy;None
type PublicRead string

// Ways of public reading.
const (
	// PublicReadBucketPolicy adds one statement to the bucket's policy that
	// lets anybody read exactly the two documents.
	PublicReadBucketPolicy PublicRead = "BucketPolicy"
	// PublicReadNone leaves the bucket private: a CDN of yours reads it.
	PublicReadNone PublicRead = "None"
)

// S3Publication is a bucket and a prefix in it. They cannot be changed: what is
// published there would be left behind, under a name that roles trust.
type S3Publication struct {
	// Bucket holds the documents. No dots: TLS does not cover such names.
	//
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="bucket is immutable: make a second OIDCIssuer to publish elsewhere"
	Bucket string `json:"bucket"`

	// Region is the bucket's region.
	//
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="region is immutable: make a second OIDCIssuer to publish elsewhere"
	Region string `json:"region"`

	// Prefix is put before the keys of both documents, without slashes at
	// either end. It must be what the URL's path leads to.
	//
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="prefix is immutable: make a second OIDCIssuer to publish elsewhere"
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*)?$`
	Prefix string `json:"prefix,omitempty"`

	// Create makes the bucket if it does not exist. A bucket that Tabard did
	// not create is written to, and never opened to the public.
	//
	// +optional
	Create bool `json:"create,omitempty"`

	// +optional
	// +kubebuilder:default=BucketPolicy
	PublicRead PublicRead `json:"publicRead,omitempty"`

	// ReleaseName gives the bucket's name up when the object is deleted with
	// deletionPolicy Delete: a bucket that Tabard made is deleted too, once no
	// provider of the URL is left that can be seen. Whoever takes the name next
	// can become every role that still trusts the URL, also in accounts which
	// registered the issuer by themselves and which Tabard cannot see. It may be
	// set while the object is being deleted.
	//
	// +optional
	ReleaseName bool `json:"releaseName,omitempty"`
}

// Provider is one registration as an IAM OIDC provider.
type Provider struct {
	// Audiences are the client IDs of the provider.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	Audiences []string `json:"audiences"`

	// AssumeRoleARN is a role to assume first, in the account that is to know
	// the provider. Empty: the operator's own account.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^$|^arn:aws[a-z0-9-]*:iam::[0-9]{12}:role/([!-~]{1,510}/)?[\w+=,.@-]{1,64}$`
	AssumeRoleARN string `json:"assumeRoleARN,omitempty"`
}

// OIDCIssuerStatus is what was observed. It also remembers what a deletion will
// need to find.
type OIDCIssuerStatus struct {
	// ObservedGeneration is the generation that the conditions speak of.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Keys are the keys that belong into the published set: those the cluster
	// signs with, those retiring, and those that the spec names. What is here tells
	// how long a published key stays; no key is published because it is here.
	//
	// +optional
	// +listType=map
	// +listMapKey=keyID
	// +kubebuilder:validation:MaxItems=300
	Keys []SigningKey `json:"keys,omitempty"`

	// KeyRecord is the time for which the keys have been watched. A key is taken
	// out of the published set only after retireKeysAfter of it.
	//
	// +optional
	KeyRecord KeyRecord `json:"keyRecord,omitzero"`

	// +optional
	Publication PublicationStatus `json:"publication,omitempty"`

	// Providers are the providers that were seen or made. One stays here until
	// it is seen to be gone, also when the spec no longer names it.
	//
	// +optional
	// +listType=map
	// +listMapKey=accountID
	Providers []ProviderStatus `json:"providers,omitempty"`
}

// PublicationStatus is what is known of the published documents.
type PublicationStatus struct {
	// Bucket is the bucket written to.
	//
	// +optional
	Bucket string `json:"bucket,omitempty"`
	// Created says that Tabard made the bucket.
	//
	// +optional
	Created bool `json:"created,omitempty"`
	// Digest is the SHA-256 (hex) over both documents as wanted.
	//
	// +optional
	Digest string `json:"digest,omitempty"`
	// ObservedAnonymouslyAt is when the documents of this digest were first
	// fetched from the issuer's URL without credentials.
	//
	// +optional
	ObservedAnonymouslyAt *metav1.Time `json:"observedAnonymouslyAt,omitempty"`
}

// ProviderStatus is one IAM OIDC provider.
type ProviderStatus struct {
	// AccountID is the AWS account that knows the provider.
	AccountID string `json:"accountID"`
	// ARN is the provider's ARN.
	ARN string `json:"arn"`
	// AssumeRoleARN is the role through which the account was reached, as it
	// was then; deletion uses it even if the spec has changed.
	//
	// +optional
	AssumeRoleARN string `json:"assumeRoleARN,omitempty"`
	// Created says that Tabard made the provider.
	//
	// +optional
	Created bool `json:"created,omitempty"`
}

// GetConditions returns the stored conditions.
func (i *OIDCIssuer) GetConditions() []metav1.Condition { return i.Status.Conditions }
