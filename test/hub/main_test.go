// Package hub tests hubs and spokes with Open Cluster Management's own programs.
package hub

import (
	"os"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// tokenProgram is Tabard's program for tokens of EKS.
var tokenProgram string

func TestMain(m *testing.M) {
	os.Exit(testkit.RunWithProgram(m, "../../cmd/tabard-eks-token", &tokenProgram))
}

// The identities of the tests: a hub in EKS, a cluster in EKS, and one that is elsewhere.
const (
	hubARN  = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	arnA    = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	suffixA = "141fc72f17164e5a28c2b4e384694bae"
	suffixB = "347a66776893e40615516d2e0491e696"
)
