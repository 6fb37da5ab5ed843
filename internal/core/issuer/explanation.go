package issuer

import "github.com/tabard-dev/tabard/internal/core/condition"

// Reference explains the conditions of an OIDCIssuer and every reason, in the order
// of the chain. Ready repeats the reason of what it waits for.
var Reference = condition.Kind{
	Name: "OIDCIssuer",
	Types: []condition.Type{
		{Name: TypePublished, Holds: "both documents were fetched from the issuer's URL without credentials, and are what was written (L1 publication)"},
		{Name: TypeKeysInSync, Holds: "every key that the cluster signs with is published (L0 issuer, L1 publication)"},
		{Name: TypeProviderReady, Holds: "every wanted AWS account knows the issuer with the wanted audiences (L2 provider)"},
		{Name: TypeReady, Holds: "the three above are True, and a token requested just now verifies against the public documents"},
		{Name: TypeDeletionBlocked, Holds: "the object is being deleted and something is in the way; on such objects only"},
	},
	Reasons: reasons,
}

var reasons = []condition.Explanation{
	condition.Explain(ReasonPublished, published, "Both documents were fetched from the issuer's URL without credentials and are what was written.", "Nothing to do."),
	condition.Explain(ReasonInSync, keysInSync, "Every key that the cluster signs with is published.", "Nothing to do."),
	condition.Explain(ReasonRegistered, providerReady, "Every wanted account knows the issuer with the wanted audiences.", "Nothing to do."),
	condition.Explain(ReasonNotRequested, providerReady, "spec.providers is empty, so the issuer is published and not registered.", "Nothing to do, or add an entry to spec.providers."),
	condition.Explain(ReasonVerified, ready, "A token requested just now verifies against the documents that anybody sees.", "Nothing to do."),

	condition.Explain(ReasonInvalidSpec, published, "A field of the spec cannot be used; nothing is done outside the cluster.", "Correct the field that the message names."),
	condition.Explain(ReasonDuplicateURL, published, "An older OIDCIssuer has the same URL; this one does nothing.", "Delete one of the two."),
	condition.Explain(ReasonDuplicateLocation, published, "An older OIDCIssuer publishes to the same bucket and prefix; this one does nothing.", "Give this one a bucket or a prefix of its own."),
	condition.Explain(ReasonDuplicateAccount, providerReady, "Two entries of spec.providers lead to the same AWS account.", "Make one entry of the two, with the audiences of both."),
	condition.Explain(ReasonNotReached, published+", "+keysInSync+", "+providerReady, "The condition was not looked at, because something before it stands in the way.", "Mend what the Ready condition names."),

	condition.Explain(ReasonNotAuthenticated, published+", "+providerReady+", "+deletionBlocked, "AWS does not accept the operator's token, or the operator may not assume a role.", "Run tabard issuer bootstrap with an AWS session of your own; it repairs documents, provider and role."),
	condition.Explain(ReasonAccessDenied, published+", "+providerReady+", "+deletionBlocked, "The operator is known to AWS and lacks a right.", "Grant the right that the message names, or run tabard issuer bootstrap."),
	condition.Explain(ReasonAWSUnavailable, published+", "+providerReady+", "+deletionBlocked, "AWS did not answer, or asked for fewer calls.", "Nothing to do: it is tried again by itself."),
	condition.Explain(ReasonAWSRefused, published+", "+providerReady+", "+deletionBlocked, "AWS says that the request cannot succeed as it is.", "Follow AWS's own text in the message; often a quota or a field of the spec."),

	condition.Explain(ReasonBucketMissing, published, "There is no such bucket, and it is not made: spec.publication.s3.create is false, or AWS refuses it.", "Create the bucket, set create to true, or grant what the message names; if documents were published in it, at once: AWS soon accepts no token, and everybody can take the name."),
	condition.Explain(ReasonDocumentsMissing, published, "A document that was published is not in the bucket any more, and could not be written anew.", "Act at once, as AWS soon accepts no token: grant what the message names, or run tabard issuer bootstrap."),
	condition.Explain(ReasonBucketNotYours, published+", "+deletionBlocked, "The bucket's name is taken by another AWS account.", "Choose another bucket name; if documents were published in the bucket before, do at once what the message says."),
	condition.Explain(ReasonBucketOfAnotherIssuer, published, "The bucket carries the ownership tag of another issuer.", "Choose another bucket, or remove the tag if the other issuer is gone."),
	condition.Explain(ReasonBucketChanged, published+", "+deletionBlocked, "The spec names another bucket than the one that documents were published to.", "Set the old bucket again, or delete the object with deletionPolicy Retain and create it anew."),
	condition.Explain(ReasonBucketPolicyUnreadable, published, "The bucket's policy could not be understood, so no statement is added to it.", "Repair the bucket policy."),
	condition.Explain(ReasonWrongRegion, published, "The bucket is in another region than the spec says.", "Set spec.publication.s3.region to the bucket's region."),
	condition.Explain(ReasonPublicAccessBlocked, published, "S3 Block Public Access of the account or organisation forbids a public bucket policy.", "Allow public policies for the account, or set publicRead to None and serve the documents through a CDN."),
	condition.Explain(ReasonPublicReadMissing, published, "The documents are in a bucket that Tabard did not create, and nobody may read them.", "Add the statement in the message to the bucket's policy."),
	condition.Explain(ReasonPublishing, published, "The documents or the bucket are not yet as wanted; they are being written.", "Nothing to do: the next look is seconds away."),
	condition.Explain(ReasonNotReachableFromHere, published+", "+keysInSync, "The issuer's URL gave no usable answer from where the operator runs.", "Fetch the URL from elsewhere; if that works, allow the operator to reach it."),
	condition.Explain(ReasonNotReadable, published, "The issuer's URL answers that the documents may not be read or are not there.", "Check that the URL leads to the bucket and prefix, and that the CDN may read them."),
	condition.Explain(ReasonNotYetVisible, published, "The issuer's URL still shows an older version of the documents.", "Wait for the cache in between, or invalidate it."),
	condition.Explain(ReasonDocumentsDiffer, published, "The issuer's URL shows documents that are not this issuer's.", "Check where the URL leads and who else publishes there."),
	condition.Explain(ReasonRedirected, published, "The issuer's URL redirects elsewhere instead of showing the document.", "Let what serves the URL answer by itself: do not rely on a cloud to follow."),

	condition.Explain(ReasonNoKeys, keysInSync+", "+published, "The key source holds no key.", "Check the API server's service account keys, or the ConfigMap."),
	condition.Explain(ReasonPrivateKeyInSource, keysInSync, "The key source holds a private key; nothing of it is used.", "Remove the private key, put the public key there, and replace the key pair: it has leaked."),
	condition.Explain(ReasonWeakKey, keysInSync, "The key source holds an RSA key of less than 2048 bits.", "Replace the key by one of at least 2048 bits."),
	condition.Explain(ReasonUnsupportedKey, keysInSync, "The key source holds something else than RSA or EC public keys.", "Use RSA keys, or EC keys on P-256, P-384 or P-521."),
	condition.Explain(ReasonKeyUnreadable, keysInSync, "The key source holds something that is no key.", "Correct the entry that the message names."),
	condition.Explain(ReasonTooManyKeys, keysInSync, "There are more than 100 keys, which AWS does not accept in one document.", "Remove keys that no longer sign."),
	condition.Explain(ReasonDuplicateKeyID, keysInSync, "Two different keys have the same key ID.", "Give each key an ID of its own."),
	condition.Explain(ReasonKeySourceMissing, keysInSync, "The ConfigMap that spec.keys names does not exist.", "Create it, or correct spec.keys.configMap."),
	condition.Explain(ReasonKeySourceUnreadable, keysInSync, "The ConfigMap that spec.keys names could not be read.", "Grant the operator get on it."),
	condition.Explain(ReasonAPIServerUnreachable, keysInSync, "An API server did not tell its keys, so no key is retired.", "Bring the API server back, or remove its address."),
	condition.Explain(ReasonKeyNotPublished, keysInSync, "A key that the API server shows is not in the published document; it is being written.", "Do not sign with it yet; where it signs already, sign with the old key again. If it stays, see IssuerPublished."),
	condition.Explain(ReasonSigningKeyUnknown, keysInSync, "The cluster signs tokens with a key that its key source does not show.", "Add the key to the source; with several API servers, give all of them the same keys."),
	condition.Explain(ReasonClockDiffers, keysInSync, "A token requested just now was issued more than five minutes from now by the operator's clock, so no key is retired.", "Set the clocks of the operator's node and of the API server by NTP."),
	condition.Explain(ReasonKeyRevoked, keysInSync, "A key that spec.keys.revoked names is still published, or an API server still signs with it or accepts it.", "Follow the message: sign with another key, then take the revoked one out of every API server's --service-account-key-file; docs/leaked-signing-key.md has the order."),
	condition.Explain(ReasonForeignKey, keysInSync+", "+deletionBlocked, "The keys document holds a key that neither the cluster had nor the spec names. In a bucket that Tabard made it is taken out after retireKeysAfter, in others it is left.", "If somebody needs the key, add it to spec.keys.additional; if nobody does, drop it at once with tabard issuer bootstrap --drop-foreign-keys: whoever holds it can become anybody."),

	condition.Explain(ReasonWaitingForPublication, providerReady, "The issuer is registered once its documents can be fetched.", "See IssuerPublished."),
	condition.Explain(ReasonProviderNotRegistered, providerReady, "An account does not know the issuer; it is being registered, or AWS refuses that.", "If it stays, see the message."),
	condition.Explain(ReasonProviderNotOurs, providerReady+", "+deletionBlocked, "Somebody else registered the issuer in the account, so it is not changed.", "Run the command in the message."),
	condition.Explain(ReasonProviderUnwanted, providerReady, "A provider that the spec no longer wants is being removed.", "Nothing to do: the next look is seconds away."),
	condition.Explain(ReasonProviderTrusted, providerReady+", "+deletionBlocked, "Trust policies of roles still mention the provider.", "Change the trust policies that the message names, then it goes on by itself within ten minutes."),
	condition.Explain(ReasonAudiencesDiffer, providerReady, "A provider has other audiences than the spec; they are being changed.", "If it stays, see the message."),
	condition.Explain(ReasonIssuerMismatch, ready, "The cluster's tokens name another issuer than spec.url.", "Set kube-apiserver's --service-account-issuer to spec.url, or make an OIDCIssuer with the tokens' issuer."),
	condition.Explain(ReasonTokenUnavailable, ready, "An API server gave the operator no token of its own ServiceAccount.", "Bring the API server that the message names back, or grant create on serviceaccounts/token for the operator's ServiceAccount."),
	condition.Explain(ReasonTokenNotVerified, ready, "A fresh token of an API server does not verify against the published documents.", "See the message: it names the API server, and the key, the claim or the clock."),

	condition.Explain(ReasonDeleting, published+", "+keysInSync+", "+providerReady+", "+deletionBlocked, "The object is being deleted.", "Nothing to do, unless DeletionBlocked is True."),
	condition.Explain(ReasonBucketNotEmpty, deletionBlocked, "The bucket holds objects of others, so its name cannot be given up.", "Remove them, or set spec.publication.s3.releaseName to false; then the bucket stays."),
}

// Names of condition types as they are joined in the table.
const (
	published       = TypePublished
	keysInSync      = TypeKeysInSync
	providerReady   = TypeProviderReady
	ready           = TypeReady
	deletionBlocked = TypeDeletionBlocked
)
