package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KeySourceType names a place where signing keys are read.
//
// +kubebuilder:validation:Enum=APIServer;ConfigMap
type KeySourceType string

// Key sources.
const (
	// KeySourceAPIServer reads /openid/v1/jwks of every API server address.
	KeySourceAPIServer KeySourceType = "APIServer"
	// KeySourceConfigMap reads PEM public keys, as in OpenShift's
	// openshift-kube-apiserver/bound-sa-token-signing-certs.
	KeySourceConfigMap KeySourceType = "ConfigMap"
)

// KeySource says where the public signing keys are read.
//
// +kubebuilder:validation:XValidation:rule="self.source != 'ConfigMap' || has(self.configMap)",message="keys.configMap is required when keys.source is ConfigMap"
type KeySource struct {
	// +optional
	// +kubebuilder:default=APIServer
	Source KeySourceType `json:"source,omitempty"`

	// ConfigMap holds the keys when source is ConfigMap: every value is one or
	// more PEM blocks of type PUBLIC KEY.
	//
	// +optional
	ConfigMap *ConfigMapReference `json:"configMap,omitempty"`

	// Additional are public keys to publish beside those of the source: the next key,
	// before any API server has it, or the keys of another cluster with this issuer.
	// Each entry is one or more PEM blocks of type PUBLIC KEY. A key that leaves the
	// list stays published for retireKeysAfter.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=4096
	// +kubebuilder:validation:items:Pattern=`^\s*-----BEGIN PUBLIC KEY-----`
	// +kubebuilder:validation:items:XValidation:rule="!self.contains('PRIVATE KEY')",message="additional holds public keys only: this one is private and must be replaced, as it has been shown to the API server"
	Additional []string `json:"additional,omitempty"`

	// Revoked are keys that must not be published any more, whatever shows them: they
	// are taken out at once, and nothing puts them in again. Tokens signed with them
	// are refused. Leave an entry here for as long as anybody may have the key.
	//
	// +optional
	// +listType=map
	// +listMapKey=keyID
	// +kubebuilder:validation:MaxItems=100
	Revoked []RevokedKey `json:"revoked,omitempty"`
}

// RevokedKey is a key that must not be published.
type RevokedKey struct {
	// KeyID is the key's ID, as in status.keys.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	KeyID string `json:"keyID"`

	// Force takes the key out although an API server signs with it, or the operator's
	// own token for AWS is signed with it. Then every token of the cluster is refused,
	// the operator's too: tabard issuer bootstrap, run with an AWS session of your own,
	// publishes the next key.
	//
	// +optional
	Force bool `json:"force,omitempty"`
}

// ConfigMapReference names a ConfigMap.
type ConfigMapReference struct {
	// +kubebuilder:validation:MinLength=1
	Namespace string `json:"namespace"`
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// KeyState is a published key's place in its life.
//
// +kubebuilder:validation:Enum=Active;Additional;Retiring;Revoked
type KeyState string

// Key states.
const (
	// KeyActive: the API server trusts tokens signed with it.
	KeyActive KeyState = "Active"
	// KeyRetiring: gone from the API server, published until the tokens that it
	// signed have expired.
	KeyRetiring KeyState = "Retiring"
	// KeyAdditional: spec.keys.additional names it, and no API server shows it.
	KeyAdditional KeyState = "Additional"
	// KeyRevoked: spec.keys.revoked names it.
	KeyRevoked KeyState = "Revoked"
)

// SigningKey is one public key of the cluster's token signer.
type SigningKey struct {
	// KeyID is the key's ID as Kubernetes computes it: SHA-256 of the PKIX DER
	// form, base64url without padding. An external signer may choose its own.
	//
	// +kubebuilder:validation:MaxLength=1024
	KeyID string `json:"keyID"`
	// Algorithm is the JWS algorithm: RS256, ES256, ES384 or ES512.
	//
	// +kubebuilder:validation:MaxLength=16
	Algorithm string `json:"algorithm"`
	// JWK is the public key as published.
	//
	// +kubebuilder:validation:MaxLength=8192
	JWK string `json:"jwk"`
	// State is Active, Additional, Retiring or Revoked.
	State KeyState `json:"state"`
	// FirstSeen is when the key was first read from the key source.
	FirstSeen metav1.Time `json:"firstSeen"`
	// LastSeen is when the key was last read from the key source, kept to
	// within ten minutes so that status does not change at every look.
	LastSeen metav1.Time `json:"lastSeen"`
	// RetiringSince is when a retiring key was seen gone from every API server,
	// and none signed with it. Its time runs from then, or from keyRecord.since if
	// that is later.
	//
	// +optional
	RetiringSince *metav1.Time `json:"retiringSince,omitempty"`
	// ReadableSince is when a document with the key was first fetched from the
	// issuer's URL without credentials. No cloud can know the key before.
	//
	// +optional
	ReadableSince *metav1.Time `json:"readableSince,omitempty"`
}

// KeyRecord is a time in which no key of the cluster went unseen: there was a look
// at the keys and at a fresh token of every API server at least every half an hour,
// on a clock that agreed with the tokens.
type KeyRecord struct {
	// Since is when the first look after the last gap was.
	//
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// LastLook is when the last look was, kept to within ten minutes so that status
	// does not change at every look.
	//
	// +optional
	LastLook *metav1.Time `json:"lastLook,omitempty"`
}
