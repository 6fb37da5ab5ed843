package fault

// hints say what to do about a code; those with an operation go first.
var hints = map[string]string{
	"AssumeRoleWithWebIdentity/AccessDenied": "the role's trust policy does not let this ServiceAccount's token in; check its Federated principal and its sub and aud conditions",
	"AssumeRole/AccessDenied":                "the base identity may not assume the role; the role must trust it, and it needs sts:AssumeRole; session tags need sts:TagSession in both policies",

	"InvalidIdentityToken":    "IAM does not accept the token; check that an OIDC provider is registered for its issuer, with its audience, and that the issuer's keys can be read",
	"IDPRejectedClaim":        "the issuer's claims were refused; check the role's trust policy, the token's audience and that it has not expired",
	"IDPCommunicationError":   "AWS cannot reach the issuer's discovery document or keys; check that their URL is public",
	"ExpiredTokenException":   "the credentials or the token have expired; check the pod's projected volume and the node's clock",
	"ExpiredToken":            "the credentials have expired; check the pod's projected volume and the node's clock",
	"RegionDisabledException": "STS is switched off for this region in the account; switch it on, or use another region",

	"AuthFailure":                 "AWS does not accept the credentials; check that the access key is active and of this partition, and that the account has enabled the region",
	"InvalidClientTokenId":        "AWS does not know the access key; check that it is active, of this partition, and not rotated away",
	"InvalidAccessKeyId":          "AWS does not know the access key; check that it is active, of this partition, and not rotated away",
	"UnrecognizedClientException": "AWS does not know the access key; check that it is active, of this partition, and not rotated away",
	"SignatureDoesNotMatch":       "the secret access key does not fit the access key ID; write both anew",
	"InvalidSignatureException":   "the secret access key does not fit the access key ID; write both anew",
	"OptInRequired":               "the account has not opted in to this region or service",
	"Blocked":                     "AWS has blocked the account; ask AWS Support",
	CodeContainerRefused:          "check that a pod identity association exists for this ServiceAccount",

	"UnauthorizedOperation": "the identity lacks this action; allow it in the identity's policy",
	"AccessDenied":          "the identity lacks this action; allow it in the identity's policy",
	"AccessDeniedException": "the identity lacks this action; allow it in the identity's policy",
}

// classHints are for codes without one of their own.
var classHints = map[Class]string{
	Throttled:   "AWS asks for fewer calls; they go on by themselves",
	ClockSkew:   "this machine's clock differs from AWS's; set it by NTP",
	Certificate: "add the certificate authority of the endpoint to the CA bundle",
}

func hintOf(f *Fault) string {
	if f.Class == ClockSkew {
		return classHints[ClockSkew]
	}
	if hint, ok := hints[f.Operation+"/"+f.Code]; ok {
		return hint
	}
	if hint, ok := hints[f.Code]; ok {
		return hint
	}
	return classHints[f.Class]
}
