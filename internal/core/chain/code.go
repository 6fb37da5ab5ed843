package chain

// Code names a kind of finding. A code never changes its meaning.
type Code string

// The codes.
const (
	CodeIssuerURL        Code = "L0-ISSUER-URL"
	CodeNotPublic        Code = "L1-NOT-PUBLIC"
	CodeDocument         Code = "L1-DOCUMENT"
	CodeKeyMissing       Code = "L1-KEY-MISSING"
	CodeKeysDiffer       Code = "L1-KEYS-DIFFER"
	CodeNoProvider       Code = "L2-NO-PROVIDER"
	CodeProviderAudience Code = "L2-AUDIENCE"
	CodeNoAccount        Code = "L3-NO-SERVICEACCOUNT"
	CodeNoRole           Code = "L3-NO-ROLE"
	CodeAnnotationSlip   Code = "L3-ANNOTATION-SLIP"
	CodeRoleARN          Code = "L3-ROLE-ARN"
	CodeNoWebhook        Code = "L4-NO-WEBHOOK"
	CodeNotAsked         Code = "L4-NOT-ASKED"
	CodeAuthorityExpired Code = "L4-CA-EXPIRED"
	CodeNoAnswer         Code = "L4-NO-ANSWER"
	CodeOtherRole        Code = "L4-OTHER-ROLE"
	CodeNotInjected      Code = "L5-NOT-INJECTED"
	CodeTooEarly         Code = "L5-TOO-EARLY"
	CodeSkipped          Code = "L5-SKIPPED"
	CodeTokenHidden      Code = "L5-TOKEN-HIDDEN" //nolint:gosec // a name, and no secret
	CodeStaleRole        Code = "L5-STALE-ROLE"
	CodeStaleAudience    Code = "L5-STALE-AUDIENCE"
	CodeAPIToken         Code = "L6-API-TOKEN"        //nolint:gosec // a name, and no secret
	CodeNoToken          Code = "L6-NO-TOKEN"         //nolint:gosec // a name, and no secret
	CodeTokenFixed       Code = "L6-TOKEN-FIXED"      //nolint:gosec // a name, and no secret
	CodeTokenUnreadable  Code = "L6-TOKEN-UNREADABLE" //nolint:gosec // a name, and no secret
	CodeStaticKeys       Code = "L7-STATIC-KEYS"
	CodeNoRoleInAWS      Code = "L9-NO-ROLE"
	CodeRolePath         Code = "L9-ROLE-ARN"
	CodeTrustDenies      Code = "L9-DENY"
	CodeTrustAction      Code = "L9-ACTION"
	CodeWrongProvider    Code = "L9-PROVIDER"
	CodeKeyIssuer        Code = "L9-KEY-ISSUER"
	CodeKeysSwapped      Code = "L9-KEYS-SWAPPED"
	CodeTrustAudience    Code = "L9-AUD-MISMATCH"
	CodeSubjectOperator  Code = "L9-SUB-OPERATOR"
	CodeSubject          Code = "L9-SUB-MISMATCH"
	CodeNoStatement      Code = "L9-NO-STATEMENT"
	CodeNoPolicy         Code = "L11-NO-POLICY"
	CodeDenied           Code = "L11-DENIED"
	CodeNotAllowed       Code = "L11-NOT-ALLOWED"
	CodeBoundary         Code = "L11-BOUNDARY"
)

// Explanation is what the reference says of a code.
type Explanation struct {
	Code Code
	// Means is what is wrong, and what a user sees of it; Mend is how it is mended.
	Means, Mend string
}

