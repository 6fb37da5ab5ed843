package identity

import (
	"regexp"
	"strings"
	"sync"
)

// partitions are those besides "aws", with the beginning of their regions' names and
// the domain of their endpoints (AWS General Reference, and the partitions of the
// SDKs' endpoint data).
var partitions = []struct{ name, prefix, suffix string }{
	{"aws-cn", "cn-", "amazonaws.com.cn"},
	{"aws-us-gov", "us-gov-", "amazonaws.com"},
	{"aws-iso", "us-iso-", "c2s.ic.gov"},
	{"aws-iso-b", "us-isob-", "sc2s.sgov.gov"},
	{"aws-iso-e", "eu-isoe-", "cloud.adc-e.uk"},
	{"aws-iso-f", "us-isof-", "csp.hci.ic.gov"},
	{"aws-eusc", "eusc-", "amazonaws.eu"},
}

func partitionOf(region string) (name, suffix string) {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.name, p.suffix
		}
	}
	return "aws", "amazonaws.com"
}

// Partition is the partition of a region, by the shape of its name: partitions
// share no accounts, and a call signed for one means nothing in another.
func Partition(region string) string {
	name, _ := partitionOf(region)
	return name
}

// DNSSuffix is the domain of a region's endpoints, such as amazonaws.com.
func DNSSuffix(region string) string {
	_, suffix := partitionOf(region)
	return suffix
}

// PartitionOfARN is the second part of an ARN, empty if the text is none.
func PartitionOfARN(arn string) string {
	found, _ := ParseARN(arn)
	return found.Partition
}

var region = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })

// IsRegion says whether a text may be a region. It becomes part of the host
// that signed requests are sent to, so it must be one label of a host name.
func IsRegion(text string) bool { return region().MatchString(text) }
