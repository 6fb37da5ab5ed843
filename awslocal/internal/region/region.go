// Package region knows the regions of each partition, and which of them the
// accounts of a server have enabled.
package region

import (
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// Region is one region of a partition.
type Region struct {
	Name string
	// OptIn says that an account must enable it before its keys work there.
	OptIn bool
}

// regions are those of each partition, ordered by name (AWS General Reference,
// "AWS service endpoints"; AWS Account Management, "Enable or disable AWS
// Regions"; the partitions without a public page by the SDKs' endpoint data).
var regions = map[partition.Partition][]Region{
	partition.Commercial: {
		{"af-south-1", true},
		{"ap-east-1", true},
		{"ap-east-2", true},
		{"ap-northeast-1", false},
		{"ap-northeast-2", false},
		{"ap-northeast-3", false},
		{"ap-south-1", false},
		{"ap-south-2", true},
		{"ap-southeast-1", false},
		{"ap-southeast-2", false},
		{"ap-southeast-3", true},
		{"ap-southeast-4", true},
		{"ap-southeast-5", true},
		{"ap-southeast-6", true},
		{"ap-southeast-7", true},
		{"ca-central-1", false},
		{"ca-west-1", true},
		{"eu-central-1", false},
		{"eu-central-2", true},
		{"eu-north-1", false},
		{"eu-south-1", true},
		{"eu-south-2", true},
		{"eu-west-1", false},
		{"eu-west-2", false},
		{"eu-west-3", false},
		{"il-central-1", true},
		{"me-central-1", true},
		{"me-south-1", true},
		{"mx-central-1", true},
		{"sa-east-1", false},
		{"us-east-1", false},
		{"us-east-2", false},
		{"us-west-1", false},
		{"us-west-2", false},
	},
	"aws-cn":     {{"cn-north-1", false}, {"cn-northwest-1", false}},
	"aws-us-gov": {{"us-gov-east-1", false}, {"us-gov-west-1", false}},
	"aws-iso":    {{"us-iso-east-1", false}, {"us-iso-west-1", false}},
	"aws-iso-b":  {{"us-isob-east-1", false}, {"us-isob-west-1", false}},
	"aws-iso-e":  {{"eu-isoe-west-1", false}},
	"aws-iso-f":  {{"us-isof-east-1", false}, {"us-isof-south-1", false}},
	"aws-eusc":   {{"eusc-de-east-1", false}},
}

// Of returns the regions of a partition, ordered by name.
func Of(p partition.Partition) []Region { return slices.Clone(regions[p]) }

// Known says whether a partition has a region of that name.
func Known(p partition.Partition, name string) bool {
	_, known := find(p, name)
	return known
}

// find returns a region of a partition by its name.
func find(p partition.Partition, name string) (Region, bool) {
	i := slices.IndexFunc(regions[p], func(r Region) bool { return r.Name == name })
	if i < 0 {
		return Region{}, false
	}
	return regions[p][i], true
}