// Codes are all of them, by link, with what the reference says.
func Codes() []Explanation {
	return []Explanation{
		{CodeIssuerURL, "The API server signs as an issuer whose keys AWS cannot fetch, such as https://kubernetes.default.svc. STS answers InvalidIdentityToken.", "Publish the issuer: `tabard issuer init`."},
		{CodeNotPublic, "The discovery document or the keys of the issuer are missing at its URL, or not everybody may read them. STS answers InvalidIdentityToken: Couldn't retrieve verification key from your identity provider.", "Publish them: `tabard issuer bootstrap`, if the issuer is yours."},
		{CodeDocument, "A document of the issuer is there and cannot be used: it is no JSON, names another issuer, or has no key that verifies a token. STS answers InvalidIdentityToken.", "Publish it anew: `tabard issuer bootstrap`, if the issuer is yours."},
		{CodeKeyMissing, "The key that the API server signs with is not published, such as after a rotation. STS answers InvalidIdentityToken: Couldn't retrieve verification key from your identity provider.", "Publish the key: `tabard issuer bootstrap`, if the issuer is yours."},
		{CodeKeysDiffer, "Some of the API server's keys are published, and some are not. If it signs with one of these, STS answers InvalidIdentityToken.", "See which key signs, and publish it."},
		{CodeNoProvider, "The account of the role has no OIDC provider for the cluster's issuer. STS answers InvalidIdentityToken: No OpenIDConnect provider found in your account. A provider in another account does not count.", "Make the provider in the role's account."},
		{CodeProviderAudience, "The client IDs of the provider do not have the audience of the token. STS answers InvalidIdentityToken: Incorrect token audience.", "Add the audience to the provider."},
		{CodeNoAccount, "The ServiceAccount is not there, often since a chart names it otherwise.", "Create it, or name the one that is there."},
		{CodeNoRole, "Nothing names a role for the ServiceAccount: the SDK finds no credentials, or those of the node.", "Annotate the ServiceAccount, and start the pod anew."},
		{CodeAnnotationSlip, "An annotation is there that does not count, such as one with a misspelt name.", "Write the name that counts."},
		{CodeRoleARN, "The annotation names what is no ARN of an IAM role. The webhook injects nothing.", "Write the whole ARN."},
		{CodeNoWebhook, "A new pod of the ServiceAccount comes without its identity, and the cluster has no webhook that would give it one.", "Install one."},
		{CodeNotAsked, "A new pod of the ServiceAccount comes without its identity: the labels of the namespace or of the pod are not those of which the webhook is asked.", "Label the namespace, or the pod's template."},
		{CodeAuthorityExpired, "A new pod of the ServiceAccount comes without its identity: each certificate in the caBundle of the hook has expired, so the API server trusts no answer, and the hook lets pods pass.", "Renew the CA of the webhook."},
		{CodeNoAnswer, "A new pod of the ServiceAccount comes without its identity, or is refused since the hook lets none pass: no webhook answers with an identity, and nothing that was seen says why. Most often the webhook does not run, or its certificate is not of the hook's caBundle.", "Start the webhook anew, and read its log."},
		{CodeOtherRole, "A new pod of the ServiceAccount gets another role than the annotation names: the webhook has not seen the annotation yet, or another one writes the variable.", "Ask again; then look for the other webhook."},
		{CodeNotInjected, "The pod runs without its identity: the webhook did not answer when it was created, and its hook lets pods pass. Calls come with the role of the node, or not at all.", "Start the pod anew, with a webhook that answers."},
		{CodeTooEarly, "The pod is older than the annotation of its ServiceAccount.", "Start the pod anew."},
		{CodeSkipped, "A label of the pod asks the webhook to leave it out.", "Take the label out of the template."},
		{CodeTokenHidden, "The container is told where its token is, and nothing brings it there, or something else is mounted in its place.", "Mount nothing there, and start the pod anew."},
		{CodeStaleRole, "The annotation has changed since the pod was created: pods keep the role that they were created with.", "Start the pod anew."},
		{CodeStaleAudience, "The ServiceAccount asks for another audience since the pod was created.", "Start the pod anew."},
		{CodeAPIToken, "The container shows AWS the token that is for the API server. STS answers InvalidIdentityToken: Incorrect token audience.", "Let the webhook inject one with the right audience."},
		{CodeNoToken, "The container has AWS_ROLE_ARN, and no AWS_WEB_IDENTITY_TOKEN_FILE.", "Let the webhook inject both."},
		{CodeTokenFixed, "The container takes its token from a Secret or a ConfigMap, or by a subPath. The kubelet renews projected tokens alone, in volumes that are mounted whole. Hours after the token was made, STS answers ExpiredTokenException.", "Let the webhook inject a projected token."},
		{CodeTokenUnreadable, "The file with the token belongs to root, and its mode lets nobody else read it. SDKs say: permission denied.", "Set fsGroup in the pod's securityContext."},
		{CodeStaticKeys, "The container has AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY, which SDKs take before a role.", "Take the keys out."},
		{CodeNoRoleInAWS, "The account has no role of that name. STS answers AccessDenied, as if it were the trust policy.", "Make the role, or correct the annotation."},
		{CodeRolePath, "The role has another path than the ARN says. STS answers AccessDenied.", "Write the role's own ARN into the annotation."},
		{CodeTrustDenies, "A statement of the trust policy denies the token.", "Change that statement, if it is wrong."},
		{CodeTrustAction, "The statement for the issuer allows another action, such as sts:AssumeRole.", "Allow sts:AssumeRoleWithWebIdentity."},
		{CodeWrongProvider, "The trust policy names the provider of another issuer, such as that of a former cluster.", "Add a statement for the issuer."},
		{CodeKeyIssuer, "A condition asks about the claims of another issuer, or has the provider's whole ARN in its key. No token meets it.", "Begin the key with the issuer's host and path."},
		{CodeKeysSwapped, "A condition compares the audience with the name of a ServiceAccount, or the reverse.", "Compare `:sub` with the ServiceAccount, and `:aud` with the audience."},
		{CodeTrustAudience, "The condition on the audience has another one than the token.", "Write the token's audience."},
		{CodeSubjectOperator, "A condition has a star under StringEquals, where it means a star.", "Write the whole name, or use StringLike."},
		{CodeSubject, "The condition on the subject names another ServiceAccount, often another namespace or spelling.", "Add the token's subject."},
		{CodeNoStatement, "No statement of the trust policy is about tokens of the issuer.", "Add one."},
		{CodeNoPolicy, "The role has no policy, neither inline nor attached: AWS refuses its calls, but for sts:GetCallerIdentity and what a policy of the resource allows by itself.", "Give the role a policy for what the pod calls."},
		{CodeDenied, "A Deny in a policy of the role, or in its permissions boundary, takes the call. No Allow outweighs it.", "Change that statement, if it is wrong."},
		{CodeNotAllowed, "No policy of the role allows the call, or none allows all of what is asked about. AWS says: no identity-based policy allows the action. A policy of the resource may allow it by itself.", "Give the role a policy for that call and that resource."},
		{CodeBoundary, "A policy of the role allows the call, and its permissions boundary does not. AWS says: no permissions boundary allows the action.", "Ask whoever set the boundary to allow the call in it, too."},
	}
}
