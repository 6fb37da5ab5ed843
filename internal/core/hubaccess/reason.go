package hubaccess

import "github.com/tabard-dev/tabard/internal/core/condition"

// Reason is the machine-readable state that the condition of a HubAccess gives. The list
// is closed: each one is explained in Reference.
type Reason = condition.Reason

// TypeReady is the condition of a HubAccess: the cluster's agents have the access that
// they shall have.
const TypeReady = "Ready"

// Reasons of access that is as it shall be.
const (
	ReasonAccessGiven   Reason = "AccessGiven"
	ReasonMadeByHand    Reason = "MadeByHand"
	ReasonExternal      Reason = "External"
	ReasonNoAnnotations Reason = "NoAnnotations"
)

// Reasons of what goes on by itself.
const (
	ReasonAccessDiffers       Reason = "AccessDiffers"
	ReasonRoleNotYetEffective Reason = "RoleNotYetEffective"
	ReasonRemoving            Reason = "Removing"
)

// Reasons of managed IAM as a whole.
const (
	ReasonManagedIAMDisabled Reason = "ManagedIAMDisabled"
	ReasonManagedIAMUnknown  Reason = "ManagedIAMUnknown"
	ReasonActedOnByOCM       Reason = "ActedOnByOCM"
	ReasonHubARNMissing      Reason = "HubARNMissing"
	ReasonHubChanged         Reason = "HubChanged"
)

// Reasons of what the ManagedCluster says of itself.
const (
	ReasonAnnotationsMalformed  Reason = "AnnotationsMalformed"
	ReasonAnnotationsMismatched Reason = "AnnotationsMismatched"
	ReasonAnnotationsChanged    Reason = "AnnotationsChanged"
	ReasonSuffixInUse           Reason = "SuffixInUse"
)

// Reasons of what stands in the way.
const (
	ReasonRoleNotOurs      Reason = "RoleNotOurs"
	ReasonEntryNotOurs     Reason = "EntryNotOurs"
	ReasonSpokeRoleMissing Reason = "SpokeRoleMissing"
	ReasonRoleInUse        Reason = "RoleInUse"
	ReasonWaitingForWorks  Reason = "WaitingForWorks"
	ReasonWorksUnread      Reason = "WorksUnread"
)

// Reasons that concern AWS as a whole.
const (
	ReasonNotAuthenticated Reason = "NotAuthenticated"
	ReasonAccessDenied     Reason = "AccessDenied"
	ReasonAWSUnavailable   Reason = "AWSUnavailable"
	ReasonAWSRefused       Reason = "AWSRefused"
)
