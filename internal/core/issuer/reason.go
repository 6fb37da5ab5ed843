package issuer

import "github.com/tabard-dev/tabard/internal/core/condition"

// Reason is the machine-readable state that a condition gives. The list is
// closed: each one is explained in Reference.
type Reason = condition.Reason

// Reasons of healthy conditions.
const (
	ReasonPublished    Reason = "Published"
	ReasonInSync       Reason = "InSync"
	ReasonRegistered   Reason = "Registered"
	ReasonNotRequested Reason = "NotRequested"
	ReasonVerified     Reason = "Verified"
)

// Reasons that concern the object itself.
const (
	ReasonInvalidSpec       Reason = "InvalidSpec"
	ReasonDuplicateURL      Reason = "DuplicateURL"
	ReasonDuplicateLocation Reason = "DuplicateLocation"
	ReasonDuplicateAccount  Reason = "DuplicateAccount"
	ReasonNotReached        Reason = "NotReached"
)

// Reasons that concern AWS as a whole.
const (
	ReasonNotAuthenticated Reason = "NotAuthenticated"
	ReasonAccessDenied     Reason = "AccessDenied"
	ReasonAWSUnavailable   Reason = "AWSUnavailable"
	ReasonAWSRefused       Reason = "AWSRefused"
)

// Reasons that concern the publication (L1).
const (
	ReasonBucketMissing          Reason = "BucketMissing"
	ReasonDocumentsMissing       Reason = "DocumentsMissing"
	ReasonBucketNotYours         Reason = "BucketNotYours"
	ReasonBucketOfAnotherIssuer  Reason = "BucketOfAnotherIssuer"
	ReasonBucketChanged          Reason = "BucketChanged"
	ReasonBucketPolicyUnreadable Reason = "BucketPolicyUnreadable"
	ReasonWrongRegion            Reason = "WrongRegion"
	ReasonPublicAccessBlocked    Reason = "PublicAccessBlocked"
	ReasonPublicReadMissing      Reason = "PublicReadMissing"
	ReasonPublishing             Reason = "Publishing"
	ReasonNotReachableFromHere   Reason = "NotReachableFromHere"
	ReasonNotReadable            Reason = "NotReadable"
	ReasonNotYetVisible          Reason = "NotYetVisible"
	ReasonDocumentsDiffer        Reason = "DocumentsDiffer"
	ReasonRedirected             Reason = "Redirected"
)

// Reasons that concern the keys (L0 and L1).
const (
	ReasonNoKeys               Reason = "NoKeys"
	ReasonPrivateKeyInSource   Reason = "PrivateKeyInSource"
	ReasonWeakKey              Reason = "WeakKey"
	ReasonUnsupportedKey       Reason = "UnsupportedKey"
	ReasonKeyUnreadable        Reason = "KeyUnreadable"
	ReasonTooManyKeys          Reason = "TooManyKeys"
	ReasonDuplicateKeyID       Reason = "DuplicateKeyID"
	ReasonKeySourceMissing     Reason = "KeySourceMissing"
	ReasonKeySourceUnreadable  Reason = "KeySourceUnreadable"
	ReasonAPIServerUnreachable Reason = "APIServerUnreachable"
	ReasonKeyNotPublished      Reason = "KeyNotPublished"
	ReasonSigningKeyUnknown    Reason = "SigningKeyUnknown"
	ReasonForeignKey           Reason = "ForeignKey"
	ReasonClockDiffers         Reason = "ClockDiffers"
	ReasonKeyRevoked           Reason = "KeyRevoked"
)

// Reasons that concern the provider (L2) and the token.
const (
	ReasonWaitingForPublication Reason = "WaitingForPublication"
	ReasonProviderNotRegistered Reason = "ProviderNotRegistered"
	ReasonProviderNotOurs       Reason = "ProviderNotOurs"
	ReasonProviderUnwanted      Reason = "ProviderUnwanted"
	ReasonProviderTrusted       Reason = "ProviderTrusted"
	ReasonAudiencesDiffer       Reason = "AudiencesDiffer"
	ReasonIssuerMismatch        Reason = "IssuerMismatch"
	ReasonTokenUnavailable      Reason = "TokenUnavailable"
	ReasonTokenNotVerified      Reason = "TokenNotVerified"
)

// Reasons that concern the deletion.
const (
	ReasonDeleting       Reason = "Deleting"
	ReasonBucketNotEmpty Reason = "BucketNotEmpty"
)
