package credentials

import (
	"slices"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

// Reference explains the conditions of a CredentialsGrant and every reason. Ready repeats
// the reason of what it waits for.
var Reference = condition.Kind{
	Name: "CredentialsGrant",
	Types: []condition.Type{
		{Name: TypeAccepted, Holds: "the request is understood, is Tabard's to fulfil, and is within its CredentialsBoundary"},
		{Name: TypeRolePresent, Holds: "the role is there with the wanted trust, policy, boundary, tags and session; or somebody else made the identity"},
		{Name: TypeDelivered, Holds: "the Secret or the ServiceAccount leads workloads to the identity"},
		{Name: TypeReady, Holds: "the three above are True"},
		{Name: TypeStaticKeysPresent, Holds: "the Secret holds keys that do not expire; only there if it does"},
		{Name: TypeRoleOutOfSync, Holds: "the role that the request names lacks something that the request asks for; only there with --credentials-read-foreign-roles, on requests that name a role"},
		{Name: TypeAudiencesServed, Holds: "the issuer's OIDC provider knows the audience for which the request's pods ask; on requests for AWS with a Secret, and on others where it does not. It is no part of Ready"},
		{Name: TypeDeletionBlocked, Holds: "the request is deleted and something keeps what was made for it from going; on such grants only"},
	},
	Reasons: slices.Concat(actorReasons, acceptedReasons, boundReasons, roleReasons, deliveredReasons, otherReasons),
}

var actorReasons = []condition.Explanation{
	condition.Explain(ReasonIgnored, accepted, "The providerSpec is for another cloud than the cluster's, or for none that is known.", "Nothing to do: releases bring requests for all clouds."),
	condition.Explain(ReasonProviderSpecMissing, accepted, "The request has no providerSpec.", "Set spec.providerSpec with its apiVersion and kind."),
	condition.Explain(ReasonCCOLive, accepted, "A Cloud Credential Operator is live and fulfils the request.", "Nothing to do, or name a ServiceAccount as target."),
	condition.Explain(ReasonCCOWouldMint, accepted, "A Cloud Credential Operator is live in a mode in which it would make a user with a stored key for the same request.", "Set the credentials mode to Manual, then Tabard makes the role."),
	condition.Explain(ReasonCCOPassthrough, accepted, "A Cloud Credential Operator is live in mode Passthrough.", "Set the credentials mode to Manual, then Tabard makes the role."),
	condition.Explain(ReasonCCOModeUnknown, accepted, "A Cloud Credential Operator is live and its mode cannot be told.", "Repair what the message names."),
	condition.Explain(ReasonNotAdopted, accepted, "A Cloud Credential Operator that is gone had the request.", "Run tabard credentials adopt to have Tabard take it over."),
	condition.Explain(ReasonInvalidTarget, accepted, "The request does not say which Secret or ServiceAccount is meant, or says two.", "Correct the field that the message names."),
	condition.Explain(ReasonPlatformUnknown, accepted, "It is not known what cluster this is, or what its name is.", "Repair what the message names, or set the flag that it names."),
}

var acceptedReasons = []condition.Explanation{
	condition.Explain(ReasonAccepted, accepted, "The request is Tabard's and within its boundary.", "Nothing to do."),
	condition.Explain(ReasonProviderSpecInvalid, accepted, "The providerSpec cannot be read.", "Correct the field that the message names."),
	condition.Explain(ReasonServiceAccountNotAWS, accepted, "The target is a ServiceAccount and the provider is not AWS.", "Name a Secret as target."),
	condition.Explain(ReasonRoleARNInvalid, accepted, "The role that the request names, or is bound to, is no ARN of a role.", "Set stsIAMRoleARN to the ARN of a role, or bind the request to another one."),
	condition.Explain(ReasonNoStatements, accepted, "The request names neither a role nor statements.", "Set statementEntries or stsIAMRoleARN, or run tabard credentials bind."),
	condition.Explain(ReasonNoServiceAccountNames, accepted, "The target is a Secret, and it is not said which ServiceAccounts shall become the role.", "Set spec.serviceAccountNames, or make a role and name it."),
	condition.Explain(ReasonNoIdentity, accepted, "The request names no identity in Azure or Google Cloud, where Tabard makes none.", "Set the fields that the message names, or run tabard credentials bind."),
	condition.Explain(ReasonTokenFieldsMissing, accepted, "The request names an identity in Azure or Google Cloud in part.", "Set the fields that the message names."),
	condition.Explain(ReasonNoIssuer, accepted, "There is no issuer in use whose tokens a role could trust.", "Make an OIDCIssuer with tabard issuer init."),
	condition.Explain(ReasonIssuerNotRegistered, accepted, "The issuer has no OIDC provider in the account of the roles.", "Set spec.providers of its OIDCIssuer, or register the provider that the message names."),
	condition.Explain(ReasonAudienceMissing, accepted+", "+TypeAudiencesServed, "The OIDC provider does not know the audience of the workloads' tokens, so that AWS refuses them.", "Run the command in the message."),
}

var roleReasons = []condition.Explanation{
	condition.Explain(ReasonRolePresent, rolePresent, "The role is as wanted.", "Nothing to do."),
	condition.Explain(ReasonRoleGiven, rolePresent, "Somebody else made the identity, so Tabard makes none.", "Nothing to do."),
	condition.Explain(ReasonRoleMissing, rolePresent, "There is no role yet; it is being made.", "Nothing to do: the next look is seconds away."),
	condition.Explain(ReasonRoleDiffers, rolePresent, "The role is not as wanted; it is being put in order.", "Find who changes the role, if it comes again."),
	condition.Explain(ReasonForeignPolicies, rolePresent+", "+deletionBlocked, "Others gave the role policies, and the controller only reports that.", "Take the policies off, or have the controller enforce."),
	condition.Explain(ReasonRoleNotOurs, rolePresent, "A role of the name is there that is not the request's; it is never touched.", "Delete that role, or give the request another name."),
	condition.Explain(ReasonAccountChanged, rolePresent+", "+deletionBlocked, "The role was made in another account than the controller is in.", "Run the controller in the former account, or delete the role there."),
	condition.Explain(ReasonPermissionsBoundaryMissing, rolePresent, "The policy that is to be the role's permissions boundary does not exist in the account, or AWS does not attach it.", "Run tabard credentials bootstrap, or correct spec.aws.permissionsBoundary of the CredentialsBoundary."),
	condition.Explain(ReasonNotAuthenticated, rolePresent+", "+deletionBlocked, "AWS does not accept the controller's token.", "Run tabard credentials bootstrap with an AWS session of your own."),
	condition.Explain(ReasonAccessDenied, rolePresent+", "+deletionBlocked, "The controller is known to AWS and lacks a right.", "Run tabard credentials bootstrap with an AWS session of your own."),
	condition.Explain(ReasonAWSUnavailable, rolePresent+", "+deletionBlocked, "AWS did not answer, or asked for fewer calls.", "Nothing to do: it is tried again by itself."),
	condition.Explain(ReasonAWSRefused, rolePresent+", "+deletionBlocked, "AWS says that the call cannot succeed as it is.", "Follow AWS's own text in the message; often a quota, or a statement that AWS does not know."),
}

var deliveredReasons = []condition.Explanation{
	condition.Explain(ReasonDelivered, delivered, "The target leads workloads to the identity.", "Nothing to do."),
	condition.Explain(ReasonDelivering, delivered, "The target is being written.", "Nothing to do: the next look is seconds away."),
	condition.Explain(ReasonTargetNamespaceMissing, delivered, "The target's namespace does not exist.", "Create the namespace; then it goes on by itself."),
	condition.Explain(ReasonTargetUnreadable, delivered+", "+deletionBlocked, "The target could not be read or written just now.", "Nothing to do if it passes; else grant the controller the right that the message names."),
	condition.Explain(ReasonTargetRefused, delivered+", "+deletionBlocked, "The API server refuses to write the target.", "Follow the API server's own text in the message; often a policy of admission."),
	condition.Explain(ReasonTargetDeleting, delivered, "The target is being deleted; it is made anew when it is gone.", "Nothing to do."),
	condition.Explain(ReasonTargetOfAnother, delivered, "The target is that of another request.", "Delete one of the two requests, or name another target."),
	condition.Explain(ReasonServiceAccountHasRole, delivered, "Somebody else gave the ServiceAccount a role.", "Take the annotation off, or name another ServiceAccount."),
	condition.Explain(ReasonSecretConflict, delivered, "The Secret is there and is not the request's to write.", "Delete it, name another Secret, or follow the message to give it to the request."),
	condition.Explain(ReasonSecretImmutable, delivered, "The Secret is immutable and holds something else than is wanted.", "Delete it; then it is made anew."),
}

var otherReasons = []condition.Explanation{
	condition.Explain(ReasonNotReached, rolePresent+", "+delivered, "The condition was not looked at, because something else stands in the way. No role is made as long as none of its targets can be written.", "Mend what the Ready condition names."),
	condition.Explain(ReasonReady, TypeReady, "Workloads find the identity, and it is as wanted.", "Nothing to do."),
	condition.Explain(ReasonStaticKeys, TypeStaticKeysPresent, "The Secret holds a static key beside the token configuration.", "Follow the message: the Secret's owner says when it may go."),
	condition.Explain(ReasonRoleOutOfSync, TypeRoleOutOfSync, "The role that somebody else made lacks a right or a trust that the request needs.", "Change the role as the message says; tabard credentials render prints one that fits."),
	condition.Explain(ReasonRoleInSync, TypeRoleOutOfSync, "The role allows what the request asks for and trusts whom it names.", "Nothing to do."),
	condition.Explain(ReasonRoleSyncUndecided, TypeRoleOutOfSync, "It cannot be decided whether the role allows what the request asks for.", "Compare the role with tabard credentials render."),
	condition.Explain(ReasonRoleUnread, TypeRoleOutOfSync, "The role could not be read.", "Give the controller's role the rights that the message names: iam:GetRole, iam:ListRolePolicies, iam:GetRolePolicy, iam:ListAttachedRolePolicies, iam:GetPolicy and iam:GetPolicyVersion."),
	condition.Explain(ReasonAudiencesServed, TypeAudiencesServed, "The OIDC provider knows the audience for which the request's pods ask.", "Nothing to do."),
	condition.Explain(ReasonAudiencePending, TypeAudiencesServed, "The OIDCIssuer names the audience, and its OIDC provider does not know it yet.", "Nothing to do if it passes; else look at ProviderReady of the OIDCIssuer."),
	condition.Explain(ReasonAudiencesUnknown, TypeAudiencesServed, "The OIDC provider lacks an audience, and it is not known whether the request's pods ask for it: their token is at a path of the request's own.", "Run the command in the message, if the pods ask for that audience."),
	condition.Explain(ReasonDeleting, accepted+", "+rolePresent+", "+delivered+", "+deletionBlocked, "The request is deleted, and what was made for it is being taken back.", "Nothing to do, unless DeletionBlocked is True."),
}

// Names of condition types as they are joined in the table.
const (
	accepted        = TypeAccepted
	rolePresent     = TypeRolePresent
	delivered       = TypeDelivered
	deletionBlocked = TypeDeletionBlocked
)
