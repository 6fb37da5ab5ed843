package issuer

import (
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// ProviderARN is the ARN that IAM gives to the provider of an issuer URL in an
// account. AWS: it holds the URL without its scheme.
func ProviderARN(partition, accountID, url string) string {
	return identity.ARN{Partition: partition, Service: "iam", Account: accountID, Resource: "oidc-provider/" + ProviderPath(url)}.String()
}

// ProviderPath is the issuer's URL without its scheme, as IAM uses it in
// provider ARNs and as the prefix of condition keys in trust policies.
func ProviderPath(url string) string { return strings.TrimPrefix(url, "https://") }

// DocumentKeys are the object keys of the two documents: the keys document and
// the discovery document.
func DocumentKeys(prefix string) (keys, discovery string) {
	if prefix != "" {
		prefix += "/"
	}
	return prefix + KeysPath, prefix + DiscoveryPath
}

// bucketARN is the bucket's ARN; objects are below it.
func bucketARN(s3 v1alpha1.S3Publication) string {
	return identity.ARN{Partition: identity.Partition(s3.Region), Service: "s3", Resource: s3.Bucket}.String()
}

// documentARNs are the ARNs of the two documents, sorted.
func documentARNs(s3 v1alpha1.S3Publication) []string {
	keys, discovery := DocumentKeys(s3.Prefix)
	return []string{bucketARN(s3) + "/" + discovery, bucketARN(s3) + "/" + keys}
}

// arnAccount is the account in an ARN, empty if there is none.
func arnAccount(arn string) string {
	found, _ := identity.ParseARN(arn)
	return found.Account
}

// roleOfSession is the name of the role behind an assumed role's session ARN,
// arn:PARTITION:sts::ACCOUNT:assumed-role/NAME/SESSION; empty for others.
func roleOfSession(arn string) string {
	found, _ := identity.ParseARN(arn)
	parts := strings.Split(found.Resource, "/")
	if len(parts) != 3 || parts[0] != "assumed-role" {
		return ""
	}
	return parts[1]
}
