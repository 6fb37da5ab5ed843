package identity

import (
	"regexp"
	"strings"
	"sync"
)

// partitions are those besides "aws", with the beginning of their regions'
// names (AWS General Reference: the partitions of the endpoint data).
var partitions = []struct{ name, prefix string }{
	{"aws-cn", "cn-"},
	{"aws-us-gov", "us-gov-"},
	{"aws-iso", "us-iso-"},
	{"aws-iso-b", "us-isob-"},
	{"aws-iso-e", "eu-isoe-"},
	{"aws-iso-f", "us-isof-"},
	{"aws-eusc", "eusc-"},
}

// Partition is the partition of a region, by the shape of its name: partitions
// share no accounts, and a call signed for one means nothing in another.
func Partition(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.name
		}
	}
	return "aws"
}

// PartitionOfARN is the second part of an ARN, empty if the text is none.
func PartitionOfARN(arn string) string {
	rest, ok := strings.CutPrefix(arn, "arn:")
	if !ok {
		return ""
	}
	partition, _, _ := strings.Cut(rest, ":")
	return partition
}

var region = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })

// IsRegion says whether a text may be a region. It becomes part of the host
// that signed requests are sent to, so it must be one label of a host name.
func IsRegion(text string) bool { return region().MatchString(text) }
