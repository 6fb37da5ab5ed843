package capacity

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestCapacity runs the program on a cluster with both machine APIs that is not
// OpenShift.
func TestCapacity(t *testing.T) {
	t.Parallel()
	runAll(t, startCluster(t, "v1beta2", testkit.MachineAPI, testkit.ClusterAPI, testkit.ClusterAPIAWS), map[string]func(*testing.T, *cluster){
		"what is annotated stays while AWS is in trouble": testTroubles,
		"a certificate of nobody known is told":           testCertificate,
		"a session that is over is renewed":               testSessionsAreRenewed,
		"a clock that is wrong is corrected":              testClocks,
		"a type is unknown if AWS says so":                testUnknownTypes,
		"a type that is new is asked for again":           testNewTypes,
		"a type without CPUs is unknown":                  testIncompleteTypes,
		"a web identity signs":                            testWebIdentity,
		"a Secret signs":                                  testSecret,
		"a Secret that names a token signs":               testTokenSecret,
		"half a web identity is told":                     testHalfIdentities,
		"a token that is not there yet is waited for":     testMissingToken,
		"a crowd costs one list a region":                 testCrowd,
		"a region that hangs holds up no other":           testHangingRegion,
		"no request is signed for another partition":      testPartitions,
		"no name of another partition is called":          testNamesOfPartitions,
		"one of two replicas acts":                        testReplicas,
		"each kind of object is annotated":                testKinds,
		"the keys can be chosen":                          testProfiles,
		"without authority nothing is annotated":          testGateWithoutField,
		"what is being deleted is left alone":             testDeleted,
	})
}

// runAll runs tests at once on one cluster.
func runAll(t *testing.T, c *cluster, tests map[string]func(*testing.T, *cluster)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}
