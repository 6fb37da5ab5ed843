// Package awsauth answers which AWS identity a process or an object uses: it
// turns an identity.Identity into an SDK configuration.
//
// WhoAmI chooses the identity's base; the table is in the package identity.
// Config turns an identity into a configuration:
//
//	base            first credentials                                        renewed
//	WebIdentity     AssumeRoleWithWebIdentity with AWS_WEB_IDENTITY_TOKEN_FILE   before they expire; the file is read anew
//	Secret          the access key in it, or AssumeRoleWithWebIdentity with       when the Secret changes; a session also
//	                its role and a token file that this process mounts            before it expires
//	ServiceAccount  AssumeRoleWithWebIdentity with a token that Options.Tokens    before they expire; with a new token
//	                requests for it, and that is kept nowhere
//	Container       the agent of AWS_CONTAINER_CREDENTIALS_FULL_URI               before they expire
//	Session         the SDK's default chain, for a person                         by the SDK
//	DefaultChain    the SDK's default chain, for a process                        by the SDK
//
// On top of each, the identity's roles are assumed in their order. Making a
// configuration calls nobody in AWS: credentials are fetched by the first call
// that needs them, once for all that share them, and nothing ambient is taken
// up: no access keys from the environment, no profiles, no instance metadata,
// unless the base is the SDK's default chain.
//
// Secrets and certificate bundles are asked for at each Config, from Options;
// awsauth/kube has them from a cluster, and tokens. Follow is for clients that live long. What a Secret holds is read by an
// allow-list, in memory: no process is started, no file is written, and no file
// is read but a token that Options names.
//
// Where a service is called, most specific first: AWS_ENDPOINT_URL_<SERVICE>,
// the identity's endpoints, AWS_ENDPOINT_URL, AWS's own. AWS_USE_FIPS_ENDPOINT,
// AWS_USE_DUALSTACK_ENDPOINT and the proxies of the environment count for all.
//
// The certificate bundle in AWS_CA_BUNDLE and that of the identity are added to
// the system's roots. The SDK by itself would put one in their place, so that a
// bundle for one private endpoint cuts off every public one.
package awsauth
