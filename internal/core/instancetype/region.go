package instancetype

import (
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// partition is one of AWS's groups of regions that share no credentials.
type partition struct {
	// home is where its list of regions is asked for: a region that every
	// account of the partition has.
	home string
	// regions are those that are known without asking (AWS General Reference,
	// "AWS service endpoints"; EC2's endpoints of the SDK for Go v2).
	regions string
}

var partitions = map[string]partition{
	"aws-cn":     {"cn-north-1", "cn-north-1 cn-northwest-1"},
	"aws-us-gov": {"us-gov-west-1", "us-gov-east-1 us-gov-west-1"},
	"aws-iso":    {"us-iso-east-1", "us-iso-east-1 us-iso-west-1"},
	"aws-iso-b":  {"us-isob-east-1", "us-isob-east-1 us-isob-west-1"},
	"aws-iso-e":  {"eu-isoe-west-1", "eu-isoe-west-1"},
	"aws-iso-f":  {"us-isof-south-1", "us-isof-east-1 us-isof-south-1"},
	"aws-eusc":   {"eusc-de-east-1", "eusc-de-east-1"},
	"aws": {"us-east-1", "af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 " +
		"ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 " +
		"ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 " +
		"eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1 me-south-1 mx-central-1 sa-east-1 " +
		"us-east-1 us-east-2 us-west-1 us-west-2"},
}

func partitionOf(region string) partition { return partitions[identity.Partition(region)] }

// IsKnownRegion says that a region exists, without asking AWS. One that is not
// known may be new.
func IsKnownRegion(region string) bool {
	for known := range strings.FieldsSeq(partitionOf(region).regions) {
		if known == region {
			return true
		}
	}
	return false
}

// IsRegionName says that a text has the shape of a region's name: words of small
// letters, then a number, joined by hyphens. A region becomes part of a host name
// to which a signed request is sent, so nothing else is ever tried.
func IsRegionName(text string) bool {
	words := strings.Split(text, "-")
	if len(words) < 3 || len(text) > 32 {
		return false
	}
	last := len(words) - 1
	for _, word := range words[:last] {
		if !consistsOf(word, 'a', 'z') {
			return false
		}
	}
	return consistsOf(words[last], '0', '9')
}

func consistsOf(word string, from, to rune) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool { return r < from || r > to }) < 0
}

// RegionToAsk is where the list of a region's partition is asked for: home if it
// is in that partition, else the partition's own.
func RegionToAsk(region, home string) string {
	if IsRegionName(home) && identity.Partition(home) == identity.Partition(region) {
		return home
	}
	return partitionOf(region).home
}
