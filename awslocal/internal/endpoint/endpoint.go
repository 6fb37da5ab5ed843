// Package endpoint knows the host names by which AWS's services are reached.
package endpoint

import (
	"net"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
)

// RegionPattern and DomainPattern are parts of the patterns of hosts.
const RegionPattern = `[a-z]{2,4}(?:-[a-z]+)+-[0-9]+`

// DomainPattern has the domains of all partitions.
var DomainPattern = strings.ReplaceAll(strings.Join(partition.Domains(), "|"), ".", `\.`)

// shared are the domains of endpoints that are reached by IPv6 too, and of EKS
// Auth, which has no other (AWS General Reference, "Dual-stack endpoints").
var shared = map[partition.Partition]string{partition.Commercial: "api.aws", "aws-us-gov": "api.aws", "aws-cn": "api.amazonwebservices.com.cn"}

// plainHost is an endpoint of a service that has no buckets.
var plainHost = pattern.New(`^(sts|iam|eks|eks-auth|ec2)(?:-fips)?(?:\.(` + RegionPattern + `))?\.(` +
	DomainPattern + `|api\.aws|api\.amazonwebservices\.com\.cn)$`)

// Of reads the host of a request, which may have a port: which service's
// endpoint it is, and in which region. The region is empty where the host names
// none; ok is false for a host that is none of AWS's, and for those of Amazon S3.
func Of(host string) (service, region string, ok bool) {
	m := plainHost.FindStringSubmatch(Name(host))
	if m == nil {
		return "", "", false
	}
	of := partition.Of(m[2])
	return m[1], m[2], m[2] == "" || m[3] == of.Domain() || m[3] == shared[of]
}

// Name is a host without its port, in lower case.
func Name(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Names are the hosts of all services in a region, for its certificate. A star
// stands for one label: as at AWS, a bucket with a dot in its name has no host that
// a certificate is good for.
func Names(region string) []string {
	of := partition.Of(region)
	within := region + "." + of.Domain()
	names := []string{}
	for _, service := range []string{"sts", "sts-fips", "iam", "eks", "eks-fips", "ec2", "ec2-fips"} {
		names = append(names, service+"."+within)
	}
	for _, store := range []string{"s3.", "s3-", "s3.dualstack.", "s3-fips.", "s3-fips.dualstack."} {
		names = append(names, store+within, "*."+store+within)
	}
	for _, control := range []string{"s3-control.", "s3-control.dualstack.", "s3-control-fips.", "s3-control-fips.dualstack."} {
		names = append(names, control+within, "*."+control+within)
	}
	if domain := shared[of]; domain != "" {
		for _, service := range []string{"sts", "eks", "eks-auth", "ec2"} {
			names = append(names, service+"."+region+"."+domain)
		}
	}
	return names
}

// GlobalNames are the hosts of a partition's services that name no region.
func GlobalNames(of partition.Partition) []string {
	names := []string{}
	for _, service := range []string{"sts", "iam", "s3", "*.s3"} {
		names = append(names, service+"."+of.Domain())
	}
	if of == "aws-us-gov" {
		names = append(names, "iam.us-gov."+of.Domain())
	}
	return names
}
