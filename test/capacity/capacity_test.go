package capacity

import "testing"

// TestCapacity runs the program on a cluster with both machine APIs that is not
// OpenShift, and then on the same cluster when it is.
func TestCapacity(t *testing.T) {
	c := startCluster(t)
	t.Run("on Kubernetes", func(t *testing.T) {
		runAll(t, c, map[string]func(*testing.T, *cluster){
			"what is annotated stays while AWS is in trouble": testTroubles,
			"what AWS says of types counts":                   testTypes,
			"a clock that is wrong is corrected":              testClocks,
			"a web identity signs":                            testWebIdentity,
			"a Secret signs":                                  testSecret,
			"a Secret that names a token signs":               testTokenSecret,
			"half a web identity is told":                     testHalfIdentities,
			"a crowd costs one list a region":                 testCrowd,
			"a region that hangs holds up no other":           testHangingRegion,
			"no request is signed for another partition":      testPartitions,
			"no name of another partition is called":          testNamesOfPartitions,
			"one of two replicas acts":                        testReplicas,
			"each kind of object is annotated":                testKinds,
			"the keys can be chosen":                          testProfiles,
			"without authority nothing is annotated":          testGateWithoutField,
		})
	})
	t.Run("on OpenShift", func(t *testing.T) { testOnOpenShift(t, c) })
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
