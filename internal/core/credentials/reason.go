package credentials

import "github.com/tabard-dev/tabard/internal/core/condition"

// Reason is the machine-readable state that a condition of a CredentialsGrant gives.
// The list is closed: each one is explained in Reference.
type Reason = condition.Reason

// Condition types of a grant.
const (
	// TypeAccepted: the request is understood, is Tabard's, and within its boundary.
	TypeAccepted = "Accepted"
	// TypeRolePresent: the role is there as wanted.
	TypeRolePresent = "RolePresent"
	// TypeDelivered: workloads find the credentials.
	TypeDelivered = "Delivered"
	// TypeReady sums up the three.
	TypeReady = "Ready"
	// TypeStaticKeysPresent: the Secret still holds keys that do not expire.
	TypeStaticKeysPresent = "StaticKeysPresent"
	// TypeRoleOutOfSync: a role that somebody else made lacks what the request asks for.
	TypeRoleOutOfSync = "RoleOutOfSync"
	// TypeAudiencesServed: AWS accepts the tokens that the request's pods ask for.
	TypeAudiencesServed = "AudiencesServed"
	// TypeDeletionBlocked: something keeps the deletion from its end.
	TypeDeletionBlocked = "DeletionBlocked"
)

// Reasons of TypeRoleOutOfSync, of which True is the bad one.
const (
	ReasonRoleOutOfSync     Reason = "RoleOutOfSync"
	ReasonRoleInSync        Reason = "RoleInSync"
	ReasonRoleSyncUndecided Reason = "RoleSyncUndecided"
	ReasonRoleUnread        Reason = "RoleUnread"
)

// Reasons of TypeAudiencesServed, beside ReasonAudienceMissing.
const (
	ReasonAudiencesServed  Reason = "AudiencesServed"
	ReasonAudiencePending  Reason = "AudiencePending"
	ReasonAudiencesUnknown Reason = "AudiencesUnknown"
)

// Reasons of who acts: see Act. They are told by conditions of the grant, by events or
// by nothing, as the actor is.
const (
	ReasonIgnored             Reason = "Ignored"
	ReasonProviderSpecMissing Reason = "ProviderSpecMissing"
	ReasonCCOLive             Reason = "CloudCredentialOperatorLive"
	ReasonCCOWouldMint        Reason = "CloudCredentialOperatorWouldMint"
	ReasonCCOPassthrough      Reason = "CloudCredentialOperatorPassthrough"
	ReasonCCOModeUnknown      Reason = "CloudCredentialOperatorModeUnknown"
	ReasonNotAdopted          Reason = "NotAdopted"
	ReasonInvalidTarget       Reason = "InvalidTarget"
	ReasonPlatformUnknown     Reason = "PlatformUnknown"
)

// Reasons of TypeAccepted.
const (
	ReasonAccepted              Reason = "Accepted"
	ReasonProviderSpecInvalid   Reason = "ProviderSpecInvalid"
	ReasonServiceAccountNotAWS  Reason = "ServiceAccountOnlyOnAWS"
	ReasonRoleARNInvalid        Reason = "RoleARNInvalid"
	ReasonNoStatements          Reason = "NoStatements"
	ReasonNoServiceAccountNames Reason = "NoServiceAccountNames"
	ReasonNoIdentity            Reason = "NoIdentity"
	ReasonTokenFieldsMissing    Reason = "TokenFieldsMissing"
	ReasonNoIssuer              Reason = "NoIssuer"
	ReasonIssuerNotRegistered   Reason = "IssuerNotRegistered"
	ReasonAudienceMissing       Reason = "AudienceMissing"
)

// Reasons of TypeRolePresent.
const (
	ReasonRolePresent     Reason = "RolePresent"
	ReasonRoleGiven       Reason = "RoleGiven"
	ReasonRoleMissing     Reason = "RoleMissing"
	ReasonRoleDiffers     Reason = "RoleDiffers"
	ReasonForeignPolicies Reason = "ForeignPolicies"
	ReasonRoleNotOurs     Reason = "RoleNotOurs"
	ReasonAccountChanged  Reason = "AccountChanged"
	// ReasonPermissionsBoundaryMissing: the policy that bounds the role is not in the account.
	ReasonPermissionsBoundaryMissing Reason = "PermissionsBoundaryMissing"
)

// Reasons that concern AWS as a whole.
const (
	ReasonNotAuthenticated Reason = "NotAuthenticated"
	ReasonAccessDenied     Reason = "AccessDenied"
	ReasonAWSUnavailable   Reason = "AWSUnavailable"
	ReasonAWSRefused       Reason = "AWSRefused"
)

// Reasons of TypeDelivered.
const (
	ReasonDelivered              Reason = "Delivered"
	ReasonDelivering             Reason = "Delivering"
	ReasonTargetNamespaceMissing Reason = "TargetNamespaceMissing"
	ReasonTargetUnreadable       Reason = "TargetUnreadable"
	ReasonTargetRefused          Reason = "TargetRefused"
	ReasonTargetDeleting         Reason = "TargetDeleting"
	ReasonTargetOfAnother        Reason = "TargetOfAnother"
	ReasonServiceAccountHasRole  Reason = "ServiceAccountHasRole"
	ReasonSecretConflict         Reason = "SecretConflict"
	ReasonSecretImmutable        Reason = "SecretImmutable"
)

// Reasons of several types, and of the others.
const (
	ReasonNotReached Reason = "NotReached"
	ReasonReady      Reason = "Ready"
	ReasonStaticKeys Reason = "StaticKeys"
	ReasonDeleting   Reason = "Deleting"
)
