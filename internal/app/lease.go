package app

import (
	"slices"
	"strings"
)

// leasePrefix begins the name of each controller's own lease.
const leasePrefix = "tabard-operator-"

// capacityLease is the original program's, so that the two never act at once.
const capacityLease = "capa-annotator-leader"

// predecessors are the leases of the programs whose place controllers take. Who runs
// the controller holds these too, before its own.
var predecessors = map[string][]string{"capacity": {capacityLease}}

// leases are those of a controller, in the order in which they are waited for.
func leases(controller string) []string {
	return append(slices.Clone(predecessors[controller]), leasePrefix+controller)
}

// setLeases are those by which earlier versions ran a set of controllers, so that old
// and new never act at once while a Deployment is rolled over. All is what "*"
// chooses. The lease of one controller alone was named as it is now.
func setLeases(chosen, all []string) []string {
	switch {
	case slices.Equal(chosen, all):
		return []string{strings.TrimSuffix(leasePrefix, "-")}
	case len(chosen) > 1:
		return []string{leasePrefix + strings.Join(chosen, "-")}
	}
	return nil
}
