// Package partition knows AWS's partitions: groups of regions that share no
// accounts, whose ARNs begin differently.
package partition

import (
	"slices"
	"strings"
)

// Partition is the second part of an ARN, such as "aws" or "aws-cn".
type Partition string

// Commercial is the partition of all regions that belong to no other.
const Commercial Partition = "aws"

// others are the partitions besides Commercial, with the beginning of their
// regions' names, the domain of their endpoints, and the region for which requests
// to services without regions are signed (AWS: partitions of the SDKs' endpoint
// data).
var others = []struct {
	name                   Partition
	prefix, domain, global string
}{
	{"aws-cn", "cn-", "amazonaws.com.cn", "cn-north-1"},
	{"aws-us-gov", "us-gov-", "amazonaws.com", "us-gov-west-1"},
	{"aws-iso", "us-iso-", "c2s.ic.gov", "us-iso-east-1"},
	{"aws-iso-b", "us-isob-", "sc2s.sgov.gov", "us-isob-east-1"},
	{"aws-iso-e", "eu-isoe-", "cloud.adc-e.uk", "eu-isoe-west-1"},
	{"aws-iso-f", "us-isof-", "csp.hci.ic.gov", "us-isof-south-1"},
	{"aws-eusc", "eusc-", "amazonaws.eu", "eusc-de-east-1"},
}

// Of is the partition of a region.
func Of(region string) Partition {
	for _, p := range others {
		if strings.HasPrefix(region, p.prefix) {
			return p.name
		}
	}
	return Commercial
}

// Domain is what the host names of the partition's endpoints end with, such as
// "amazonaws.com".
func (p Partition) Domain() string {
	for _, other := range others {
		if other.name == p {
			return other.domain
		}
	}
	return "amazonaws.com"
}

// Global is the region for which requests to services without regions are signed,
// such as IAM.
func (p Partition) Global() string {
	for _, other := range others {
		if other.name == p {
			return other.global
		}
	}
	return "us-east-1"
}

// Domains are the domains of all partitions, each once.
func Domains() []string {
	found := []string{Commercial.Domain()}
	for _, other := range others {
		if !slices.Contains(found, other.domain) {
			found = append(found, other.domain)
		}
	}
	return found
}

// ARN is an ARN of the partition. Region and account are empty where the
// service's ARNs have none.
func (p Partition) ARN(service, region, account, resource string) string {
	return "arn:" + string(p) + ":" + service + ":" + region + ":" + account + ":" + resource
}

// Has says whether a text is an ARN of the partition.
func (p Partition) Has(arn string) bool { return strings.HasPrefix(arn, "arn:"+string(p)+":") }
