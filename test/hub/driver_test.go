package hub

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// These are facts about Open Cluster Management's own driver awsirsa, for which Tabard's
// pages and its hook have an answer.

// awsEnvironment is of a hub controller whose credentials are those of no account: what
// these tests show happens before the first call.
var awsEnvironment = []string{
	"AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	"AWS_REGION=us-west-2", "AWS_EC2_METADATA_DISABLED=true", "AWS_ENDPOINT_URL=http://127.0.0.1:1",
}

// awaitPanic waits until a program has said that one of its controllers has panicked in a
// function of Open Cluster Management.
func awaitPanic(t *testing.T, program *testkit.Process, what, in string) {
	t.Helper()
	testkit.Await(t, func() error {
		if log := program.Log(); !strings.Contains(log, "Panic observed: "+what) || !strings.Contains(log, in+"(") {
			return fmt.Errorf("the program has not said that there was a panic %q in %s", what, in)
		}
		return nil
	})
}

// The panic of those who take an ARN apart that is empty.
const (
	noPart  = "runtime error: index out of range [5] with length 1"
	takeARN = "helpers.GetAwsAccountIdAndClusterName"
)

// wantStuck says that a cluster is accepted and the hub, which goes on with others, says
// nothing of it.
func wantStuck(t *testing.T, hub *ocm.Hub, name string) {
	t.Helper()
	testkit.Create(t, hub, ocm.New(ocm.ManagedCluster, "", "other"))
	hub.Accept("other")
	awaitCondition(hub, "other", "HubAcceptedManagedCluster", "True")
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	must.Do(t, hub.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
	if status, message := ocm.Condition(cluster, "HubAcceptedManagedCluster"); status != "" {
		t.Errorf("the condition of the accepted cluster is %s (%s), want none", status, message)
	}
	if hub.Controller.Ended() {
		t.Error("the controller has ended")
	}
}

func TestOCMTheDriverAWSIRSAPanicsForAnAcceptedClusterWithoutAnARN(t *testing.T) {
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub}})
	hub := ocm.StartHub(t, cluster, ocm.HubOptions{Drivers: []string{"csr", "awsirsa"}, ARN: hubARN, Environment: awsEnvironment})
	ocm.StartAgent(t, ocm.AgentOptions{Klusterlet: startSpoke(t), Name: "onprem-1", Bootstrap: hub.Bootstrap, HubARN: hubARN, Suffix: suffixB})
	awaitAnnotations(hub, "onprem-1")
	hub.Accept("onprem-1")
	awaitPanic(t, hub.Controller, noPart, takeARN)
	wantStuck(t, hub, "onprem-1")
}

func TestOCMTheDriverAWSIRSAPanicsOnAHubWithoutAnARN(t *testing.T) {
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub}})
	hub := ocm.StartHub(t, cluster, ocm.HubOptions{Drivers: []string{"awsirsa"}, Environment: awsEnvironment})
	made := ocm.New(ocm.ManagedCluster, "", "cluster1")
	made.SetAnnotations(map[string]string{arnAnnotation: arnA, suffixAnnotation: suffixA})
	testkit.Create(t, hub, made)
	hub.Accept("cluster1")
	awaitPanic(t, hub.Controller, noPart, takeARN)
	wantStuck(t, hub, "cluster1")
}

func TestOCMAPatternThatDoesNotCompileEndsTheHub(t *testing.T) {
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub}})
	hub := ocm.StartHub(t, cluster, ocm.HubOptions{
		Drivers: []string{"awsirsa"}, ARN: hubARN, Environment: awsEnvironment,
		Flags: []string{"--auto-approved-arn-patterns=arn:aws:eks:(", "--feature-gates=ManagedClusterAutoApproval=true"},
	})
	hub.Await(func() error {
		if !hub.Controller.Ended() {
			return fmt.Errorf("the controller has not ended")
		}
		return nil
	})
	if code, log := hub.Controller.ExitCode(), hub.Controller.Log(); code == 0 || !strings.Contains(log, "Failed to process auto approval ARN pattern") {
		t.Errorf("the controller has ended with %d", code)
	}
}

// TestOCMWhoeverLeavesOutTheARNIsAcceptedWithoutAsking shows why no pattern of ARNs may be
// set together with Open Cluster Management's own automatic acceptance.
func TestOCMWhoeverLeavesOutTheARNIsAcceptedWithoutAsking(t *testing.T) {
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub}})
	hub := ocm.StartHub(t, cluster, ocm.HubOptions{
		Drivers: []string{"awsirsa"}, ARN: hubARN, Environment: awsEnvironment,
		Flags: []string{"--auto-approved-arn-patterns=arn:aws:eks:us-east-1:222222222222:cluster/.*", "--feature-gates=ManagedClusterAutoApproval=true"},
	})
	// The hub looks at one cluster after another: once the last is accepted, it has looked
	// at the others too.
	clusters := []struct {
		name        string
		annotations map[string]string
		accepted    bool
	}{
		{"of-another-account", map[string]string{arnAnnotation: "arn:aws:eks:us-east-1:999999999999:cluster/spoke-1", suffixAnnotation: suffixA}, false},
		{"with-an-empty-arn", map[string]string{arnAnnotation: "", suffixAnnotation: suffixB}, false},
		{"with-a-suffix-alone", map[string]string{suffixAnnotation: suffixB}, true},
		{"with-neither", nil, true},
	}
	stranger := hub.ClientFor(hub.Bootstrap)
	for _, cluster := range clusters {
		made := ocm.New(ocm.ManagedCluster, "", cluster.name)
		made.SetAnnotations(cluster.annotations)
		testkit.Create(t, stranger, made)
	}
	awaitCondition(hub, "with-neither", "HubAcceptedManagedCluster", "True")
	for _, cluster := range clusters {
		got := ocm.New(ocm.ManagedCluster, "", cluster.name)
		must.Do(t, hub.Get(t.Context(), client.ObjectKeyFromObject(got), got))
		if accepted, _, _ := unstructured.NestedBool(got.Object, "spec", "hubAcceptsClient"); accepted != cluster.accepted {
			t.Errorf("a cluster %s: accepted is %t, want %t", cluster.name, accepted, cluster.accepted)
		}
	}
}
