package issuer

import (
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// partitions maps prefixes of region names to partition and DNS suffix, longest
// prefix first. AWS: "AWS service endpoints" and the partitions file of the
// SDKs.
var partitions = []struct{ prefix, partition, suffix string }{
	{"cn-", "aws-cn", "amazonaws.com.cn"},
	{"us-gov-", "aws-us-gov", "amazonaws.com"},
	{"us-isob-", "aws-iso-b", "sc2s.sgov.gov"},
	{"us-isof-", "aws-iso-f", "csp.hci.ic.gov"},
	{"us-iso-", "aws-iso", "c2s.ic.gov"},
	{"eu-isoe-", "aws-iso-e", "cloud.adc-e.uk"},
	{"eusc-", "aws-eusc", "amazonaws.eu"},
}

// Partition is the AWS partition of a region: the second field of its ARNs.
func Partition(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.partition
		}
	}
	return "aws"
}

// DNSSuffix is the domain of a region's endpoints.
func DNSSuffix(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.suffix
		}
	}
	return "amazonaws.com"
}

// ProviderARN is the ARN that IAM gives to the provider of an issuer URL in an
// account. AWS: it holds the URL without its scheme.
func ProviderARN(partition, accountID, url string) string {
	return "arn:" + partition + ":iam::" + accountID + ":oidc-provider/" + ProviderPath(url)
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
	return "arn:" + Partition(s3.Region) + ":s3:::" + s3.Bucket
}

// documentARNs are the ARNs of the two documents, sorted.
func documentARNs(s3 v1alpha1.S3Publication) []string {
	keys, discovery := DocumentKeys(s3.Prefix)
	return []string{bucketARN(s3) + "/" + discovery, bucketARN(s3) + "/" + keys}
}

// arnField is one field of an ARN, empty if there is none.
func arnField(arn string, index int) string {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) != 6 || fields[0] != "arn" {
		return ""
	}
	return fields[index]
}

func arnPartition(arn string) string { return arnField(arn, 1) }
func arnAccount(arn string) string   { return arnField(arn, 4) }

// roleOfSession is the name of the role behind an assumed role's session ARN,
// arn:PARTITION:sts::ACCOUNT:assumed-role/NAME/SESSION; empty for others.
func roleOfSession(arn string) string {
	parts := strings.Split(arnField(arn, 5), "/")
	if len(parts) != 3 || parts[0] != "assumed-role" {
		return ""
	}
	return parts[1]
}
