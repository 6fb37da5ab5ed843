// Package scenario breaks the cloud identity of one workload in a lab, in the ways in which people
// break it. "tabard explain" is practised on it, and tested with it. It changes nothing outside a lab.
package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// What a scenario makes. It changes nothing else, but for the lab's OIDC provider, the issuer's keys, the
// webhook's configuration and the clock, which it puts back.
const (
	// Namespace has the workload, a Deployment and a ServiceAccount of the name Workload.
	Namespace = "scenario"
	Workload  = "shop"
	// RoleName is the workload's role, and NodeRoleName that of the node it runs on.
	RoleName     = "scenario-shop"
	NodeRoleName = "scenario-node"

	audience  = "sts.amazonaws.com"
	roleKey   = "eks.amazonaws.com/role-arn"
	container = "app"
)

// Scenario is one way in which an identity breaks.
type Scenario struct {
	// Name is what is typed, such as "p01".
	Name string
	// Title says what somebody did. It does not say what explain finds.
	Title string
	// Code is that of the first finding of explain.
	Code chain.Code
	// Call is what the workload does, beside asking who it is: the S3 object that it reads, or none.
	Call string
	// Flags are those that explain needs to find it.
	Flags string

	plant func(*shop, context.Context) error
}

// All are the scenarios by their names, which begin with the problem that they are about. P01 to P12 are
// the problems that people report most.
func All() []Scenario {
	out := slices.Concat(ofTrust(), ofAWS(), ofCluster(), ofPod())
	slices.SortFunc(out, func(a, b Scenario) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Find is the scenario of a name.
func Find(name string) (Scenario, error) {
	var names []string
	for _, each := range All() {
		if each.Name == strings.ToLower(name) {
			return each, nil
		}
		names = append(names, each.Name)
	}
	return Scenario{}, fmt.Errorf("there is no scenario %.40q; there are %s", name, strings.Join(names, ", "))
}
