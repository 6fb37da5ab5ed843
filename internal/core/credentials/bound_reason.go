package credentials

import "github.com/tabard-dev/tabard/internal/core/condition"

// Reasons of TypeAccepted that are about the request's CredentialsBoundary.
const (
	ReasonNoBoundary            Reason = "NoBoundary"
	ReasonAmbiguousBoundary     Reason = "AmbiguousBoundary"
	ReasonBoundaryInvalid       Reason = "BoundaryInvalid"
	ReasonCeilingInvalid        Reason = "CeilingInvalid"
	ReasonCeilingTooWide        Reason = "CeilingTooWide"
	ReasonBeyondAWSBoundary     Reason = "BeyondAWSBoundary"
	ReasonTooManyRequests       Reason = "TooManyRequests"
	ReasonTargetNotAllowed      Reason = "TargetNotAllowed"
	ReasonTokenPathInvalid      Reason = "TokenPathInvalid"
	ReasonRoleARNNotAllowed     Reason = "RoleARNNotAllowed"
	ReasonNoPermissionsBoundary Reason = "NoPermissionsBoundary"
	ReasonStatementInvalid      Reason = "StatementInvalid"
	ReasonTooLong               Reason = "TooLong"
	ReasonBeyondCeiling         Reason = "BeyondCeiling"
	ReasonCeilingUndecidable    Reason = "CeilingUndecidable"
	ReasonReachesProtected      Reason = "ReachesProtected"
	// ReasonIssuerNotKept is of a CredentialsBoundary.
	ReasonIssuerNotKept Reason = "IssuerBucketNotKept"
)

// boundReasons explain the reasons of Bound.
var boundReasons = []condition.Explanation{
	condition.Explain(ReasonNoBoundary, accepted, "No CredentialsBoundary is for the request's namespace.", "Have an administrator make one; examples/credentials has three."),
	condition.Explain(ReasonAmbiguousBoundary, accepted, "Two CredentialsBoundaries say the same of the request's namespace.", "Have an administrator leave the namespace in one of them."),
	condition.Explain(ReasonBoundaryInvalid, accepted, "The CredentialsBoundary cannot be used.", "Have an administrator correct the field that the message names."),
	condition.Explain(ReasonCeilingInvalid, accepted, "The CredentialsBoundary's ceiling is no policy that AWS would take, or has a condition whose meaning AWS does not state.", "Have an administrator correct spec.aws.ceiling."),
	condition.Explain(ReasonCeilingTooWide, accepted, "The CredentialsBoundary's ceiling does not list services and resources.", "Have an administrator write the services and ARNs that are meant."),
	condition.Explain(ReasonBeyondAWSBoundary, accepted, "The CredentialsBoundary goes beyond what AWS lets the controller or its roles do.", "Have an administrator correct the field that the message names, or run tabard credentials bootstrap with another path."),
	condition.Explain(ReasonTooManyRequests, accepted, "The namespace has more requests than its CredentialsBoundary allows.", "Delete some, or have an administrator raise spec.maxRequests."),
	condition.Explain(ReasonTargetNotAllowed, accepted, "The request names a target in a namespace that it may not write to.", "Name a target of the request's own namespace, or have an administrator allow the other one."),
	condition.Explain(ReasonTokenPathInvalid, accepted, "The path of the token is none that can be written to a configuration file.", "Set spec.cloudTokenPath to an absolute path without spaces."),
	condition.Explain(ReasonRoleARNNotAllowed, accepted, "The CredentialsBoundary does not allow the role that the request names.", "Name another role, or have an administrator add it to spec.aws.roleARNPatterns."),
	condition.Explain(ReasonNoPermissionsBoundary, accepted, "There is no policy for the permissions boundary of the role.", "Run tabard credentials bootstrap, or set spec.aws.permissionsBoundary."),
	condition.Explain(ReasonStatementInvalid, accepted, "A statement of the request has a misspelt field, is none that AWS would take, or has a condition whose meaning AWS does not state.", "Correct the field that the message names."),
	condition.Explain(ReasonTooLong, accepted, "The role would exceed a limit of AWS: of its policy, its trust policy, or its tags.", "Ask for less, as the message says."),
	condition.Explain(ReasonBeyondCeiling, accepted, "A statement allows more than the CredentialsBoundary's ceiling.", "Ask for less, or have an administrator raise the ceiling."),
	condition.Explain(ReasonCeilingUndecidable, accepted, "It cannot be decided whether the statements are within the ceiling.", "Write them with fewer wildcards, variables and conditions."),
	condition.Explain(ReasonReachesProtected, accepted, "The statements can reach an issuer's bucket or provider, or Tabard's own roles or policies, and the role's permissions boundary does not deny it in AWS. If the role has a policy that does, it is taken away.", "Have an administrator run tabard credentials bootstrap, whose policy denies it, or name resources that leave these out."),
}
