package ekstoken

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// CheckRegion refuses what cannot be a region in which STS has a host: the names of all
// regions together, such as aws-global, and zones, such as us-west-2a.
func CheckRegion(text string) error {
	switch {
	case instancetype.IsRegionName(text):
		return nil
	case !identity.IsRegion(text):
		return fmt.Errorf("the region is %q, which is no label of a host name; give one such as eu-west-1", text)
	}
	return fmt.Errorf("the region is %q, and STS has no host for it; give the cluster's region, such as eu-west-1", text)
}

// dualStack are the domains of endpoints with IPv6 that clusters accept, by partition
// (aws-iam-authenticator: GetSTSDualStackPartitionDomain).
var dualStack = map[string]string{
	"aws":        "api.aws",
	"aws-us-gov": "api.aws",
	"aws-cn":     "api.amazonwebservices.com.cn",
	"aws-eusc":   "api.amazonwebservices.eu",
}

// Variant is a kind of endpoint.
type Variant struct {
	// FIPS asks for FIPS 140 endpoints, DualStack for those with IPv6.
	FIPS, DualStack bool
}

// Host is the regional host of STS, the empty text for a variant that clusters of
// the partition do not accept.
func Host(region string, v Variant) string {
	partition, domain, first := identity.Partition(region), identity.DNSSuffix(region), "sts."
	if v.DualStack {
		if domain = dualStack[partition]; domain == "" {
			return ""
		}
	}
	// All endpoints of GovCloud without IPv6 are FIPS endpoints, and have no other name.
	if v.FIPS && (partition != "aws-us-gov" || v.DualStack) {
		first = "sts-fips."
	}
	return first + region + "." + domain
}

// hosts are the names of STS in a region.
func hosts(region string) []string {
	var all []string
	for _, v := range []Variant{{}, {FIPS: true}, {DualStack: true}, {FIPS: true, DualStack: true}} {
		if host := Host(region, v); host != "" && !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}
