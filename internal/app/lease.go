package app

import (
	"slices"
	"strings"
)

// leasePrefix begins the name of each controller's own lease.
const leasePrefix = "tabard-operator-"

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
