package contract_test

import "strings"

// names are those of the things that calls are about.
type names struct {
	role, user, policy, inline, tag, version string
	// accessKey is set by CreateAccessKey.
	accessKey   string
	providerURL string
	client      string
	bucket, key string
	// subject is whose token is sent to AssumeRoleWithWebIdentity.
	subject      string
	instanceType string
	cluster      string
	// accessPolicy is the ARN of one of AWS's access policies.
	accessPolicy              string
	namespace, serviceAccount string
	// association is set by CreatePodIdentityAssociation.
	association  string
	wantedRegion string
}

const (
	audience = "sts.amazonaws.com"
	subject  = "system:serviceaccount:team-a:app"
)

// unusedNames are well-formed and name nothing that exists in an empty world,
// but for instance types, access policies and regions.
func unusedNames(i *issuer) names {
	return names{
		role: "app", user: "anna", policy: "reader", inline: "inline", tag: "team", version: "v2",
		accessKey: "AKIAIOSFODNN7EXAMPLE", providerURL: i.Issuer.Issuer(), client: "other-audience",
		bucket: "documents", key: "folder/a b", subject: subject, instanceType: "t3.micro", wantedRegion: region,
		cluster: "lab", accessPolicy: accessPolicyARN("AmazonEKSViewPolicy"), namespace: "team-a", serviceAccount: "app", association: "a-abcdefgh234567abc",
	}
}

func (n *names) roleARN() string { return "arn:aws:iam::" + account + ":role/" + n.role }

func (n *names) policyARN() string { return "arn:aws:iam::" + account + ":policy/" + n.policy }

func (n *names) providerARN() string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + strings.TrimPrefix(n.providerURL, "https://")
}

func (n *names) clusterARN() string {
	return "arn:aws:eks:" + region + ":" + account + ":cluster/" + n.cluster
}

func accessPolicyARN(name string) string { return "arn:aws:eks::aws:cluster-access-policy/" + name }

// trust lets in the account, as far as its policies allow, one subject of the
// issuer, and EKS, for clusters and for pods.
func (n *names) trust() string {
	bare := strings.TrimPrefix(n.providerURL, "https://")
	return `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::` + account + `:root"}},
		{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Principal":{"Service":["eks.amazonaws.com","pods.eks.amazonaws.com"]}},
		{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"` + n.providerARN() + `"},
		 "Condition":{"StringEquals":{"` + bare + `:sub":"` + subject + `","` + bare + `:aud":"` + audience + `"}}}]}`
}

// readDocuments is a policy of any kind but a bucket's.
const readDocuments = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::documents/*"}}`
