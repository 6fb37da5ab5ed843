package decode

import (
	"sync"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// row is one text that people paste. Words are in lower case; … stands for anything.
type row struct {
	words      []string
	links      []chain.Link
	means      string
	causes     []string
	next       []string
	unverified bool
}

const (
	explainPod  = "tabard explain pod POD -n NAMESPACE"
	issuerLook  = "tabard issuer verify ISSUER"
	getPod      = "kubectl -n NAMESPACE get pod POD -o yaml"
	hooks       = "kubectl get mutatingwebhookconfigurations"
	getRole     = "aws iam get-role --role-name ROLE"
	getProvider = "aws iam list-open-id-connect-providers"
)

// rows are all texts, those that are parts of others last.
var rows = sync.OnceValue(func() []row {
	return []row{
		{
			[]string{"not authorized to perform sts:assumerolewithwebidentity"},
			[]chain.Link{chain.Trust, chain.Binding, chain.Provider, chain.Session},
			"the role's trust policy does not admit the token, or there is no such role: AWS answers the same for both",
			[]string{"the trust policy names another namespace, ServiceAccount or audience", "it names the issuer of a former cluster", "the role's name, path or account is wrong", "the role was made in the last minute, and AWS does not know it everywhere yet"},
			[]string{explainPod}, false,
		}, {
			[]string{"no openidconnect provider found in your account"},
			[]chain.Link{chain.Provider, chain.Binding},
			"the account of the role has no OIDC provider for the token's issuer",
			[]string{"the provider is in the cluster's account, and the role in another", "the URL differs by a slash, a letter's case or a region", "the cluster signs as another issuer than it did"},
			[]string{explainPod, getProvider}, false,
		}, {
			[]string{"couldn't retrieve verification key"},
			[]chain.Link{chain.Publication, chain.Issuer, chain.Token},
			"AWS cannot fetch the issuer's keys, or the token's key is not among them",
			[]string{"the documents cannot be read by everybody", "the signing key was replaced, and the new one is not published", "the documents are those of another cluster"},
			[]string{issuerLook}, false,
		}, {
			[]string{"incorrect token audience", "missing a required claim: aud", "token audience contains more than one audience"},
			[]chain.Link{chain.Token, chain.Provider},
			"the audience of the token is not one that the OIDC provider accepts",
			[]string{"the pod shows the token that is for the API server", "the provider's client IDs have a misspelt audience, such as sts.amazon.com", "the annotation eks.amazonaws.com/audience names another one"},
			[]string{explainPod}, false,
		}, {
			[]string{"doesn't match configured thumbprint"},
			[]chain.Link{chain.Provider},
			"the certificate of the issuer's address is neither publicly trusted nor pinned by the provider",
			[]string{"the issuer has a private certificate, which was renewed by another authority", "a proxy answers in the issuer's place"},
			[]string{issuerLook, "aws iam update-open-id-connect-provider-thumbprint --open-id-connect-provider-arn PROVIDER_ARN --thumbprint-list THUMBPRINT"}, false,
		}, {
			[]string{"expiredtokenexception", "token must not have been expired", "token expired: current date/time", "token too old"},
			[]chain.Link{chain.Token, chain.SDK},
			"the token was no longer valid when it was shown",
			[]string{"an old SDK has read the token's file once, at its start", "the clock of the node is wrong", "the file is a copy, and the kubelet renews the original only"},
			[]string{explainPod}, false,
		}, {
			[]string{"permission denied…serviceaccount/token", "serviceaccount/token…permission denied"},
			[]chain.Link{chain.Token},
			"the container's user may not read the token's file",
			[]string{"the container does not run as root, and the pod has no fsGroup"},
			[]string{"kubectl -n NAMESPACE patch deployment NAME --type=merge -p '{\"spec\":{\"template\":{\"spec\":{\"securityContext\":{\"fsGroup\":65534}}}}}'", explainPod}, true,
		}, {
			[]string{"unable to locate credentials", "nocredentialproviders", "no valid providers in chain", "could not load credentials from any providers", "failed to refresh cached credentials, no ec2 imds role found"},
			[]chain.Link{chain.Injection, chain.Webhook, chain.SDK},
			"the SDK finds no credentials at all",
			[]string{"the pod was created without its identity: before the annotation, or while the webhook was away", "the ServiceAccount has no annotation, or a misspelt one", "the SDK is too old for tokens"},
			[]string{explainPod}, true,
		}, {
			[]string{":assumed-role/…/i-0"},
			[]chain.Link{chain.SDK, chain.Injection, chain.Webhook},
			"the call came with the role of the node, not with that of the pod",
			[]string{"nothing was injected into the pod, and the SDK fell back to the node", "the program names its credentials itself"},
			[]string{explainPod}, true,
		}, {
			[]string{"dial tcp…sts.…timeout", "sts.…i/o timeout", "could not connect to the endpoint url…sts.", "lookup sts.…no such host"},
			[]chain.Link{chain.Network},
			"the pod does not reach STS",
			[]string{"a NetworkPolicy or a firewall stops it", "the VPC has an endpoint for the region's STS only, and the SDK asks the global one", "a proxy is missing in the pod's environment"},
			[]string{"kubectl -n NAMESPACE get networkpolicies", getPod}, true,
		}, {
			[]string{"throttling: rate exceeded", "rate exceeded", "throttlingexception"},
			[]chain.Link{chain.Session},
			"the account has asked AWS for too much in this moment",
			[]string{"many pods start at the same time, or each call makes a new client"},
			[]string{"aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=AssumeRoleWithWebIdentity"}, false,
		}, {
			[]string{"exceeds the 1 hour session limit", "not authorized to perform: sts:tagsession", "packed size", "packed policy consumes", "packedpolicytoolarge"},
			[]chain.Link{chain.Session},
			"the session is too long, or its tags and policies are too large or not allowed",
			[]string{"a role that is assumed by a role has an hour at most", "the trust policy does not allow sts:TagSession", "the session's policies and tags have no room"},
			[]string{getRole}, false,
		}, {
			[]string{"cannot exceed quota for aclsizeperrole"},
			[]chain.Link{chain.Trust},
			"the trust policy has more characters than AWS allows",
			[]string{"a statement for each ServiceAccount, where one with a list would do"},
			[]string{getRole, "tabard policy check --kind trust FILE"}, false,
		}, {
			[]string{"no identity-based policy allows", "no permissions boundary allows", "no session policy allows", "explicit deny in a", "with an explicit deny"},
			[]chain.Link{chain.Permission},
			"the pod has its role, and a policy does not allow the call",
			[]string{"no policy of the role allows the action on the resource", "the policy that the message names denies it"},
			[]string{"tabard policy eval --help"}, false,
		}, {
			[]string{"you must be logged in to the server", "the server has asked for the client to provide credentials"},
			[]chain.Link{chain.Target, chain.Session},
			"the cluster that is called does not know the role",
			[]string{"the cluster has no access entry for the role", "the entry names the role with its path", "the token for the cluster is older than a quarter of an hour"},
			[]string{"aws eks list-access-entries --cluster-name CLUSTER"}, true,
		}, {
			[]string{"failed calling webhook…pod-identity", "failing open…pod-identity", "failed calling webhook…tabard", "failed calling webhook…x509"},
			[]chain.Link{chain.Webhook},
			"the API server does not reach the webhook that injects identities, or does not trust its certificate",
			[]string{"the caBundle of the hook is older than the certificate", "the webhook's pods are not ready, or a NetworkPolicy stops the API server"},
			[]string{"tabard ready", hooks}, true,
		}, {
			[]string{"aadsts70021", "aadsts700211", "aadsts700213", "aadsts90061"},
			[]chain.Link{chain.Trust, chain.Provider},
			"Azure has no federated credential for the token: issuer, subject and audience have to be equal, letter by letter",
			[]string{"the subject names another namespace or ServiceAccount", "the issuer differs by a slash", "the credential was made in the last minutes"},
			[]string{"az identity federated-credential list --identity-name IDENTITY --resource-group GROUP"}, true,
		}, {
			[]string{"cannot determine which iamroleselector"},
			[]chain.Link{chain.Binding},
			"several role selectors select the resource",
			[]string{"two IAMRoleSelectors name the same namespaces and kinds"},
			[]string{"tabard explain resource/KIND/NAME -n NAMESPACE"}, true,
		}, {
			[]string{"invalid_target…workload", "invalid_grant…the audience in id token", "the issuer in id token"},
			[]chain.Link{chain.Provider, chain.Token},
			"Google Cloud's workload identity provider does not accept the token",
			[]string{"the provider names another issuer or audience"},
			[]string{"gcloud iam workload-identity-pools providers describe PROVIDER --workload-identity-pool POOL --location global"}, true,
		},
	}
})
