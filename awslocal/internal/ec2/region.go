package ec2

import (
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
)

// regionFilters are all that AWS has (Amazon EC2 API Reference,
// "DescribeRegions").
var regionFilters = map[string]func(regionItem) []string{
	"endpoint":      func(r regionItem) []string { return []string{r.Endpoint} },
	"opt-in-status": func(r regionItem) []string { return []string{r.OptIn} },
	"region-name":   func(r regionItem) []string { return []string{r.Name} },
}

// describeRegions shows the regions that the account has; all of them where that
// is asked for, and those that are named, whether it has them or not.
func (s *Service) describeRegions(c *call.Call, f form) (any, *call.Fault) {
	here := partition.Of(c.Region)
	all := region.Of(here)
	wanted, everyRegion := f.list("RegionName"), f.Get("AllRegions") == "true"
	for _, name := range wanted {
		if !slices.ContainsFunc(all, func(r region.Region) bool { return r.Name == name }) {
			return nil, unknownRegion(name)
		}
	}
	var items []regionItem
	for _, r := range all {
		status := s.regions.Status(c.Caller.Principal.AccountID, r)
		isShown := everyRegion || status != region.NotOptedIn
		if len(wanted) > 0 {
			isShown = slices.Contains(wanted, r.Name)
		}
		if isShown {
			items = append(items, regionItem{r.Name, "ec2." + r.Name + "." + here.Domain(), string(status)})
		}
	}
	items, fault := filtered(items, f, regionFilters)
	if fault != nil {
		return nil, fault
	}
	return regionsAnswer{Namespace: namespace, RequestID: c.ID, Regions: items}, nil
}
